"""Stored packets by the page: pages of any size, forward and back, add up to the same messages."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.aio import run
from tests.feeds.test_session import size
from tests.tooling.examples import examples
from trunkline.feeds.session import Feed, TailBudget
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.packets.history import StoredPackets, page_after, page_before

Message = tuple[int, dict[str, Any]]

CHUNKS = st.tuples(st.sampled_from(["agent_message_chunk", "agent_thought_chunk"]), st.text(max_size=4), st.booleans())
PACKETS = st.just(("packet", "", False))
SILENT = st.just(("silent", "", False))
STORIES = st.lists(st.one_of(CHUNKS, CHUNKS, CHUNKS, PACKETS, SILENT), max_size=60)
Story = list[tuple[str, str, bool]]


def entry(seq: int, kind: str, text: str, starts: bool) -> Entry:
    event = json.dumps({"type": "message:start" if starts else "message:delta"}).encode()
    if kind == "silent":
        return Entry(seq, seq, event)
    if kind == "packet":
        return Entry(seq, seq, event, None, b'{"type":"prompt_response"}')
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return Entry(seq, seq, event, json.dumps(update, separators=(",", ":")).encode())


async def feed_of(story: Story) -> Feed:
    journal = MemoryJournal()
    feed = Feed("s", journal, 0, TailBudget())
    batch = [entry(seq, *each) for seq, each in enumerate(story, 1)]
    row = SessionRow(id="s", agent="a", cwd="/", title="", status="idle", created_at=0, updated_at=0, summary=b"{}",
                     checkpoint=b"{}", checkpoint_seq=0)
    if batch:
        await journal.append(Group({"s": batch}, {"s": row}))
        feed.committed(batch, size(batch))
    return feed


def messages(page: StoredPackets) -> list[Message]:
    return [(stored.seq, json.loads(bytes(stored.packet))) for stored in page.messages]


def expected(story: Story) -> list[tuple[int, str, str]]:
    """The last seq, type and text of every message by the plain rule, one entry after the other."""
    found: list[tuple[int, str, str]] = []
    for seq, (kind, text, starts) in enumerate(story, 1):
        if kind == "silent":
            continue
        if found and kind != "packet" and not starts and found[-1][1] == kind:
            found[-1] = (seq, kind, found[-1][2] + text)
        else:
            found.append((seq, "prompt_response" if kind == "packet" else kind, text))
    return found


def shape(found: list[Message]) -> list[tuple[int, str, str]]:
    return [(seq, packet["type"], packet.get("content", {}).get("text", "")) for seq, packet in found]


async def forwards(feed: Feed, limit: int) -> list[Message]:
    found: list[Message] = []
    after: int | None = 0
    while after is not None:
        page = await page_after(feed, after, None, limit)
        assert len(page.messages) <= limit
        found += messages(page)
        after = page.next_after
    return found


async def backwards(feed: Feed, limit: int) -> list[Message]:
    found: list[Message] = []
    before: int | None = feed.last_seq + 1
    while before is not None:
        page = await page_before(feed, before, limit)
        assert len(page.messages) <= limit
        found = messages(page) + found
        before = page.next_before
    return found


@settings(max_examples=examples(20), deadline=None)
@given(story=STORIES, limit=st.integers(1, 20))
def test_pages_of_any_size_in_both_directions_add_up_to_the_same_messages(story: Story, limit: int) -> None:
    async def check() -> None:
        feed = await feed_of(story)
        forward = await forwards(feed, limit)
        assert forward == await backwards(feed, limit)
        assert shape(forward) == expected(story)

    run(check())


def test_a_cursor_that_points_into_a_run_gets_the_rest_of_it() -> None:
    async def check() -> None:
        feed = await feed_of([("agent_message_chunk", letter, False) for letter in "abcdef"])
        assert shape(messages(await page_after(feed, 2, None, 5))) == [(6, "agent_message_chunk", "cdef")]
        assert shape(messages(await page_before(feed, 4, 5))) == [(3, "agent_message_chunk", "abc")]
        assert (await page_after(feed, 2, None, 5)).next_before == 3
        assert (await page_before(feed, 4, 5)).next_after == 3

    run(check())
