"""An answer's head leaves with the first piece of its body, or with the loop's turn."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from trunkline.server.http.answer import AnswerTransport, OpenBody


class Wire:
    """Notes each write, and the close."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def close(self) -> None:
        self.writes.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.writes


async def after_a_turn() -> None:
    passed = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(passed.set_result, None)
    await passed


def cycle_on(wire: Wire) -> Any:
    """As much of uvicorn's cycle as is looked at here, with its answer begun."""
    flow = SimpleNamespace(write_paused=False)
    return SimpleNamespace(transport=wire, flow=flow, disconnected=False, response_complete=False, chunked_encoding=True)


def answer() -> tuple[Wire, AnswerTransport]:
    wire = Wire()
    return wire, AnswerTransport(cycle_on(wire), asyncio.get_running_loop())


def test_head_and_body_are_one_write_and_what_follows_is_written_at_once() -> None:
    async def play() -> list[bytes]:
        wire, transport = answer()
        transport.write(b"head ")
        transport.write(b"body")
        transport.write(b"more")
        await after_a_turn()
        return wire.writes

    assert asyncio.run(play()) == [b"head body", b"more"]


def test_a_head_that_nothing_follows_leaves_when_the_turn_is_over() -> None:
    async def play() -> list[bytes]:
        wire, transport = answer()
        transport.write(b"head")
        await after_a_turn()
        transport.write(b"body")
        return wire.writes

    assert asyncio.run(play()) == [b"head", b"body"]


def test_closing_sends_what_is_held_first() -> None:
    async def play() -> list[bytes]:
        wire, transport = answer()
        transport.write(b"head")
        transport.close()
        assert transport.is_closing()
        await after_a_turn()
        return wire.writes

    assert asyncio.run(play()) == [b"head", b"closed"]


def test_when_the_head_is_out_the_answer_has_its_own_transport_again() -> None:
    async def play() -> None:
        wire = Wire()
        cycle = cycle_on(wire)
        cycle.transport = AnswerTransport(cycle, asyncio.get_running_loop())
        cycle.transport.write(b"head ")
        assert OpenBody(cycle).write(b"0123456789abcdef")
        assert cycle.transport is wire and OpenBody(cycle).write(b"x")
        assert wire.writes == [b"head 10\r\n0123456789abcdef\r\n", b"1\r\nx\r\n"]

    asyncio.run(play())


def test_a_body_that_its_client_does_not_take_or_that_is_over_is_not_written_to() -> None:
    wire = Wire()
    for state in ({"disconnected": True}, {"response_complete": True}, {"chunked_encoding": False},
                  {"flow": SimpleNamespace(write_paused=True)}):
        cycle = cycle_on(wire)
        vars(cycle).update(state)
        assert not OpenBody(cycle).write(b"x")
    assert wire.writes == []
