"""How a request is read: what it accepts, where a stream begins, and a body as it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.site import site


@pytest.mark.parametrize("accept", [
    "text/event-stream", "TEXT/EVENT-STREAM", "application/json, text/event-stream;q=0.9", "text/event-stream; charset=utf-8",
])
def test_a_stream_is_asked_for_by_accept(tmp_path: Path, accept: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/sessions/none", headers={"accept": accept})
            assert answer.json()["type"] == "error"

    run(check())


@pytest.mark.parametrize("accept", [
    None, "*/*", "application/json", "text/event-stream;q=0", "text/event-stream;q=0.0", "text/*",
])
def test_and_not_by_anything_else(tmp_path: Path, accept: str | None) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", "/sessions/none", headers={"accept": accept})
            assert answer.json()["code"] == "session_not_found"

    run(check())


LONE_SURROGATES = [r"\ud83d", r"abc \uDBFF", r"\ud83d and more text", r"\udc00", r"\ud83d\u0041", r"\ud83d\ud83d\ude00",
                   r"\\\ud800", r"\ud83d\ude00\ude00"]


@pytest.mark.parametrize("text", LONE_SURROGATES)
def test_half_a_character_in_a_body_is_told_as_such(tmp_path: Path, text: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", "/sessions", body=b'{"agent": "%b"}' % text.encode())
            assert (answer.status, answer.json()["code"]) == (400, "invalid")
            assert answer.json()["message"].startswith("body: not valid JSON text: \\u")
            assert "lone surrogate" in answer.json()["message"]

    run(check())


@pytest.mark.parametrize("body", [
    b'{"agent": "', rb'{"agent": "\ud83d\ude00", ', rb'{"agent": "\\ud83d"', rb'{"agent": "\\\\ud800"',
])
def test_a_body_that_breaks_off_is_not_said_to_have_half_a_character(tmp_path: Path, body: bytes) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("POST", "/sessions", body=body)
            assert answer.json()["message"] == "body: Input data was truncated"

    run(check())


def test_a_body_announced_as_too_large_is_refused_before_any_of_it_is_read(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            exchange = hub.open("POST", f"/sessions/{session.id}/send-message", body=[b"{"] * 3,
                                headers={"content-length": str((32 << 20) + 1)})
            answer = await exchange.answer()
            assert (answer.status, answer.json()["code"]) == (413, "too_large")
            assert answer.json()["details"] == {"limit": 32 << 20}
            assert answer.header("connection") == "close"
            assert exchange.taken == 0

    run(check())


def test_a_body_that_turns_out_too_large_is_refused_while_it_comes(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            exchange = hub.open("POST", f"/sessions/{session.id}/send-message", body=[b"x" * (8 << 20)] * 10)
            assert (await exchange.answer()).status == 413
            assert exchange.taken == 5

    run(check())


def test_a_body_of_just_under_the_limit_is_taken(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, json_limit=1000) as hub:
            session = await hub.session()
            body = b'{"title": "new"}'.ljust(1000)
            assert (await hub.ask("PATCH", f"/sessions/{session.id}", body=body)).status == 200
            assert (await hub.ask("PATCH", f"/sessions/{session.id}", body=body + b" ")).status == 413

    run(check())


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_failure(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            exchange = hub.open("POST", "/sessions", body=[])
            await exchange.leave()
            assert (await exchange.answer()).status == 0

    run(check())
