"""An answer's head leaves with the first piece of its body, or with the loop's turn."""

from __future__ import annotations

import asyncio
from typing import cast

from trunkline.server.http.answer import AnswerTransport


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


def answer() -> tuple[Wire, AnswerTransport]:
    wire = Wire()
    return wire, AnswerTransport(cast(asyncio.Transport, wire), asyncio.get_running_loop())


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
