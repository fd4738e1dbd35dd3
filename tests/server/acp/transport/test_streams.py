"""A stream of messages over HTTP: numbers, room, going back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.aio import run
from trunkline.errors import Expired
from trunkline.server.acp.transport.streams import KEPT_BYTES, UNREAD_BYTES, MessageStream
from trunkline.server.sse import Outlet
from trunkline.server.websocket import PeerGone


class Reader(Outlet):
    """Takes what it is given."""

    def __init__(self) -> None:
        super().__init__(self._take, lambda: 0.0)
        self.frames = b""
        self.came = asyncio.Event()

    async def _take(self, message: Any) -> None:
        self.frames += message["body"]
        self.came.set()

    async def until(self, text: bytes) -> None:
        """The text has come."""
        while text not in self.frames:
            self.came.clear()
            await self.came.wait()


def test_messages_are_numbered_from_one_and_a_carriage_return_ends_no_line() -> None:
    async def check() -> None:
        stream, reader = MessageStream(), Reader()
        await stream.put([b'{"a":\r1}', b"{}"])
        pumping = asyncio.create_task(stream.pump(reader, stream.claim()))
        await reader.until(b"id: 2")
        assert reader.frames == b'id: 1\ndata: {"a": 1}\n\nid: 2\ndata: {}\n\n'
        stream.close()
        await pumping

    run(check())


def test_who_writes_waits_while_too_much_is_unread() -> None:
    async def check() -> None:
        stream, reader = MessageStream(), Reader()
        writing = asyncio.create_task(stream.put([b"x" * UNREAD_BYTES, b"y" * 10]))
        await asyncio.sleep(0)
        assert not writing.done()
        pumping = asyncio.create_task(stream.pump(reader, stream.claim()))
        await writing
        stream.close()
        await pumping
        with pytest.raises(PeerGone):
            await stream.put([b"z"])

    run(check())


def test_who_takes_over_gets_all_from_there_on_although_the_reader_before_seems_to_be_there() -> None:
    async def check() -> None:
        stream, old, new = MessageStream(), Reader(), Reader()
        pumping = asyncio.create_task(stream.pump(old, stream.claim()))
        await stream.put([b"1", b"2", b"3"])
        await old.until(b"id: 3\n")
        claim = stream.claim(1)
        await stream.put([b"4"])
        await pumping  # it ends at once, and without what came after the claim
        assert old.frames.count(b"id:") == 3
        taking_over = asyncio.create_task(stream.pump(new, claim))
        await new.until(b"id: 4\n")
        assert new.frames == b"".join(b"id: %d\ndata: %d\n\n" % (number, number) for number in (2, 3, 4))
        stream.close()
        await taking_over

    run(check())


def test_a_reader_goes_back_as_far_as_is_kept() -> None:
    async def check() -> None:
        stream, reader = MessageStream(), Reader()
        pumping = asyncio.create_task(stream.pump(reader, stream.claim()))
        for _ in range(20):
            await stream.put([b"x" * (KEPT_BYTES // 10)])
        await reader.until(b"id: 20\n")
        with pytest.raises(Expired):
            stream.claim(5)
        with pytest.raises(Expired):
            stream.claim(21)
        again = Reader()
        second = asyncio.create_task(stream.pump(again, stream.claim(18)))
        await again.until(b"id: 20\n")
        assert again.frames.startswith(b"id: 19\n")
        await pumping
        stream.close()
        await second

    run(check())
