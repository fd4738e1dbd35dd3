"""What a client gets: snapshots, filters, the asks of all sessions, and all of it after a stall."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import loop_turns, run
from tests.server.context.ws.socket import Frame, Socket, connected
from tests.server.context.ws.streams import ask_something, events_of, play, stream_of
from tests.server.site import Site, site
from tests.tooling.examples import examples
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.filters import parse_types
from trunkline.feeds import hub as hub_feed
from trunkline.feeds.hub import HubGroup
from trunkline.feeds.session import SLICE_BYTES
from trunkline.hub import Decision, Session
from trunkline.journal.base import Entry
from trunkline.server.context.ws.cursors import SessionCursor
from trunkline.server.context.ws.delivery import EventDelivery

# Starting


def test_without_a_cursor_a_snapshot_comes_first_and_then_only_news(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/echo before")
            at = session.feed.last_seq
            socket.say("subscribe", id="s", sessions=[session.id])
            assert await socket.hear() == {"type": "ack", "id": "s", "ok": True}
            snapshot = await socket.hear()
            assert (snapshot["type"], snapshot["subscription"], snapshot["sessionId"], snapshot["seq"]) == (
                "snapshot", "s", session.id, at)
            assert (snapshot["state"]["id"], snapshot["state"]["lastSeq"]) == (session.id, at)
            await play(hub, session, "/echo after")
            assert await stream_of(socket, "s", session.feed.last_seq) == (await events_of(session))[at:]

    run(check())


def test_all_sessions_follow_by_pos_with_sessions_that_come_later(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            first = await hub.session()
            socket.say("subscribe", id="all", sessions="*")
            assert (await socket.hear())["ok"]
            snapshot = await socket.hear()
            assert (snapshot["sessionId"], snapshot["seq"]) == ("*", hub.hub.everything.last_pos)
            assert [view["id"] for view in snapshot["state"]["sessions"]] == [first.id]
            second = await hub.session()
            await first.rename("first", by="test")
            seen: list[Frame] = []
            while not seen or seen[-1]["pos"] < hub.hub.everything.last_pos:
                seen.append(await socket.until("event"))
            assert [frame["pos"] for frame in seen] == list(range(snapshot["seq"] + 1, hub.hub.everything.last_pos + 1))
            assert [frame["event"] for frame in seen if frame["event"]["sessionId"] == second.id] == await events_of(second)

    run(check())


def test_a_filter_leaves_everything_else_out(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 5 10")
            socket.say("subscribe", id="s", sessions=[session.id], after=0, types="message:delta,session:")
            await play(hub, session, "/echo live")
            wanted = [event for event in await events_of(session)
                      if event["type"] == "message:delta" or event["type"].startswith("session:")]
            assert await stream_of(socket, "s", wanted[-1]["seq"]) == wanted

    run(check())


# Asks of all sessions


def test_approvals_of_sessions_that_nobody_subscribed_to_reach_every_client(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as bare, connected(hub) as busy:
            watched, asking = await hub.session(), await hub.session()
            busy.say("subscribe", id="s", sessions=[watched.id])
            await busy.until("snapshot")
            request_id = await ask_something(asking)
            for socket in (bare, busy):
                frame = await socket.event("approval:requested")
                assert "subscription" not in frame
                assert (frame["event"]["sessionId"], frame["event"]["requestId"]) == (asking.id, request_id)
            late = Socket(hub)
            welcome = await late.hello()
            assert [ask["approval"]["requestId"] for ask in welcome["pending"]] == [request_id]
            assert welcome["pending"][0]["sessionId"] == asking.id
            await asking.approvals.decide(request_id, Decision(decision="deny"), by="test")
            for socket in (bare, busy, late):
                frame = await socket.event("approval:resolved")
                assert frame["event"]["requestId"] == request_id
            await late.leave()

    run(check())


def test_an_approval_of_a_session_that_is_subscribed_to_comes_once_in_its_place(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id], after=0)
            request_id = await ask_something(session)
            await session.approvals.decide(request_id, Decision(decision="deny"), by="test")
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            socket.say("ping", id="end")
            frames: list[Frame] = []
            while not frames or frames[-1]["type"] != "event" or frames[-1]["event"]["seq"] < session.feed.last_seq:
                frames.append(await socket.hear())
            found = [frame for frame in frames if frame["type"] == "event"]
            assert [frame["event"] for frame in found] == await events_of(session)
            assert {frame["subscription"] for frame in found} == {"s"}

    run(check())


def test_an_approval_that_a_filter_leaves_out_comes_beside_the_stream(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id], types="message:")
            await socket.until("snapshot")
            await ask_something(session)
            assert "subscription" not in await socket.event("approval:requested")

    run(check())


def test_questions_and_their_answers_reach_every_client(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await session.turns.send([TextContent(text="/question")], by="test")
            asked = await socket.event("interaction:question")
            assert "subscription" not in asked
            assert [ask.session_id for ask in hub.hub.pending()] == [session.id]
            await session.turns.cancel(by="test")
            answered = await socket.until("event")
            assert answered["event"]["eventName"] == "question_resolved"

    run(check())


# Stalls


def test_a_client_that_stalls_gets_everything_when_it_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_feed, "KEPT_GROUPS", 4)

    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session, other = await hub.session(), await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id], after=0)
            await stream_of(socket, "s", session.feed.last_seq)
            at = session.feed.last_seq
            socket.flows.clear()
            for index in range(40):
                await play(hub, session, f"/echo {index}")
            request_id = await ask_something(other)
            socket.flows.set()
            seen: list[dict[str, Any]] = []
            pending = None
            while not seen or seen[-1]["seq"] < session.feed.last_seq or pending is None:
                frame = await socket.hear()
                if frame["type"] == "event" and frame.get("subscription") == "s":
                    seen.append(frame["event"])
                elif frame["type"] == "snapshot":
                    assert (frame["sessionId"], "subscription" in frame) == ("*", False)
                    pending = frame["state"]["pending"]
            assert seen == (await events_of(session))[at:]
            assert [ask["approval"]["requestId"] for ask in pending] == [request_id]

    run(check())


def test_a_client_that_stalls_costs_its_cursors_and_the_slice_it_is_being_sent(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            sessions = [await hub.session() for _ in range(5)]
            for session in sessions:
                socket.say("subscribe", id=session.id, sessions=[session.id], after=0)
                await stream_of(socket, session.id, session.feed.last_seq)
            socket.flows.clear()
            for session in sessions:
                await play(hub, session, "/burst 2000 1000")
            await socket.sending.wait()
            delivery = _delivery()
            held = _entries_held_by(delivery)
            assert 0 < sum(entry.size() for entry in held) <= SLICE_BYTES + 4_096
            assert delivery.cursors == 5

    run(check(), 60)


def _delivery() -> EventDelivery:
    """The delivery of the only client; those of earlier tests go first."""
    gc.collect()
    (found,) = [each for each in gc.get_objects() if type(each) is EventDelivery]
    return found


def _entries_held_by(delivery: EventDelivery) -> list[Entry]:
    """What the task that is stuck in ``send`` keeps alive: entries in the local variables of its frames."""
    held: dict[int, Entry] = {}
    for task in asyncio.all_tasks():
        step: Any = task.get_coro()
        while getattr(step, "cr_frame", None) is not None:
            variables = step.cr_frame.f_locals
            if variables.get("self") is delivery:
                held |= {id(entry): entry for value in variables.values() for entry in _entries_in(value)}
            step = step.cr_await
    return list(held.values())


def _entries_in(value: Any) -> list[Entry]:
    if isinstance(value, Entry):
        return [value]
    if isinstance(value, HubGroup):
        return [entry for _, entry in value.entries()]
    return [entry for each in value for entry in _entries_in(each)] if isinstance(value, list) else []


def test_a_large_group_is_sent_in_slices_and_complete(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id], after=0)
            socket.say("subscribe", id="all", sessions="*", after=0)
            await play(hub, session, "/burst 3000 300")
            wide: list[dict[str, Any]] = []
            narrow: list[dict[str, Any]] = []
            while len(wide) < session.feed.last_seq or len(narrow) < session.feed.last_seq:
                frame = await socket.until("event")
                (narrow if frame["subscription"] == "s" else wide).append(frame["event"])
            assert narrow == wide == await events_of(session)

    run(check())


def test_a_subscription_that_is_dropped_while_it_catches_up_loses_no_approval(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 2000 100")
            socket.say("subscribe", id="s", sessions=[session.id], after=0)
            await socket.until("resumed")
            socket.flows.clear()
            request_id = await ask_something(session)
            socket.say("unsubscribe", id="u", subscription="s")
            socket.flows.set()
            snapshot = await socket.until("snapshot")
            assert [ask["approval"]["requestId"] for ask in snapshot["state"]["pending"]] == [request_id]

    run(check())


def test_a_session_that_is_deleted_ends_its_subscription_and_no_other(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            gone, kept = await hub.session(), await hub.session()
            for session in (gone, kept):
                socket.say("subscribe", id=session.id, sessions=[session.id])
                await socket.until("snapshot")
            await hub.hub.delete(gone.id)
            ack = await socket.until("ack", id=gone.id)
            assert (ack["ok"], ack["error"]["code"]) == (False, "session_deleted")
            socket.say("unsubscribe", id="u", subscription=gone.id)
            assert (await socket.until("ack", id="u"))["ok"] is False, "it is over"
            await kept.rename("kept", by="test")
            assert (await socket.until("event", subscription=kept.id))["event"]["sessionId"] == kept.id

    run(check())


def test_who_follows_all_sessions_hears_which_one_is_deleted_and_nobody_else_does(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket, connected(hub) as other:
            gone, kept = await hub.session(), await hub.session()
            socket.say("subscribe", id="all", sessions="*")
            other.say("subscribe", id="one", sessions=[kept.id])
            for each in (socket, other):
                await each.until("snapshot")
            await hub.hub.delete(gone.id)
            assert await socket.until("deleted") == {"type": "deleted", "subscription": "all", "sessionId": gone.id}
            await kept.rename("kept", by="test")
            assert (await socket.hear())["type"] == "event", "once"
            assert (await other.hear())["type"] == "event", "it was nothing to this one"

    run(check())


def test_it_is_known_which_sessions_somebody_watches(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session, other = await hub.session(), await hub.session()
            streams = hub.app.parts.streams
            assert not streams.watching(session.id)
            async with connected(hub) as socket:
                socket.say("subscribe", id="s", sessions=[session.id])
                await socket.until("snapshot")
                assert (streams.watching(session.id), streams.watching(other.id)) == (True, False)
                socket.say("subscribe", id="all", sessions="*")
                await socket.until("snapshot")
                assert streams.watching(other.id)
            async with connected(hub) as socket:
                socket.say("subscribe", id="s", sessions=[session.id], types="tool:")
                await socket.until("snapshot")
                types = ("tool:start", "session:error", "approval:requested")
                assert [streams.watching(session.id, each) for each in types] == [True, False, True], "asks are told to everybody"
            assert not streams.watching(session.id)
            reader = hub.open("GET", f"/sessions/{other.id}/events")
            await reader.start()
            await asyncio.sleep(0)
            assert (streams.watching(session.id), streams.watching(other.id)) == (False, True)
            await reader.leave()
            assert not streams.watching(other.id)

    run(check())


# Kill at any frame


@settings(max_examples=examples(15), deadline=None)
@given(cuts=st.lists(st.integers(0, 25), max_size=12), wide=st.booleans(), stalls=st.lists(st.booleans(), max_size=12))
def test_a_client_that_is_killed_at_any_frame_ends_with_the_same_events(tmp_path_factory: pytest.TempPathFactory,
                                                                        cuts: list[int], wide: bool, stalls: list[bool]) -> None:
    async def check() -> None:
        async with site(tmp_path_factory.mktemp("cut")) as hub:
            session = await hub.session()
            playing = asyncio.create_task(_play_some(hub, session))
            seen: list[dict[str, Any]] = []
            position = 0
            for index, cut in enumerate([*cuts, 1 << 30]):
                async with connected(hub) as socket:
                    socket.say("subscribe", id="s", sessions="*" if wide else [session.id], after=position)
                    if index < len(stalls) and stalls[index]:
                        socket.flows.clear()
                        await loop_turns()
                        socket.flows.set()
                    for _ in range(cut):
                        if playing.done() and position == (hub.hub.everything.last_pos if wide else session.feed.last_seq):
                            break
                        frame = await socket.hear()
                        if frame["type"] == "event":
                            assert frame["subscription"] == "s"
                            position = frame["pos"] if wide else frame["event"]["seq"]
                            seen.append(frame["event"])
            await playing
            assert seen == await events_of(session)

    run(check())


async def _play_some(hub: Site, session: Session) -> None:
    for prompt in ("/burst 30 20", "/echo one", "/burst 5 10"):
        await play(hub, session, prompt)
    await session.rename("the end", by="test")


def test_what_is_read_for_a_client_has_no_bodies_that_it_is_not_sent(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo hello")
            slice_ = await SessionCursor("s", session, parse_types(None)).slice()
            assert [entry.event for entry in slice_] == [entry.event for entry in await session.feed.read(after=0)]
            assert {(entry.update, entry.packet, entry.raw) for entry in slice_} == {(None, None, None)}

    run(check())
