"""A stream of messages over HTTP: numbers, room, going back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import loop_turns, run
from tests.server.world import Stream
from tests.tooling.examples import examples
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


def test_a_reader_that_has_all_is_written_to_on_the_spot_and_no_more_while_it_stalls() -> None:
    async def check() -> None:
        stream, reader = MessageStream(), Stream()
        pumping = asyncio.create_task(stream.pump(reader.outlet, stream.claim()))
        await loop_turns()
        stream.put_now([b"1", b"2"])
        assert reader.got == b"id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n" and reader.writes == 1
        reader.flows.clear()
        stream.put_now([b"3"])
        await loop_turns()
        assert reader.ids() == [1, 2], "the reader is asked first"
        await stream.put([b"4"])
        reader.flows.set()
        await loop_turns()
        stream.put_now([b"5"])
        assert reader.ids() == [1, 2, 3, 4, 5] and reader.writes == 2
        stream.close()
        await pumping

    run(check())


def test_there_is_room_until_too_much_is_unread_or_nobody_will_read() -> None:
    stream, closed = MessageStream(), MessageStream()
    stream.put_now([b"x" * UNREAD_BYTES])
    assert stream.can_take
    stream.put_now([b"x"])
    closed.close()
    assert (stream.can_take, closed.can_take) == (False, False)


def test_who_took_over_is_written_to_and_the_reader_before_is_not() -> None:
    async def check() -> None:
        stream, old, new = MessageStream(), Stream(), Stream()
        pumping = asyncio.create_task(stream.pump(old.outlet, stream.claim()))
        await loop_turns()
        stream.put_now([b"1"])
        claim = stream.claim()
        stream.put_now([b"2"])
        assert old.ids() == [1]
        taking_over = asyncio.create_task(stream.pump(new.outlet, claim))
        await loop_turns()
        stream.put_now([b"3"])
        assert new.ids() == [2, 3] and old.ids() == [1]
        stream.close()
        await asyncio.gather(pumping, taking_over)

    run(check())


@settings(max_examples=examples(40), deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(["put", "turn", "stall", "flow", "claim"]), st.integers(1, 5)), max_size=40))
def test_whatever_happens_each_message_comes_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    async def check() -> None:
        stream, reader, count = MessageStream(), Stream(), 0
        pumps = [asyncio.create_task(stream.pump(reader.outlet, stream.claim()))]
        for name, number in steps:
            match name:
                case "put":
                    stream.put_now([b"%d" % (count + each) for each in range(1, number + 1)])
                    count += number
                case "turn":
                    for _ in range(number):
                        await asyncio.sleep(0)
                case "stall":
                    reader.flows.clear()
                case "flow":
                    reader.flows.set()
                case "claim":  # it comes back, having read all that was sent
                    reader.flows.set()
                    await loop_turns()
                    pumps.append(asyncio.create_task(stream.pump(reader.outlet, stream.claim())))
        reader.flows.set()
        await loop_turns()
        assert reader.ids() == list(range(1, count + 1))
        stream.close()
        await asyncio.gather(*pumps)

    run(check())
