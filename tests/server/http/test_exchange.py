"""A request that came whole and an answer that leaves whole are what they were by uvicorn's way."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest

from trunkline.server.call import DEFAULT_HEADERS, JsonReply
from trunkline.server.http.answer import CYCLE
from trunkline.server.http.exchange import Exchange, is_whole


class Wire:
    """Notes what is written."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.written += b"closed"

    def is_closing(self) -> bool:
        return self.written.endswith(b"closed")


def exchange_on(wire: Wire, *, method: str = "POST", keep_alive: bool = True, is_whole: bool = True) -> Exchange:
    flow: Any = SimpleNamespace(write_paused=False, read_paused=False)
    line: Any = wire
    scope: Any = {"type": "http", "method": method, "extensions": {}}
    exchange = Exchange(scope, line, flow, asyncio.get_running_loop(), keep_alive=keep_alive, expects_continue=False,
                        on_response=lambda: None)
    exchange.scope["extensions"][CYCLE] = ref(exchange)  # type: ignore[assignment]  # ASGI leaves open what is in there
    exchange.more_body = not is_whole
    return exchange


async def answered(answer: JsonReply, *, is_direct: bool, **how: Any) -> bytes:
    wire = Wire()
    exchange = exchange_on(wire, **how)
    scope = dict(exchange.scope) if is_direct else {**exchange.scope, "extensions": {}}
    await answer(scope, exchange.receive, exchange.send)  # type: ignore[arg-type]  # uvicorn's types for the same messages
    assert exchange.response_complete
    await asyncio.sleep(0)  # a head without a body is held until the turn is over
    return wire.written


@pytest.mark.parametrize("how", [{}, {"method": "HEAD"}, {"keep_alive": False}, {"is_whole": False}])
def test_an_answer_that_leaves_whole_has_the_bytes_of_one_that_does_not(how: dict[str, Any]) -> None:
    async def both(body: bytes, status: int) -> tuple[bytes, bytes]:
        return (await answered(JsonReply(body, status), is_direct=True, **how),
                await answered(JsonReply(body, status), is_direct=False, **how))

    for body, status in ((b"{}", 202), (b'{"a":"\xc3\xa4"}' * 5000, 200), (b"", 404)):
        direct, by_messages = asyncio.run(both(body, status))
        assert direct == by_messages and direct.startswith(b"HTTP/1.1 %d" % status)


def test_every_json_answer_has_the_headers_that_keep_a_browser_in_its_place() -> None:
    written = asyncio.run(answered(JsonReply(b"{}", 200), is_direct=True))
    assert all(f"\r\n{name}: {value}\r\n".encode() in written for name, value in DEFAULT_HEADERS)


def test_a_cookie_that_was_added_or_a_header_that_was_changed_is_sent() -> None:
    async def play() -> bytes:
        answer = JsonReply(b"{}", 200)
        answer.set_cookie("a", "b", max_age=1, path="/", secure=False)
        answer.raw_headers = [(name, b"private" if name == b"cache-control" else value) for name, value in answer.raw_headers]
        return await answered(answer, is_direct=True)

    written = asyncio.run(play())
    assert b"set-cookie: a=b" in written and b"cache-control: private\r\n" in written and b"no-store" not in written


def test_a_body_that_is_here_is_received_without_a_wait_and_then_only_the_end() -> None:
    async def play() -> list[Any]:
        exchange = exchange_on(Wire())
        exchange.body += b"whole"
        assert is_whole(dict(exchange.scope))
        first = exchange.receive()
        try:
            first.send(None)
        except StopIteration as returned:
            received = [returned.value]
        waiting = asyncio.ensure_future(exchange.receive())
        await asyncio.sleep(0)
        assert not waiting.done()
        exchange.disconnected = True
        exchange.message_event.set()
        return [*received, await waiting]

    assert asyncio.run(play()) == [{"type": "http.request", "body": b"whole", "more_body": False}, {"type": "http.disconnect"}]


def test_a_body_in_pieces_is_received_as_it_comes() -> None:
    async def play() -> list[Any]:
        exchange = exchange_on(Wire(), is_whole=False)
        assert not is_whole(dict(exchange.scope))
        received = []
        for piece, is_more in ((b"one", True), (b"two", True), (b"", False)):
            waiting = asyncio.ensure_future(exchange.receive())
            await asyncio.sleep(0)
            exchange.body += piece
            exchange.more_body = is_more
            exchange.message_event.set()
            received.append(await waiting)
        return received

    assert [(each["body"], each["more_body"]) for each in asyncio.run(play())] == [(b"one", True), (b"two", True), (b"", False)]


def test_who_gave_up_waiting_for_a_body_may_ask_again() -> None:
    async def play() -> Any:
        exchange = exchange_on(Wire(), is_whole=False)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await exchange.receive()
        exchange.more_body = False
        exchange.message_event.set()
        return await exchange.receive()

    assert asyncio.run(play()) == {"type": "http.request", "body": b"", "more_body": False}
