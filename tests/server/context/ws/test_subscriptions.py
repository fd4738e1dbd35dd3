"""What a client gets: snapshots, resumption, filters, the asks of all sessions, and all of it after a stall."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.server.context.ws.socket import Frame, Socket, connected
from tests.server.site import Site, site
from tests.tooling.examples import examples
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.filters import parse_types
from trunkline.feeds import hub as hub_feed
from trunkline.feeds.hub import HubGroup
from trunkline.hub import Decision, Session
from trunkline.journal.base import Entry
from trunkline.server.context.ws import conversation, cursors
from trunkline.server.context.ws.cursors import SessionCursor
from trunkline.server.context.ws.delivery import Delivery


async def events_of(session: Session) -> list[dict[str, Any]]:
    """Every event of a session, from the journal."""
    found = await session.feed.read(after=0, limit=1_000_000, max_bytes=1 << 40)
    return [json.loads(entry.event) for entry in found]


async def play(hub: Site, session: Session, prompt: str) -> None:
    """A turn, to its end."""
    await hub.turn(session, prompt)


async def stream_of(socket: Socket, subscription: str, until: int) -> list[dict[str, Any]]:
    """The events of a subscription to one session, up to a seq."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["seq"] < until:
        frame = await socket.until("event", subscription=subscription)
        found.append(frame["event"])
    return found


async def ask_something(session: Session) -> str:
    """Let the demo agent ask for an approval; returns its request id."""
    await session.send([TextContent(text="/ask")], by="test")
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)
    return next(iter(session.fold.approvals))


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


def test_with_a_cursor_the_stream_goes_on_after_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 50 20")
            for after in (0, 1, 7, session.feed.last_seq):
                socket.say("subscribe", id=f"s{after}", sessions=[session.id], after=after)
                assert (await socket.until("ack", id=f"s{after}"))["ok"]
                assert await socket.until("resumed") == {
                    "type": "resumed", "subscription": f"s{after}", "sessionId": session.id, "seq": after}
                if after < session.feed.last_seq:
                    assert await stream_of(socket, f"s{after}", session.feed.last_seq) == (await events_of(session))[after:]

    run(check())


def test_a_cursor_beyond_the_end_is_a_gap_and_a_snapshot(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            last = session.feed.last_seq
            socket.say("subscribe", id="s", sessions=[session.id], after=last + 5)
            assert (await socket.hear())["ok"]
            assert await socket.hear() == {"type": "gap", "subscription": "s", "sessionId": session.id, "from": last + 5,
                                           "floor": 0, "seq": last}
            assert (await socket.hear())["type"] == "snapshot"
            await session.rename("on it goes", by="test")
            assert (await socket.until("event"))["event"]["seq"] == last + 1

    run(check())


def test_several_sessions_have_a_cursor_each(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            one, two, three = [await hub.session() for _ in range(3)]
            ids = [one.id, two.id, three.id]
            socket.say("subscribe", id="s", sessions=ids, after={one.id: 0, two.id: two.feed.last_seq})
            frames = [await socket.hear() for _ in range(4)]
            assert [frame["type"] for frame in frames] == ["ack", "resumed", "resumed", "snapshot"]
            assert [frame.get("sessionId") for frame in frames[1:]] == ids
            await stream_of(socket, "s", one.feed.last_seq)
            await two.rename("two", by="test")
            await three.rename("three", by="test")
            found = [(await socket.until("event"))["event"] for _ in range(2)]
            assert [(event["sessionId"], event["seq"]) for event in found] == [
                (two.id, two.feed.last_seq), (three.id, three.feed.last_seq)]

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


def test_all_sessions_can_be_taken_up_again_at_any_pos(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            await play(hub, session, "/burst 30 10")
            last = hub.hub.everything.last_pos
            for after in (0, 3, last - 1):
                socket.say("subscribe", id=str(after), sessions="*", after=after)
                await socket.until("resumed", subscription=str(after), seq=after)
                found: list[int] = []
                while not found or found[-1] < last:
                    found.append((await socket.until("event", subscription=str(after)))["pos"])
                assert found == list(range(after + 1, last + 1))
            socket.say("subscribe", id="far", sessions="*", after=last + 1)
            gap = await socket.until("gap")
            assert (gap["sessionId"], gap["from"], gap["seq"]) == ("*", last + 1, last)

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


@pytest.mark.parametrize("fields", [
    {"sessions": []}, {"sessions": ["none"]}, {"sessions": "some"}, {"sessions": "*", "after": {"x": 1}},
    {"sessions": ["a", "b"], "after": 3}, {"sessions": "*", "after": -1}, {"sessions": "*", "types": "nothing:"}, {},
    {"sessions": [f"s{number}" for number in range(conversation.CURSORS + 1)]},
])
def test_a_subscription_that_cannot_be_is_refused_and_leaves_nothing(tmp_path: Path, fields: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            socket.say("subscribe", id="s", **fields)
            ack = await socket.hear()
            assert (ack["type"], ack["id"], ack["ok"]) == ("ack", "s", False)
            assert ack["error"]["code"] in ("invalid", "session_not_found", "too_large")
            socket.say("subscribe", id="s", sessions="*")
            assert (await socket.hear())["ok"], "its id is free"

    run(check())


def test_an_id_is_one_subscription_until_it_is_given_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id])
            await socket.until("snapshot")
            socket.say("subscribe", id="s", sessions="*")
            assert (await socket.hear())["ok"] is False
            socket.say("unsubscribe", id="u", subscription="s")
            assert await socket.hear() == {"type": "ack", "id": "u", "ok": True}
            await session.rename("unseen", by="test")
            socket.say("ping", id="p")
            assert await socket.hear() == {"type": "pong", "id": "p"}
            socket.say("unsubscribe", id="u2", subscription="s")
            assert (await socket.hear())["ok"] is False

    run(check())


def test_what_is_no_frame_is_answered_with_its_id_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            for text in ("nonsense", '{"type":"dance","id":"d"}', '{"id":7}', '{"type":"hello","versions":["1.0.0"]}', "\ud800"):
                socket.say_text(text)
                ack = await socket.hear()
                assert (ack["type"], ack["ok"], ack["error"]["code"]) == ("ack", False, "invalid")
                assert ack.get("id") == ("d" if "dance" in text else None)
            socket.say("ping")
            assert await socket.hear() == {"type": "pong"}

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
            await asking.decide(request_id, Decision(decision="deny"), by="test")
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
            await session.decide(request_id, Decision(decision="deny"), by="test")
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
            await session.send([TextContent(text="/question")], by="test")
            asked = await socket.event("interaction:question")
            assert "subscription" not in asked
            assert [ask.session_id for ask in hub.hub.pending()] == [session.id]
            await session.cancel(by="test")
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

    run(check(), 30)


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
            assert 0 < sum(entry.size() for entry in held) <= cursors.SLICE_BYTES + 4_096
            assert delivery.cursors == 5

    run(check(), 60)


def _delivery() -> Delivery:
    """The delivery of the only client; those of earlier tests go first."""
    gc.collect()
    (found,) = [each for each in gc.get_objects() if type(each) is Delivery]
    return found


def _entries_held_by(delivery: Delivery) -> list[Entry]:
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

    run(check(), 30)


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

    run(check(), 30)


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
                        await asyncio.sleep(0.001)
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

    run(check(), 30)


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
