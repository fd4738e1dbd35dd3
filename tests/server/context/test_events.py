"""The context face over HTTP: events of a session and of all sessions as streams and by the page, snapshots."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.feeds.test_session import stored_feed
from tests.journal.samples import row
from tests.server.site import Exchange, Site, frames, site
from tests.tooling.examples import examples
from trunkline.dialects.context.filters import parse_types
from trunkline.errors import StorageError
from trunkline.feeds.session import Feed, TailBudget
from trunkline.hub import Session
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.sqlite.store import SqliteJournal
from trunkline.server.context import events
from trunkline.server.context.events import event_frames, page_after, page_before

Numbered = tuple[int, dict[str, Any]]


async def entries_of(session: Session) -> list[Entry]:
    return await session.feed.read(after=0, limit=1_000_000, max_bytes=1 << 40)


async def told(session: Session) -> list[Numbered]:
    return [(entry.seq, json.loads(entry.event)) for entry in await entries_of(session)]


async def read_until(reader: Exchange, last: int) -> list[Numbered]:
    """(id, event) of an open stream, up to an id."""
    found: list[Numbered] = []
    while not found or found[-1][0] < last:
        found += frames(await reader.piece() or b"")
    return found


async def reading(hub: Site, path: str, last: int, **headers: str) -> list[Numbered]:
    """The same of a reader that comes now and leaves."""
    reader = hub.open("GET", path, headers=headers)
    status, _ = await reader.start()
    assert status == 200
    found = await read_until(reader, last)
    await reader.leave()
    return found


def test_every_event_comes_under_its_seq_from_the_beginning_and_then_live(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 20 10")
            reader = hub.open("GET", f"/sessions/{session.id}/events")
            await reader.start()
            seen = await read_until(reader, session.feed.last_seq)
            await hub.turn(session, "/echo live")
            seen += await read_until(reader, session.feed.last_seq)
            await reader.leave()
            assert seen == await told(session)
            assert [seq for seq, _ in seen] == list(range(1, session.feed.last_seq + 1))
            assert all(event["seq"] == seq for seq, event in seen)

    run(check())


def test_a_reader_goes_on_after_its_cursor_and_last_event_id_wins(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 20 10")
            last, path = session.feed.last_seq, f"/sessions/{session.id}/events"
            assert await reading(hub, f"{path}?after=5", last) == (await told(session))[5:]
            assert await reading(hub, f"{path}?after=5", last, **{"last-event-id": "9"}) == (await told(session))[9:]
            assert (await hub.ask("GET", f"{path}?after={last + 1}")).status == 400
            assert (await hub.ask("GET", f"{path}?after=x")).status == 400
            assert (await hub.ask("GET", f"{path}?types=nothing:")).status == 400

    run(check())


def test_a_filter_lets_only_its_types_pass_stored_and_live(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 5 10")
            reader = hub.open("GET", f"/sessions/{session.id}/events?types=message:delta,session:")
            await reader.start()
            await hub.turn(session, "/echo live")
            wanted = [(seq, event) for seq, event in await told(session)
                      if event["type"] == "message:delta" or event["type"].startswith("session:")]
            assert await read_until(reader, wanted[-1][0]) == wanted
            await reader.leave()

    run(check())


def test_a_silent_filtered_stream_tells_its_position_as_an_id_without_data(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, keepalive_s=0.02) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 5 10")
            reader = hub.open("GET", f"/sessions/{session.id}/events?types=git:operation")
            await reader.start()
            assert await reader.piece() == b"id: %d\n\n" % session.feed.last_seq
            await reader.leave()
            full = hub.open("GET", f"/sessions/{session.id}/events?after={session.feed.last_seq}")
            await full.start()
            assert await full.piece() == b": keepalive %d\n\n" % session.feed.last_seq
            await full.leave()

    run(check())


def test_readers_at_the_same_place_share_their_bytes_and_new_entries_make_new_ones() -> None:
    async def check() -> None:
        feed, _ = await stored_feed(10)
        first = feed.shared(3, event_frames)
        assert first is not None
        assert feed.shared(3, event_frames) is first
        more = [Entry(11, 1, b"{}")]
        feed.committed(more, 2)
        again = feed.shared(3, event_frames)
        assert again is not None and again[1] == 11 and again[0].startswith(first[0])
        feed.forget_tail()
        assert feed.shared(3, event_frames) is None

    run(check())


def test_a_failure_is_told_in_the_stream_without_an_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()

            async def fail(**_: Any) -> list[Entry]:
                raise StorageError("the disk is gone")

            session.feed.forget_tail()
            session.feed.read = fail  # type: ignore[method-assign]
            answer = await hub.ask("GET", f"/sessions/{session.id}/events")
            (frame,) = [frame for frame in answer.body.decode().split("\n\n") if frame]
            assert frame.startswith("event: message\ndata: ")
            body = json.loads(frame.partition("data: ")[2])
            assert (body["type"], body["code"], body["message"]) == ("error", "storage_error", "the disk is gone")

    run(check())


# All sessions


def test_the_hubs_stream_has_every_session_under_rising_pos(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            one = await hub.session()
            reader = hub.open("GET", "/events")
            await reader.start()
            await asyncio.sleep(0)
            start = hub.hub.everything.last_pos
            two = await hub.session()
            await hub.turn(one, "/echo hello")
            seen = await read_until(reader, hub.hub.everything.last_pos)
            await reader.leave()
            assert [pos for pos, _ in seen] == list(range(start + 1, hub.hub.everything.last_pos + 1))
            assert [event for _, event in seen if event["sessionId"] == two.id] == [event for _, event in await told(two)]
            everything = await reading(hub, "/events?after=0", hub.hub.everything.last_pos)
            assert everything[start:] == seen
            last = hub.hub.everything.last_pos
            assert await reading(hub, "/events", last, **{"last-event-id": str(last - 2)}) == seen[-2:]
            assert (await hub.ask("GET", f"/events?after={last + 1}")).status == 400

    run(check())


def test_a_reader_behind_what_was_deleted_waits_for_news_and_does_not_spin(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path) as hub:
            gone = await hub.session()
            await hub.hub.delete(gone.id)
            looked: list[int] = []
            read = hub.hub.everything.read

            async def counted(**how: Any) -> Any:
                looked.append(how["after"])
                return await read(**how)

            hub.hub.everything.read = counted  # type: ignore[method-assign]
            reader = hub.open("GET", "/events?after=0")
            await reader.start()
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(looked) <= 2
            new = await hub.session()
            found = await read_until(reader, hub.hub.everything.last_pos)
            assert {event["sessionId"] for _, event in found} == {new.id}
            await reader.leave()

    run(scene())


def test_the_hubs_stream_can_be_filtered_too(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 9 10")
            wanted = [entry.pos for entry in await entries_of(session) if b'"message:delta"' in entry.event]
            assert [pos for pos, _ in await reading(hub, "/events?after=0&types=message:delta", wanted[-1])] == wanted

    run(check())


# By the page


async def paged(feed: Feed, limit: int, types: str | None = None) -> list[int]:
    found: list[int] = []
    after: int | None = 0
    while after is not None:
        page = await page_after(feed, after, None, limit, parse_types(types))
        found += [json.loads(bytes(event))["seq"] for event in page.events]
        after = page.next_after
    return found


async def paged_back(feed: Feed, limit: int, types: str | None = None) -> list[int]:
    found: list[int] = []
    before: int | None = feed.last_seq + 1
    while before is not None:
        page = await page_before(feed, before, limit, parse_types(types))
        found = [json.loads(bytes(event))["seq"] for event in page.events] + found
        before = page.next_before
    return found


async def feed_of(kinds: list[str], size: int = 0) -> Feed:
    feed, journal = await stored_feed(len(kinds))
    for entry, kind in zip(journal._sessions.get("s", []), kinds, strict=True):
        entry.event = b'{"seq":%d,"sessionId":"s","timestamp":"t","type":"%b","x":"%b"}' % (entry.seq, kind.encode(), b"x" * size)
    return feed


@settings(max_examples=examples(12), deadline=None)
@given(kinds=st.lists(st.sampled_from(["tool:start", "tool:error", "message:delta"]), max_size=300), limit=st.integers(1, 40),
       types=st.sampled_from([None, "tool:", "message:delta", "tool:start,message:delta"]))
def test_pages_of_any_size_and_filter_add_up_to_the_same_events_in_both_directions(kinds: list[str], limit: int,
                                                                                   types: str | None) -> None:
    async def check() -> None:
        feed = await feed_of(kinds)
        wanted = [seq for seq, kind in enumerate(kinds, 1) if parse_types(types).matches(kind)]
        assert await paged(feed, limit, types) == wanted
        assert await paged_back(feed, limit, types) == wanted

    run(check())


def test_a_page_is_bounded_in_bytes_and_in_what_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAGE_BYTES", 1_000)
    monkeypatch.setattr(events, "SCANNED_MOST", 100)

    async def check() -> None:
        feed = await feed_of(["tool:start"] * 50, size=100)
        page = await page_after(feed, 0, None, 50, parse_types(None))
        assert 1 <= len(page.events) < 10
        assert await paged(feed, 50) == await paged_back(feed, 50) == list(range(1, 51))
        sparse = await feed_of(["message:delta"] * 4_000 + ["tool:start"])
        first = await page_after(sparse, 0, None, 50, parse_types("tool:"))
        assert first.events == [] and first.next_after is not None and 100 <= first.next_after < 4_000
        assert await paged(sparse, 50, "tool:") == await paged_back(sparse, 50, "tool:") == [4_001]

    run(check())


def test_history_over_http(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 20 10")
            last, path = session.feed.last_seq, f"/sessions/{session.id}/history"
            whole = (await hub.ask("GET", path)).json()
            assert (whole["nextAfter"], whole["nextBefore"], whole["lastSeq"]) == (None, None, last)
            assert whole["events"] == [event for _, event in await told(session)]
            page = (await hub.ask("GET", f"{path}?after=3&before=9&limit=2")).json()
            assert ([event["seq"] for event in page["events"]], page["nextAfter"]) == ([4, 5], 5)
            page = (await hub.ask("GET", f"{path}?before={last + 1}&limit=3")).json()
            assert ([event["seq"] for event in page["events"]], page["nextBefore"]) == ([last - 2, last - 1, last], last - 2)
            deltas = (await hub.ask("GET", f"{path}?types=message:delta")).json()["events"]
            assert {event["type"] for event in deltas} == {"message:delta"}
            for query in ("limit=0", "limit=5001", "types=x", "before=0", "after=-1"):
                assert (await hub.ask("GET", f"{path}?{query}")).status == 400, query

    run(check())


def test_a_snapshot_is_the_state_after_its_seq(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            found = (await hub.ask("GET", f"/sessions/{session.id}/snapshot")).json()
            assert (found["sessionId"], found["seq"]) == (session.id, session.feed.last_seq)
            assert found["state"]["lastSeq"] == found["seq"]
            assert found["state"]["pendingApprovals"] == []
            assert found["state"]["capabilities"]["agent"]["name"] == "demo"
            assert (await hub.ask("GET", "/sessions/none/snapshot")).status == 404

    run(check())


@pytest.mark.parametrize("given", ["", "x" * 256])
def test_the_id_of_a_command_has_the_same_bounds_as_on_a_websocket(tmp_path: Path, given: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            path, command = f"/sessions/{session.id}/commands", {"command": "cancel"}
            refused = await hub.ask("POST", path, json_body={"id": given, "command": command})
            assert (refused.status, refused.json()["details"]) == (400, {"field": "id"})
            assert (await hub.ask("POST", path, json_body={"id": "x" * 255, "command": command})).status == 200

    run(check())


@pytest.mark.parametrize("backward", [False, True])
def test_a_page_holds_events_and_not_what_they_were_made_of(tmp_path: Path, backward: bool) -> None:
    async def check() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            for seq in range(1, 41):
                event = b'{"seq":%d,"sessionId":"a","timestamp":"x","type":"message:start"}' % seq
                await journal.append(Group({"a": [Entry(seq, seq, event, update=b"x" * (1 << 20))]}, {"a": row("a")}))
            feed = Feed("a", journal, 40, TailBudget())
            tracemalloc.start()
            page = await (page_before(feed, 41, 5_000, parse_types(None)) if backward else
                          page_after(feed, 0, None, 5_000, parse_types(None)))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert len(page.events) == 40
            assert peak < 20 << 20, "some entries at a time, of forty megabytes"

    run(check())
