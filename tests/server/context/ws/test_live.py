"""A client of the WebSocket that stands at the end: written to by the commit, a cursor again while it stalls, nothing twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import eventually, loop_turns, run
from tests.server.world import ASK, Line, World
from tests.tooling.examples import examples
from trunkline.dialects.context.filters import parse_types
from trunkline.feeds import hub as hub_feed
from trunkline.server.context.ws.cursors import AnyCursor, HubCursor, SessionCursor
from trunkline.server.context.ws.delivery import EventDelivery


class Client:
    """One client's delivery, and its line."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.line = Line()
        self.delivery = EventDelivery(world.hub(), self.line)
        self.task = asyncio.create_task(self.delivery.run())
        self.starts: dict[str, tuple[AnyCursor, int]] = {}

    def subscribe(self, name: str, session: str | None, after: int = 0, types: str | None = None) -> None:
        """Follow one session, or all of them."""
        wanted = parse_types(types)
        cursor: AnyCursor = (HubCursor(name, self.world.everything, wanted) if session is None
                             else SessionCursor(name, self.world.session(session), wanted))
        self.delivery.cover(cursor)
        self.delivery.begin(cursor, after)
        self.starts[name] = cursor, after

    def events(self, name: str | None) -> list[dict[str, Any]]:
        """The event frames of a subscription; of none."""
        return [frame for frame in self.line.got if frame["type"] == "event" and frame.get("subscription") == name]

    def seqs(self, name: str) -> list[int]:
        return [frame["event"]["seq"] for frame in self.events(name)]


def test_what_is_committed_is_on_its_way_when_the_commit_returns_all_of_it_in_one_write() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        client.subscribe("s", "a")
        client.subscribe("all", None)
        await loop_turns()
        world.commit("a", "b", count=2)
        assert client.seqs("s") == [1, 2] and [frame["pos"] for frame in client.events("all")] == [1, 2, 3, 4]
        assert len(client.line.writes) == 1 and client.delivery.pos == 0, "it is known where it is when it stops"
        world.close()
        await client.task
        assert client.delivery.pos == 4

    run(scenario())


def test_a_client_that_stalls_is_a_cursor_until_it_has_caught_up() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        client.subscribe("s", "a")
        await loop_turns()
        world.commit("a")
        client.line.flows.clear()
        world.commit("a", count=2)
        await loop_turns()
        world.commit("a")
        assert client.seqs("s") == [1] and world.everything.waiting == 0
        client.line.flows.set()
        await loop_turns()
        assert client.seqs("s") == [1, 2, 3, 4] and world.everything.waiting == 1
        world.commit("a")
        assert client.seqs("s") == [1, 2, 3, 4, 5]
        world.close()
        await client.task

    run(scenario())


def test_commits_that_are_none_of_a_clients_business_do_not_wake_it_and_it_has_missed_nothing() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        client.subscribe("s", "a")
        await loop_turns()
        for _ in range(hub_feed.KEPT_GROUPS * 2):
            world.commit("b")
        assert client.line.got == []
        world.commit("a")
        assert client.seqs("s") == [1]
        client.subscribe("t", "b", after=world.feeds["b"].last_seq - 1)
        await loop_turns()
        world.commit("b", "a")
        assert client.seqs("t") == [world.feeds["b"].last_seq - 1, world.feeds["b"].last_seq] and client.seqs("s") == [1, 2]
        assert all(frame["type"] == "event" for frame in client.line.got), "there was no gap"
        world.close()
        await client.task

    run(scenario())


def test_asks_of_other_sessions_come_on_the_spot_too() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        client.subscribe("s", "a", types="message:")
        await loop_turns()
        world.commit("b", kind=ASK)
        world.commit("a", kind=ASK)
        assert [frame["event"]["requestId"] for frame in client.events(None)] == ["b1", "a1"] and client.seqs("s") == []
        world.close()
        await client.task

    run(scenario())


def test_a_cursor_brings_nothing_before_the_client_knows_where_it_starts() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        cursor = SessionCursor("s", world.session("a"), parse_types(None))
        client.subscribe("t", "a")
        await loop_turns()
        client.delivery.cover(cursor)
        world.commit("a")
        world.commit("a", kind=ASK)
        assert client.seqs("s") == [] and client.seqs("t") == [1, 2] and client.events(None) == []
        client.delivery.begin(cursor, 1)
        await loop_turns()
        assert client.seqs("s") == [2]
        world.close()
        await client.task

    run(scenario())


def test_clients_with_the_same_subscription_and_filter_share_what_they_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    frames = SessionCursor.frames

    def counted(self: SessionCursor, entries: Any) -> bytes:
        made.append(self.subscription)
        return frames(self, entries)

    async def scenario() -> None:
        world = World()
        clients = [Client(world) for _ in range(4)]
        for client, types in zip(clients, [None, None, "message:", "tool:"], strict=True):
            client.subscribe("s", "a", types=types)
        clients[0].subscribe("t", "a")
        await eventually(lambda: world.everything.waiting == len(clients))
        await loop_turns()
        monkeypatch.setattr(SessionCursor, "frames", counted)
        world.commit("a", count=3)
        assert sorted(made) == ["s", "s", "s", "t"]
        assert [client.seqs("s") for client in clients] == [[1, 2, 3], [1, 2, 3], [1, 2, 3], []]
        assert clients[0].seqs("t") == [1, 2, 3] and clients[3].line.writes == []
        world.close()
        await asyncio.gather(*[client.task for client in clients])

    run(scenario())


def test_a_client_that_fails_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        world = World()
        broken, well = Client(world), Client(world)
        broken.subscribe("s", "a")
        well.subscribe("t", "a")
        await loop_turns()

        def fail(frames: bytes) -> None:
            raise ValueError("broken")

        monkeypatch.setattr(broken.line, "write_now", fail)
        world.commit("a")
        assert well.seqs("t") == [1]
        with pytest.raises(ValueError, match="broken"):
            await broken.task
        assert world.everything.waiting == 1
        world.close()
        await well.task

    run(scenario())


def test_who_leaves_is_called_no_more() -> None:
    async def scenario() -> None:
        world = World()
        client = Client(world)
        client.subscribe("s", "a")
        await loop_turns()
        client.task.cancel()
        await loop_turns()
        world.commit("a")
        assert world.everything.waiting == 0 and client.line.got == []

    run(scenario())


STEPS = st.lists(st.one_of(
    st.tuples(st.just("commit"), st.sets(st.sampled_from("abc"), min_size=1).map(sorted), st.integers(1, 4), st.booleans()),
    st.tuples(st.just("large"), st.sampled_from("abc")),
    st.tuples(st.just("stall")), st.tuples(st.just("flow")), st.tuples(st.just("turn"), st.integers(1, 6)),
    st.tuples(st.just("subscribe"), st.sampled_from(["a", "b", "c", None]), st.sampled_from([None, "message:"])),
    st.tuples(st.just("drop"), st.integers(0, 3)), st.tuples(st.just("held"))), max_size=40)


@settings(max_examples=examples(60), deadline=None)
@given(steps=STEPS, few=st.booleans())
def test_whatever_happens_each_event_comes_once_and_in_order(steps: list[tuple[Any, ...]], few: bool) -> None:
    async def scenario(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(hub_feed, "KEPT_GROUPS", 3 if few else 256)
        patch.setattr("trunkline.server.context.ws.delivery.WRITE_BYTES", 3_000)
        patch.setattr("trunkline.server.context.ws.delivery.SLICE_BYTES", 1_500)
        world = World()
        client = Client(world)
        asked: list[str] = []
        for number, step in enumerate(steps):
            match step:
                case ("commit", sessions, count, asks):
                    world.commit(*sessions, count=count, kind=ASK if asks else "message:delta")
                    asked += [f"{name}{world.feeds[name].last_seq - back}" for name in sessions for back in range(count) if asks]
                case ("large", name):
                    world.commit(name, count=30)
                case ("held",):
                    with world.everything.held():
                        world.commit("a")
                        world.commit("b", "a")
                case ("stall",):
                    client.line.flows.clear()
                case ("flow",):
                    client.line.flows.set()
                case ("turn", turns):
                    for _ in range(turns):
                        await asyncio.sleep(0)
                case ("subscribe", session, types):
                    newest = world.everything.last_pos if session is None else world.feeds[session].last_seq
                    client.subscribe(f"s{number}", session, newest // 2, types)
                    asked.clear()  # a client that says where it is may know of them
                case ("drop", which):
                    for name in list(client.starts)[which:which + 1]:
                        client.delivery.drop(name)
                        del client.starts[name]
        client.line.flows.set()
        while world.everything.waiting != 1 or client.delivery._catching_up:
            await loop_turns()
        check(client, asked)
        world.close()
        await client.task

    with pytest.MonkeyPatch.context() as patch:
        run(scenario(patch))


def check(client: Client, asked: list[str]) -> None:
    """Every subscription has all of its events, and nobody missed an ask who was not told of a gap."""
    world = client.world
    for name, (cursor, start) in client.starts.items():
        numbers = [frame["pos"] if isinstance(cursor, HubCursor) else frame["event"]["seq"] for frame in client.events(name)]
        last = world.everything.last_pos if isinstance(cursor, HubCursor) else world.feeds[cursor.session.id].last_seq
        assert numbers == sorted(set(numbers))
        if cursor.shows_everything:
            assert numbers == list(range(start + 1, last + 1))
    if not any(frame["type"] == "gap" for frame in client.line.got):
        seen = {frame["event"]["requestId"] for frame in client.line.got
                if frame["type"] == "event" and frame["event"]["type"] == ASK}
        told = any(frame["type"] == "snapshot" for frame in client.line.got)
        assert told or set(asked) <= seen
