"""A reader at the end of a feed: written to on the spot, a cursor again when it stalls."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import loop_turns, run
from tests.journal.samples import entries
from tests.server.world import Stream as WorldStream
from tests.server.world import World
from tests.tooling.examples import examples
from trunkline.dialects.context.filters import parse_types
from trunkline.errors import StorageError
from trunkline.feeds.hub import HubGroup
from trunkline.feeds.session import Feed, TailBudget, Write
from trunkline.journal.base import Entry
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.context.events import event_frames, follow_hub, follow_session
from trunkline.server.live import LiveHubReader, follow_live
from trunkline.server.packets.frames import packet_frames
from trunkline.server.packets.turns import relay_turn
from trunkline.server.sse import Outlet, follow

FEEDS = ("session", "hub", "call_time")
"""Who asks how late it is."""


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers are called however slow the machine is; tests about that have a clock of their own."""
    for name in FEEDS:
        monkeypatch.setattr(f"trunkline.feeds.{name}.perf_counter", lambda: 0.0)


class Body:
    """A connection that can be told to take no more."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.is_full = False

    def write(self, piece: bytes) -> bool:
        if not self.is_full:
            self.taken.append(piece)
        return not self.is_full


def numbers(found: Iterator[Entry], after: int) -> Write:
    """An encoder that writes each entry's number."""
    seqs = [entry.seq for entry in found]
    return b"".join(b"%d " % seq for seq in seqs), seqs[-1] if seqs else after


def commit(feed: Feed, first: int, last: int) -> None:
    found = entries(first, last)
    feed.committed(found, sum(entry.size() for entry in found))


class Stream:
    """A stream that follows a feed: its direct way out, and what went through ASGI."""

    def __init__(self) -> None:
        self.feed = Feed("s", MemoryJournal(), 0, TailBudget())
        self.body = Body()
        self.sent: list[bytes] = []
        self.free = asyncio.Event()
        self.free.set()
        self.outlet = Outlet(self._send, asyncio.get_running_loop().time, self.body)  # type: ignore[arg-type]
        self.task = asyncio.create_task(follow(self.feed, 0, numbers, self.outlet))

    async def _send(self, message: object) -> None:
        await self.free.wait()
        assert isinstance(message, dict)
        self.sent.append(message["body"])

    async def settled(self) -> None:
        """The stream stands at the end, or in a write."""
        for _ in range(5):
            await asyncio.sleep(0)


def test_what_is_committed_is_on_its_way_when_the_commit_returns() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 2)
        assert stream.body.taken == [b"1 2 "] and stream.outlet.position == 2
        commit(stream.feed, 3, 3)
        assert stream.body.taken == [b"1 2 ", b"3 "] and stream.sent == []
        stream.feed.close()
        await stream.task

    run(scenario())


def test_a_reader_that_takes_no_more_goes_on_as_a_cursor_and_comes_back() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 1)
        stream.body.is_full = True
        stream.free.clear()
        commit(stream.feed, 2, 2)
        await stream.settled()
        commit(stream.feed, 3, 3)
        assert stream.body.taken == [b"1 "] and stream.sent == []
        stream.body.is_full = False
        stream.free.set()
        await stream.settled()
        commit(stream.feed, 4, 4)
        assert stream.sent == [b"2 ", b"3 "] and stream.body.taken == [b"1 ", b"4 "]
        stream.feed.close()
        await stream.task

    run(scenario())


def test_a_reader_that_fails_fails_alone() -> None:
    def broken(found: Iterator[Entry], after: int) -> Write:
        raise StorageError("the entry cannot be read")

    async def scenario() -> None:
        stream = Stream()
        failing = asyncio.create_task(follow_live(stream.feed, broken, Outlet(stream._send, lambda: 0.0), shares=False))
        await stream.settled()
        commit(stream.feed, 1, 1)
        with pytest.raises(StorageError):
            await failing
        assert stream.body.taken == [b"1 "] and stream.feed.waiting == 1
        stream.feed.close()
        await stream.task

    run(scenario())


def test_who_leaves_is_called_no_more() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        assert stream.feed.waiting == 1
        stream.task.cancel()
        await stream.settled()
        assert stream.feed.waiting == 0
        commit(stream.feed, 1, 1)
        assert stream.body.taken == []

    run(scenario())


def test_the_end_of_the_feed_ends_the_stream_behind_what_it_brought() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 3)
        stream.feed.close()
        await asyncio.wait_for(stream.task, 5)
        assert stream.body.taken == [b"1 2 3 "]

    run(scenario())


def test_a_stream_stops_before_frames_that_somebody_has_to_look_at() -> None:
    async def scenario() -> None:
        stream, feed = WorldStream(), World().feeds["a"]
        following = asyncio.create_task(
            follow_live(feed, numbers, stream.outlet, shares=True, stops_at=lambda frames: b"3" in frames))
        await loop_turns()
        commit(feed, 1, 2)
        assert not following.done() and stream.got == b"1 2 "
        commit(feed, 3, 3)
        await following
        assert stream.got == b"1 2 " and stream.outlet.position == 2

    run(scenario())


def test_a_reader_of_the_hub_knows_where_to_go_on_whatever_ended_it() -> None:
    async def scenario() -> None:
        world, taken = World(), []

        def write(group: HubGroup) -> bool:
            taken.append(group.last_pos)
            return group.last_pos < 3

        reader = LiveHubReader(world.everything, write, ("a",))
        world.commit("b")
        world.commit("a")
        world.commit("a", "b", count=2)
        world.commit("a")
        assert taken == [2, 6] and await reader.ended() == 2, "from before what it did not take"
        reader = LiveHubReader(world.everything, write, ("a",))
        world.commit("b")
        reader.stop()
        world.commit("a")
        assert taken == [2, 6] and await reader.ended() == 8, "what was for others is behind it"

    run(scenario())


class Slow:
    """A clock that goes on by a millisecond whenever somebody is written to."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now_s, self.written = 0.0, 0
        for name in FEEDS:
            patch.setattr(f"trunkline.feeds.{name}.perf_counter", lambda: self.now_s)

    def write(self) -> bool:
        self.now_s += 0.001
        self.written += 1
        return True


def test_a_commit_is_over_however_many_readers_stand_at_the_end_and_all_get_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        world, clock, streams = World(), Slow(monkeypatch), [WorldStream() for _ in range(60)]
        world.commit("a", "b")

        def slow_frames(found: Iterator[Entry], after: int) -> Write:
            clock.write()
            return event_frames(found, after)

        reading = [asyncio.create_task(follow(world.feeds[name], 1, slow_frames, stream.outlet, shares=False))
                   for name, stream in zip("ab" * 30, streams, strict=True)]
        await loop_turns()
        for round_ in (2, 3):
            clock.written = 0
            world.commit("a", "b")
            assert 10 <= clock.written <= 11, "of both sessions together: they are committed in one turn of the loop"
            await loop_turns()
            assert clock.written == 60 and all(stream.ids() == list(range(2, round_ + 1)) for stream in streams)
        world.close()
        await asyncio.gather(*reading)

    run(scenario())


def test_a_commit_is_over_however_many_follow_the_whole_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        world, clock = World(), Slow(monkeypatch)
        readers = [LiveHubReader(world.everything, lambda group: clock.write()) for _ in range(40)]
        with world.everything.held():
            world.commit("a")
            world.commit("b")
        assert clock.written == 10 and world.everything.waiting == 0, "the second finds no time left"
        assert [await reader.ended() for reader in readers] == [1] * 10 + [0] * 30
        await loop_turns()
        again = [LiveHubReader(world.everything, lambda group: clock.write()) for _ in range(5)]
        world.commit("a")
        assert clock.written == 15 and world.everything.waiting == len(again)

    run(scenario())


async def packets(world: World, stream: WorldStream) -> None:
    await follow(world.feeds["a"], 0, packet_frames, stream.outlet)


async def events(world: World, stream: WorldStream) -> None:
    await follow_session(world.feeds["a"], 0, parse_types(None), stream.outlet)


async def hub_events(world: World, stream: WorldStream) -> None:
    await follow_hub(world.everything, 0, parse_types(None), stream.outlet)


async def turn(world: World, stream: WorldStream) -> None:
    await relay_turn(world.feeds["a"], "t", 0, 0, stream.outlet)


STEPS = st.lists(st.one_of(
    st.tuples(st.just("commit"), st.sets(st.sampled_from("ab"), min_size=1).map(sorted), st.integers(1, 40)),
    st.tuples(st.just("turn"), st.just([]), st.integers(1, 6)),
    st.tuples(st.sampled_from(["stall", "flow", "forget", "held", "silent", "late"]), st.just([]), st.just(0))), max_size=40)


@pytest.mark.parametrize("face", [packets, events, hub_events, turn])
@settings(max_examples=examples(25), deadline=None)
@given(steps=STEPS)
def test_whatever_happens_each_entry_comes_once_and_in_order(
        face: Callable[[World, WorldStream], Coroutine[Any, Any, None]], steps: list[tuple[str, list[str], int]]) -> None:
    async def scenario(patch: pytest.MonkeyPatch) -> None:
        for name in ("trunkline.server.context.events.WRITE_BYTES", "trunkline.server.packets.frames.WRITE_BYTES"):
            patch.setattr(name, 3_000)
        world, stream = World(), WorldStream()
        silent = {1}
        world.begin_turn("a", "t")
        reading = asyncio.create_task(face(world, stream))
        for name, sessions, count in steps:
            match name:
                case "commit":
                    world.commit(*sessions, count=count)
                case "held":
                    with world.feeds["a"].held(), world.everything.held():
                        world.commit("a")
                        world.commit("b", "a")
                case "late":
                    with pytest.MonkeyPatch.context() as clock:
                        for feed in ("session", "hub"):
                            clock.setattr(f"trunkline.feeds.{feed}.perf_counter", lambda: math.inf)
                        world.commit("a", "b")
                case "silent":
                    world.begin_turn("a", "another")
                    silent.add(world.feeds["a"].last_seq)
                case "forget":
                    world.feeds["a"].forget_tail()
                    world.everything.forget_tail()
                case "turn":
                    for _ in range(count):
                        await asyncio.sleep(0)
                case "stall":
                    stream.flows.clear()
                case "flow":
                    stream.flows.set()
        stream.flows.set()
        last = world.everything.last_pos if face is hub_events else world.feeds["a"].last_seq
        while stream.outlet.position < last:
            await loop_turns()
        await loop_turns()
        assert stream.ids() == [number for number in range(1, last + 1) if face in (events, hub_events) or number not in silent]
        world.close()
        await reading

    with pytest.MonkeyPatch.context() as patch:
        run(scenario(patch))
