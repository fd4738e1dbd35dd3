"""The packets face: readers attach and resume, and stored packets come by the page."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.packets.readers import Numbered, reading, stored, texts
from tests.server.site import Site, frames, site
from trunkline.hub import Session
from trunkline.server import paging
from trunkline.server.packets import history


def test_readers_cut_after_every_packet_all_end_with_the_same_list(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/fail")
            await hub.turn(session, "/burst 20 30")
            whole = await stored(hub, session)
            ids = [seq for seq, _ in whole]
            assert ids == sorted(set(ids))
            for position in range(len(whole) + 1):
                after = whole[position - 1][0] if position else 0
                rest = [each async for each in reading(hub, session, after, session.feed.last_seq)]
                assert rest == whole[position:]

    run(check())


def test_a_cursor_between_packets_is_as_good_as_one_on_a_packet(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/burst 5 10")
            whole = await stored(hub, session)
            for after in range(session.feed.last_seq + 1):
                rest = [each async for each in reading(hub, session, after, session.feed.last_seq)]
                assert rest == [each for each in whole if each[0] > after]

    run(check())


def test_a_reader_that_lost_its_tail_in_memory_reads_the_same_from_the_journal(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            whole = await hub.turn(session, "/burst 3000 40")
            session.feed.forget_tail()
            assert [each for each in await stored(hub, session) if each[0] >= whole[0][0]] == whole

    run(check())


def test_live_readers_cut_at_random_miss_nothing_and_see_nothing_twice(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            sent = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/burst 2000 25 8000"})
            assert sent.status == 202
            found = await asyncio.gather(*(_restless(hub, session, random.Random(seed)) for seed in range(5)))
            assert all(each == found[0] for each in found)
            assert len(texts(found[0])) == 2000

    run(check())


async def _restless(hub: Site, session: Session, chance: random.Random) -> list[Numbered]:
    """Reads the turn, hanging up and coming back with Last-Event-ID all the time."""
    seen: list[Numbered] = []
    while not seen or seen[-1][1]["type"] != "prompt_response":
        headers = {"last-event-id": str(seen[-1][0])} if seen else {}
        reader = hub.open("GET", f"/sessions/{session.id}/packets", headers=headers)
        await reader.start()
        for _ in range(chance.randrange(1, 6)):
            seen += frames(await reader.piece() or b"")
            if seen[-1][1]["type"] == "prompt_response":
                break
        await reader.leave()
    return seen


@pytest.mark.parametrize(("headers", "query", "first"), [
    ({}, "", 0), ({}, "?after=0", 0), ({}, "?after=3", 3), ({}, "?after=", 0), ({"last-event-id": "5"}, "?after=1", 5),
    ({"last-event-id": "1"}, "?after=5", 1), ({"last-event-id": ""}, "?after=2", 2),
])
def test_last_event_id_wins_over_after_and_no_cursor_is_the_beginning(
    tmp_path: Path, headers: dict[str, str], query: str, first: int,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo hello")
            whole = await stored(hub, session)
            reader = hub.open("GET", f"/sessions/{session.id}/packets{query}", headers=headers)
            await reader.start()
            assert frames(await reader.piece() or b"")[0] == next(each for each in whole if each[0] > first)
            await reader.leave()

    run(check())


@pytest.mark.parametrize(("headers", "query", "named"), [
    ({}, "?after=x", "after"), ({}, "?after=-1", "after"), ({}, "?after=1.5", "after"), ({}, "?after=999999", "after"),
    ({"last-event-id": "abc"}, "", "Last-Event-ID"), ({"last-event-id": "12 "}, "?after=0", "Last-Event-ID"),
    ({"last-event-id": "999999"}, "", "Last-Event-ID"), ({"last-event-id": "9" * 30}, "", "Last-Event-ID"),
])
def test_a_cursor_that_makes_no_sense_is_refused_by_name(
    tmp_path: Path, headers: dict[str, str], query: str, named: str,
) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/packets{query}", headers=headers)
            assert (answer.status, answer.json()["details"]["code"]) == (400, "invalid")
            assert named in answer.json()["message"]

    run(check())


# Stored packets by the page


async def page(hub: Site, session: Session, query: str = "") -> dict[str, Any]:
    """One page of stored packets."""
    answer = await hub.ask("GET", f"/sessions/{session.id}/messages{query}")
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


@asynccontextmanager
async def told(tmp_path: Path) -> AsyncIterator[tuple[Site, Session]]:
    """A session with two turns of text in it, and tools between."""
    async with site(tmp_path) as hub:
        session = await hub.session()
        await hub.turn(session, "/burst 30 10")
        await hub.turn(session, "/fail")
        await hub.turn(session, "/burst 7 10")
        yield hub, session


def joined(numbered: list[Numbered]) -> list[tuple[str, str]]:
    """Packets as (type, text), neighbours of one type joined: what a reader has understood, however it was cut."""
    understood: list[tuple[str, str]] = []
    for _, packet in numbered:
        text = packet["content"]["text"] if packet["type"].endswith("_message_chunk") else json.dumps(packet)
        if understood and packet["type"].endswith("_message_chunk") and understood[-1][0] == packet["type"]:
            text = understood.pop()[1] + text
        understood.append((packet["type"], text))
    return understood


def numbered(found: dict[str, Any]) -> list[Numbered]:
    """A page as (seq, packet)."""
    return [(each["seq"], each["packet"]) for each in found["messages"]]


def test_a_run_of_chunks_is_one_message_with_its_last_seq(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            found = numbered(await page(hub, session))
            assert joined(found) == joined(whole)
            runs = [each for each in found if each[1]["type"] == "agent_message_chunk" and len(each[1]["content"]["text"]) == 300]
            assert len(runs) == 1
            assert runs[0][0] == [seq for seq, packet in whole if packet["type"] == "agent_message_chunk"][29]
            assert set(runs[0][1]) == {"_meta", "content", "sessionUpdate", "type", "timestamp"}

    run(check())


def test_after_inside_a_run_returns_the_rest_only(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            for after in range(session.feed.last_seq + 1):
                found = numbered(await page(hub, session, f"?after={after}"))
                assert joined(found) == joined([each for each in whole if each[0] > after])

    run(check())


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_forward_add_up_to_the_whole(tmp_path: Path, limit: int) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            found, after = [], 0
            while True:
                one = await page(hub, session, f"?after={after}&limit={limit}")
                assert len(one["messages"]) <= limit
                found += numbered(one)
                if one["nextAfter"] is None:
                    break
                after = one["nextAfter"]
            assert found == numbered(await page(hub, session, "?limit=1000"))

    run(check())


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_backward_add_up_to_the_whole(tmp_path: Path, limit: int) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            found: list[Numbered] = []
            before = session.feed.last_seq + 1
            while True:
                one = await page(hub, session, f"?before={before}&limit={limit}")
                assert len(one["messages"]) <= limit
                found = numbered(one) + found
                if one["nextBefore"] is None:
                    break
                before = one["nextBefore"]
            assert found == numbered(await page(hub, session, "?limit=1000"))

    run(check())


def test_a_page_backward_is_bounded_in_bytes_and_goes_on_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE_BYTES", 400_000)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for _ in range(10):
                await hub.turn(session, "/burst 5 60000")
            found, pages = list[Numbered](), 0
            before: int | None = session.feed.last_seq + 1
            while before is not None:
                one = await page(hub, session, f"?before={before}&limit=1000")
                assert len(json.dumps(one)) < 1_500_000, "some of it, and not all three megabytes"
                found, before, pages = numbered(one) + found, one["nextBefore"], pages + 1
            assert pages > 3
            assert joined(found) == joined(await stored(hub, session))

    run(check())


def test_after_and_before_bound_a_page_on_both_sides(tmp_path: Path) -> None:
    async def check() -> None:
        async with told(tmp_path) as (hub, session):
            whole = await stored(hub, session)
            found = numbered(await page(hub, session, "?after=8&before=20"))
            assert joined(found) == joined([each for each in whole if 8 < each[0] < 20])
            assert (await page(hub, session, f"?after={session.feed.last_seq}"))["messages"] == []
            assert (await page(hub, session, "?before=1"))["messages"] == []

    run(check())


@pytest.mark.parametrize("query", ["after=x", "before=x", "before=0", "limit=0", "limit=1001", "limit=x"])
def test_a_page_that_cannot_be_is_refused_by_name(tmp_path: Path, query: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/messages?{query}")
            assert answer.status == 400
            assert query.partition("=")[0] in answer.json()["message"]

    run(check())


def test_a_very_long_run_is_told_in_several_messages_and_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "RUN_BYTES", 100)
    monkeypatch.setattr(paging, "PAGE_BYTES", 700)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            whole = await hub.turn(session, "/burst 50 10")
            found: list[Numbered] = []
            pages, query = 0, f"?after={whole[0][0]}"
            while query:
                one = await page(hub, session, query)
                found += numbered(one)
                query = f"?after={one['nextAfter']}" if one["nextAfter"] is not None else ""
                pages += 1
            assert pages > 1
            assert len(texts(found)) == 5
            assert joined(found) == joined(whole[1:])

    run(check())


def test_two_prompts_blocks_stay_one_message_each_and_a_new_message_begins_a_new_run(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            for text in ("one", "two"):
                chunk = {"sessionUpdate": "agent_message_chunk", "messageId": text, "content": {"type": "text", "text": text}}
                await hub.turn(session, "/raw " + json.dumps(chunk))
            found = numbered(await page(hub, session))
            assert [text for text in texts(found) if text in ("one", "two", "onetwo")] == ["one", "two"]

    run(check())


def test_an_attaching_reader_without_a_token_is_told_by_a_packet(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("GET", f"/sessions/{session.id}/packets", token=None)
            assert (answer.status, answer.json()["type"], answer.json()["details"]["code"]) == (401, "error", "unauthorized")
            assert answer.header("www-authenticate") == "Bearer"

    run(check())
