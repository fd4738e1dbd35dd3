"""Connections to one hub: kept, dropped, repeated only when safe."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec
import pytest

from tests.aio import run
from tests.client.scripted import Exchange, served
from tests.tooling.rows import every_row
from trunkline.client import Client
from trunkline.client.http import Endpoint, HttpRequest, HttpResponse, Pool, error_of, is_loopback
from trunkline.errors import (
    AgentError,
    Forbidden,
    HubRestarted,
    Invalid,
    LocalError,
    NotFound,
    TrunklineError,
    Unauthorized,
    Unavailable,
)


async def _ok(exchange: Exchange) -> None:
    await exchange.json(200, {"path": exchange.path, "auth": exchange.headers.get("authorization")})


def test_requests_share_one_connection_and_carry_the_token() -> None:
    async def scene() -> None:
        async with served(_ok) as hub:
            pool = Pool(Endpoint(hub.url, "secret"))
            for _ in range(3):
                response = await pool.ask(HttpRequest("GET", "/x"), timeout_s=60)
                assert response.body == b'{"path":"/x","auth":"Bearer secret"}'
            assert hub.connections == 1
            await pool.close()

    run(scene())


def test_requests_at_the_same_time_do_not_mix() -> None:
    async def scene() -> None:
        async with served(_ok) as hub:
            pool = Pool(Endpoint(hub.url))
            answers = await asyncio.gather(*(pool.ask(HttpRequest("GET", f"/{number}"), timeout_s=60) for number in range(20)))
            assert [answer.body.startswith(b'{"path":"/%d"' % number) for number, answer in enumerate(answers)] == [True] * 20
            await pool.close()

    run(scene())


def _hangs_up_on_second(seen: list[str]) -> object:
    async def handler(exchange: Exchange) -> None:
        seen.append(exchange.method)
        if len(seen) == 2:
            exchange.cut()
        else:
            await exchange.json(200, {})

    return handler


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        (HttpRequest("GET", "/"), 3),
        (HttpRequest("POST", "/", b"{}", (("Idempotency-Key", "k"),)), 3),
    ],
)
def test_a_kept_connection_that_breaks_is_replaced_when_repeating_is_safe(request_: HttpRequest, sent: int) -> None:
    async def scene() -> None:
        seen: list[str] = []
        async with served(_hangs_up_on_second(seen)) as hub:  # type: ignore[arg-type]
            pool = Pool(Endpoint(hub.url))
            await pool.ask(HttpRequest("GET", "/"), timeout_s=60)
            assert (await pool.ask(request_, timeout_s=60)).status == 200
            assert len(seen) == sent
            await pool.close()

    run(scene())


def test_a_plain_post_is_never_sent_twice() -> None:
    async def scene() -> None:
        seen: list[str] = []
        async with served(_hangs_up_on_second(seen)) as hub:  # type: ignore[arg-type]
            pool = Pool(Endpoint(hub.url))
            await pool.ask(HttpRequest("GET", "/"), timeout_s=60)
            with pytest.raises(Unavailable, match="hung up"):
                await pool.ask(HttpRequest("POST", "/", b"{}"), timeout_s=60)
            assert len(seen) == 2
            await pool.close()

    run(scene())


def test_nobody_listening_is_unavailable_and_names_the_address() -> None:
    async def scene() -> None:
        async with served(_ok) as hub:
            url = hub.url
        with pytest.raises(Unavailable, match=url):
            await Pool(Endpoint(url)).ask(HttpRequest("GET", "/"), timeout_s=60)

    run(scene())


def test_an_answer_that_does_not_come_is_unavailable_after_the_timeout() -> None:
    async def never(exchange: Exchange) -> None:
        await asyncio.Event().wait()

    async def scene() -> None:
        async with served(never) as hub:
            with pytest.raises(Unavailable, match=r"did not answer GET /slow within 0\.05 s"):
                await Pool(Endpoint(hub.url)).ask(HttpRequest("GET", "/slow"), timeout_s=0.05)

    run(scene())


def test_a_body_that_is_cut_short_is_unavailable() -> None:
    async def half(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.frame(b"half")
        exchange.cut()

    async def scene() -> None:
        async with served(half) as hub:
            with pytest.raises(Unavailable, match="mid-answer"):
                await Pool(Endpoint(hub.url)).ask(HttpRequest("GET", "/"), timeout_s=60)

    run(scene())


@pytest.mark.parametrize("url", ["", "127.0.0.1:7420", "ftp://host", "http://"])
def test_an_address_that_is_none_is_the_callers_mistake(url: str) -> None:
    with pytest.raises(Invalid, match="not the address of a hub"):
        Endpoint(url).parts()


@every_row(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False),
     ("192.168.1.2", False), ("example.org", False), ("localhost.example.org", False), ("", False)],
)
def test_only_addresses_that_cannot_leave_this_machine_are_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected



@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_is_too_long_is_unavailable(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(exchange: Exchange) -> None:
        await exchange.begin_stream(status)
        with suppress(OSError):
            while True:
                await exchange.frame(b"x" * 10_000)

    async def scene() -> None:
        async with served(endless) as hub:
            pool = Pool(Endpoint(hub.url))
            with pytest.raises(Unavailable, match="answered with more than 97 KiB"):
                await pool.ask(HttpRequest("GET", "/x"), timeout_s=60, most=100_000 if status == 200 else 1 << 30)
            await pool.close()

    monkeypatch.setattr("trunkline.client.http.ERROR_MOST", 100_000)
    run(scene())


@every_row("body", [b"<html>a proxy</html>", b"\xff", b"[" * 100_000, b'{"id":1e400}', b""])
def test_an_answer_that_is_not_the_hubs_is_told_as_such(body: bytes) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(200, body)

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            with pytest.raises(Unavailable, match="cannot be read"):
                await client.session("s1")

    run(scene())


@every_row(
    ("status", "body", "expected"),
    [
        (400, b'{"code":"invalid","message":"m","recoverable":true}', Invalid),
        (502, b'{"code":"agent_error","message":"m","recoverable":true,"agentCode":"-32000"}', AgentError),
        (503, b'{"code":"hub_restarted","message":"m","recoverable":true}', HubRestarted),
        (418, b'{"code":"teapot","message":"m"}', LocalError),
        (500, b'{"code":"teapot","message":"m"}', TrunklineError),
        (401, b"<html>", Unauthorized),
        (403, b"", Forbidden),
        (404, b"\xff\xfe", NotFound),
        (502, b"Bad Gateway", Unavailable),
        (429, b"[]", LocalError),
    ],
)
def test_an_error_answer_is_the_error_that_the_hub_raised(status: int, body: bytes, expected: type[TrunklineError]) -> None:
    assert type(error_of(HttpResponse(status, {}, body))) is expected


def test_an_error_keeps_message_details_and_the_agents_code() -> None:
    body = b'{"code":"agent_error","message":"why","recoverable":true,"details":{"a":1},"agentCode":"-32000"}'
    error = error_of(HttpResponse(502, {}, body))
    assert (error.message, error.details, error.agent_code) == ("why", {"a": 1}, "-32000")


def test_a_code_of_tomorrow_stays_readable() -> None:
    error = error_of(HttpResponse(409, {}, b'{"code":"teapot","message":"short and stout"}'))
    assert (error.message, error.details) == ("short and stout", {"code": "teapot"})


def test_every_error_of_the_tree_survives_the_way_over_http() -> None:
    def leaves(kind: type[TrunklineError]) -> list[type[TrunklineError]]:
        return [leaf for child in kind.__subclasses__() for leaf in leaves(child)] or [kind]

    for kind in leaves(TrunklineError):
        body = msgspec.json.encode({"code": kind.code, "message": "m", "recoverable": kind.recoverable})
        assert type(error_of(HttpResponse(kind.http_status, {}, body))) is kind
