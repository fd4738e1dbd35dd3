"""From request to reply: paths, methods, bodies, errors, headers."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import STREAM, site
from tests.tooling.rows import every_row
from trunkline import errors
from trunkline.server.app import error_reply
from trunkline.server.http.messages import Request
from trunkline.server.routes import ROUTES


@pytest.mark.parametrize("path", ["/nothing", "/sessions/", "/sessions/a/b/c", "//", "/Sessions", "/sessions/x/files/none"])
def test_an_unknown_path_answers_404_as_json(tmp_path: Path, path: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask("GET", path, token=None)
            assert (answer.status, answer.json()["code"]) == (404, "not_found")

    run(check())


@pytest.mark.parametrize(("method", "path", "allow"), [
    ("DELETE", "/sessions", "GET, HEAD, OPTIONS, POST"), ("POST", "/healthz", "GET, HEAD, OPTIONS"),
    ("PUT", "/sessions/x", "DELETE, GET, HEAD, OPTIONS, PATCH"), ("GET", "/auth/codes", "OPTIONS, POST"),
    ("BREW", "/agents", "GET, HEAD, OPTIONS"),
])
def test_a_wrong_method_answers_405_and_says_which_are_right(tmp_path: Path, method: str, path: str, allow: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answer = await hub.ask(method, path)
            assert (answer.status, answer.json()["code"], answer.header("allow")) == (405, "method_not_allowed", allow)

    run(check())


def test_options_lists_the_methods_and_opens_nothing_to_other_origins(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for route in ROUTES:
                answer = await hub.ask("OPTIONS", route.path, token=None)
                assert answer.status == 204
                assert route.method in (answer.header("allow") or "")
                assert answer.header("access-control-allow-origin") is None

    run(check())


@pytest.mark.parametrize("path", ["/healthz", "/", "/sessions", "/openapi.json"])
def test_head_answers_as_get_does(tmp_path: Path, path: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            head, get = await hub.ask("HEAD", path), await hub.ask("GET", path)
            assert head.status == get.status == 200
            assert head.header("content-type") == get.header("content-type")

    run(check())


def test_head_on_a_stream_ends_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("HEAD", f"/sessions/{session.id}/packets")
            assert (answer.status, answer.body) == (200, b"")
            assert answer.header("content-type") == "text/event-stream; charset=utf-8"

    run(check())


def test_an_unknown_session_answers_404_everywhere_and_as_a_packet_where_a_stream_was_asked_for(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for route in ROUTES:
                if not route.path.startswith("/sessions/{id}"):
                    continue
                path = route.path.replace("{id}", "none")
                answer = await hub.ask(route.method, path + "?path=x&q=x", json_body={"content": "hello"})
                assert answer.status == 404, (route.method, path)
                if not path.endswith("/packets"):
                    body = answer.json()
                    assert (body["code"], body["recoverable"]) == ("session_not_found", True)
                    assert set(body) <= {"code", "message", "recoverable", "details", "agentCode"}
                as_stream = await hub.ask(route.method, path + "?path=x&q=x", json_body={"content": "hello"}, headers=STREAM)
                packet = as_stream.json()
                assert as_stream.status == 404
                assert (packet["type"], packet["message"]) == ("error", "Session not found")
                assert (packet["code"], packet["details"]) == (None, {"sessionId": "none", "code": "session_not_found"})
                assert packet["timestamp"]

    run(check())


BAD_BODIES: list[tuple[bytes, str]] = [
    (b"", "body"), (b"{", "body"), (b"[]", "object"), (b'{"content": 3}', "$.content"), (b"{}", "content"),
    (b'{"content": "x", "whenBusy": "later"}', "$.whenBusy"), (b'{"content": "x", "contents": 1}', "contents"),
    (b'{"content": [{"type": "text"}]}', "$.content[0]"), (b'{"content": [{"type": "video"}]}', "$.content[0].type"),
    (b'{"content": ""}', "content"), (b'{"content": []}', "content"), (b'{"content": "\xff"}', "body"),
    (b'{"content": "\\ud800"}', "body: not valid JSON text: \\ud800 at byte 13 is a lone surrogate"),
    (b'{"content": "%b\\ud800"}' % (b"x" * 70_000), "body: Input data was truncated"),  # too far inside to be looked for
    (b'{"content": ' + b"[" * 100_000, "body"),
]


@pytest.mark.parametrize(("body", "names"), BAD_BODIES)
def test_a_body_that_cannot_be_used_is_refused_by_naming_what_is_wrong(tmp_path: Path, body: bytes, names: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/send-message", body=body)
            assert (answer.status, answer.json()["code"]) == (400, "invalid")
            assert names in answer.json()["message"]

    run(check())


def _every(kind: type[errors.TrunklineError]) -> list[type[errors.TrunklineError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in _every(child))]


@every_row("kind", _every(errors.TrunklineError))
def test_every_error_becomes_a_response_with_its_status_and_code(kind: type[errors.TrunklineError]) -> None:
    request = Request({"type": "http", "method": "GET", "path": "/x", "headers": [(b"host", b"h")], "scheme": "http",
                       "query_string": b"", "server": ("h", 80), "root_path": ""})
    response = error_reply(kind("what went wrong", details={"allow": "GET"}, agent_code="-32000"), request)
    assert response.status_code == kind.http_status
    assert json.loads(bytes(response.body)) == {
        "code": kind.code, "message": "what went wrong", "recoverable": kind.recoverable, "details": {"allow": "GET"},
        "agentCode": "-32000"}


def test_what_nobody_foresaw_is_an_internal_error_that_tells_only_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken() -> Any:
        raise RuntimeError("a secret detail")

    async def check() -> None:
        async with site(tmp_path) as hub:
            monkeypatch.setattr(hub.hub, "agent_infos", broken)
            with caplog.at_level(logging.ERROR):
                answer = await hub.ask("GET", "/agents")
            assert (answer.status, answer.json()["code"]) == (500, "internal")
            assert "secret" not in answer.body.decode()
            assert "a secret detail" in caplog.text

    run(check())


def test_what_fails_while_the_hub_stops_is_told_as_that_and_not_logged(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def put_away() -> None:
        raise ValueError("Cannot operate on a closed database.")

    async def check() -> None:
        async with site(tmp_path) as hub:
            monkeypatch.setattr(hub.hub, "agent_infos", put_away)
            monkeypatch.setattr(hub.hub._sessions, "closing", True)
            answer, unknown = await hub.ask("GET", "/agents"), await hub.ask("GET", "/nothing")
            assert (answer.status, answer.json()["code"], unknown.status) == (503, "hub_stopping", 404)
            assert caplog.text == ""

    run(check())


def test_every_reply_tells_browsers_to_do_nothing_clever_with_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for path in ("/", "/assets/docs.css", "/healthz", "/sessions", "/nothing", "/docs", "/sessions/none/packets"):
                answer = await hub.ask("GET", path)
                assert answer.header("x-content-type-options") == "nosniff", path
                assert answer.header("referrer-policy") == "no-referrer", path
                assert "default-src 'none'" in (answer.header("content-security-policy") or ""), path
                assert "frame-ancestors 'none'" in (answer.header("content-security-policy") or ""), path
                assert answer.header("server") is None
            assert (await hub.ask("GET", "/sessions")).header("cache-control") == "no-store"

    run(check())


def test_the_app_knows_how_long_nobody_has_asked(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            assert hub.app.clients == 0
            reader = hub.open("GET", f"/sessions/{session.id}/packets")
            await reader.start()
            assert (hub.app.clients, hub.app.idle_s()) == (1, 0.0)
            await reader.leave()
            assert hub.app.clients == 0
            assert hub.app.idle_s() >= 0.0

    run(check())
