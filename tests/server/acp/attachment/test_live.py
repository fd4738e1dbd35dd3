"""An editor that stands at the end of a session: written to by the commit, a cursor again while it stalls, nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import loop_turns, run
from tests.server.world import ASK, Wire, World
from tests.tooling.examples import examples
from trunkline.server.acp.attachment import attachment as attachment_file
from trunkline.server.acp.attachment.attachment import CURSOR, EditorAttachment
from trunkline.server.acp.connection import EditorLine


class Place:
    """An editor's place in the session a."""

    def __init__(self, *, wants_cursor: bool = False) -> None:
        self.world = World()
        self.feed = self.world.feeds["a"]
        self.wire = Wire()
        self.line = EditorLine(self.wire)
        self.line.wants_cursor = wants_cursor
        self.spawned: list[asyncio.Task[None]] = []
        self.attached = EditorAttachment(self.world.session("a"), self.line, "test", self._spawn, scope="control",
                                         stopping=lambda: True)
        self.attached.follow(0)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.spawned.append(asyncio.create_task(work))

    def said(self) -> list[int]:
        """The numbers of all chunks, in the order in which they came."""
        return [int(message["params"]["update"]["content"]["text"]) for message in self.wire.got
                if message["method"] == "session/update"]

    def cursors(self) -> list[int]:
        return [message["params"]["seq"] for message in self.wire.got if message["method"] == CURSOR]


def test_what_is_committed_is_on_its_way_when_the_commit_returns_in_one_write() -> None:
    async def scenario() -> None:
        place = Place()
        await loop_turns()
        place.world.commit("a", count=3)
        assert place.said() == [1, 2, 3] and len(place.wire.writes) == 1
        assert place.attached.position == 3
        await place.attached.reached(3)
        await place.attached.end()

    run(scenario())


def test_an_editor_that_stalls_is_a_cursor_until_it_has_caught_up() -> None:
    async def scenario() -> None:
        place = Place()
        await loop_turns()
        place.world.commit("a")
        place.wire.flows.clear()
        place.world.commit("a")
        assert place.attached.position == 1, "what it was not sent it does not know"
        await loop_turns()
        place.world.commit("a")
        reached = asyncio.create_task(place.attached.reached(3))
        await loop_turns()
        assert place.said() == [1] and place.feed.waiting == 0 and not reached.done()
        place.wire.flows.set()
        await reached
        await loop_turns()
        place.world.commit("a")
        assert place.said() == [1, 2, 3, 4] and place.wire.writes[-1:] == [place.wire.got[-1:]]
        await place.attached.end()

    run(scenario())


def test_who_wants_to_know_where_it_is_is_told_with_each_write() -> None:
    async def scenario() -> None:
        place = Place(wants_cursor=True)
        await loop_turns()
        place.world.commit("a", count=2)
        place.world.commit("a")
        assert place.said() == [1, 2, 3] and place.cursors()[-2:] == [2, 3]
        assert [message["method"] for message in place.wire.writes[0]] == ["session/update"] * 2 + [CURSOR]
        await place.attached.end()

    run(scenario())


def test_nothing_is_written_after_a_halt_and_it_goes_on_where_it_stood() -> None:
    async def scenario() -> None:
        place = Place()
        await loop_turns()
        place.world.commit("a")
        halting = asyncio.create_task(place.attached.halt())
        await asyncio.sleep(0)
        place.world.commit("a")
        await halting
        place.world.commit("a")
        assert place.said() == [1] and place.attached.position == 1 and place.feed.waiting == 0
        await place.attached.go_on()
        await loop_turns()
        assert place.said() == [1, 2, 3]
        await place.attached.end()

    run(scenario())


def test_an_ask_is_put_only_when_the_session_has_looked_whether_a_rule_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        place = Place()
        put: list[str] = []

        def permission(request_id: str) -> list[bytes]:
            put.append(request_id)
            return []

        monkeypatch.setattr(place.attached._asks, "permission", permission)
        await loop_turns()
        place.world.commit("a")
        place.world.commit("a", kind=ASK)
        place.world.commit("a")
        assert put == [] and place.said() == [1]
        await loop_turns()
        assert put == ["a2"] and place.said() == [1, 3]
        place.world.commit("a")
        assert place.said() == [1, 3, 4], "and from then on it is on the spot again"
        await place.attached.end()

    run(scenario())


def test_a_view_that_fails_fails_alone_and_its_editor_learns_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        place = Place()
        await loop_turns()

        def fail(entry: object) -> list[bytes]:
            raise ValueError("broken")

        monkeypatch.setattr(place.attached._messages, "live", fail)
        place.world.commit("a")
        await loop_turns()
        assert not place.attached.following and place.feed.waiting == 0

    run(scenario())


def test_the_end_of_the_feed_ends_the_view_behind_what_it_brought() -> None:
    async def scenario() -> None:
        place = Place()
        await loop_turns()
        place.world.commit("a")
        place.world.close()
        await loop_turns()
        assert place.said() == [1] and not place.attached.following

    run(scenario())


STEPS = st.lists(st.one_of(
    st.tuples(st.just("commit"), st.integers(1, 40)), st.tuples(st.just("turn"), st.integers(1, 6)),
    st.tuples(st.sampled_from(["stall", "flow", "halt", "ask", "forget", "held"]), st.just(0))), max_size=40)


@settings(max_examples=examples(60), deadline=None)
@given(steps=STEPS, wants_cursor=st.booleans())
def test_whatever_happens_each_chunk_comes_once_and_in_order(steps: list[tuple[str, int]], wants_cursor: bool) -> None:
    async def scenario() -> None:
        place = Place(wants_cursor=wants_cursor)
        asks = 0
        for name, count in steps:
            match name:
                case "commit":
                    place.world.commit("a", count=count)
                case "ask":
                    place.world.commit("a", kind=ASK)
                    asks += 1
                case "held":
                    with place.feed.held():
                        place.world.commit("a")
                        place.world.commit("a")
                case "forget":
                    place.feed.forget_tail()
                case "turn":
                    for _ in range(count):
                        await asyncio.sleep(0)
                case "stall":
                    place.wire.flows.clear()
                case "flow":
                    place.wire.flows.set()
                case "halt":
                    place.wire.flows.set()  # what is on its way is sent first
                    await place.attached.go_on()
        place.wire.flows.set()
        while place.attached._sent < place.feed.last_seq:
            await loop_turns()
        said = place.said()
        assert said == sorted(set(said)) and len(said) == place.feed.last_seq - asks
        assert place.attached.position == place.feed.last_seq
        if wants_cursor:
            assert place.cursors() == sorted(set(place.cursors())) and (place.cursors() or [0])[-1] == place.feed.last_seq
        await place.attached.end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attachment_file, "SLICE_BYTES", 3_000)
        run(scenario())
