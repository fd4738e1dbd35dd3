"""The context face over HTTP: events as streams and by the page, commands.

Rule 1: one event, one seq, one id. A reader that was cut anywhere goes on after the last id it saw, with the same filter or
another one.
Rule 2: the stream of the whole hub has ``pos`` for its ids. In a cluster that is a place in one generation of its stream: who
comes with one of another gets ``event: gap``, and goes on at the end.
Rule 3: a filter costs its own reader only; readers without one share their bytes.
Rule 4: a page holds events and not their entries: what an event was made of may be a thousand times as long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from trunkline.dialects.context.commands import decode_command_envelope
from trunkline.dialects.context.filters import TypeFilter, parse_types
from trunkline.errors import TrunklineError
from trunkline.feeds.hub import HubFeed, HubGroup, Placed
from trunkline.feeds.session import WRITE_BYTES, Feed, Write
from trunkline.journal.base import Entry
from trunkline.server.auth.credentials import check_scope
from trunkline.server.auth.scopes import command_scope
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.context.joining import JOINED_SCAN_MOST, EventRuns
from trunkline.server.live import LiveHubReader
from trunkline.server.lost import lost_entry
from trunkline.server.openapi import error_body
from trunkline.server.paging import runs_after, runs_before
from trunkline.server.sse import EventStream, Outlet, Pump, Watches, follow, sse_frame
from trunkline.session.commands.refused import check_id, id_in

PAGE_MOST = 5_000
PAGE_DEFAULT = 500
PAGE_BYTES = 4 << 20
SCANNED_MOST = 20_000
"""Entries that one request looks through for a filter; the next one goes on from there."""


_encode = msgspec.json.Encoder().encode


class EventPage(msgspec.Struct, rename="camel"):
    """A page of events. ``nextAfter`` is the cursor of the next page, null at the end; a page that was filtered may be empty
    and still have one. ``nextBefore`` is the cursor of the page before, null at the beginning."""

    events: list[msgspec.Raw]
    next_after: int | None
    next_before: int | None
    last_seq: int


class CommandDone(msgspec.Struct, rename="camel"):
    """A command was carried out: its own id, and what came of it."""

    id: str | None
    result: dict[str, Any]
    ok: bool = True


async def session_events(call: HttpCall) -> Reply:
    """Every event of a session after the cursor, then live."""
    session = await call.shown()
    place = await call.place_in(session.feed)
    wanted = parse_types(call.text("types"))

    async def pump(outlet: Outlet) -> None:
        if place.lost is not None:
            await outlet.write(sse_frame(place.after, lost_entry(session.id, place).event))
        await follow_session(session.feed, place.after, wanted, outlet)

    return _stream(call, pump,
                   lambda session_id, event_type: session_id == session.id and wanted.matches(event_type))


async def hub_events(call: HttpCall) -> Reply:
    """Every event of all sessions after the cursor; without a cursor, from now on."""
    feed = await call.parts.sight.whole()
    in_cluster = call.parts.cluster is not None  # places of another generation, or of another node, are no mistake there
    asked = call.cursor(sys.maxsize if in_cluster else feed.last_pos, default=feed.last_pos)
    wanted = parse_types(call.text("types"))
    goes_on = await feed.reaches(asked)
    after = asked if goes_on else feed.last_pos

    async def pump(outlet: Outlet) -> None:
        if not goes_on:
            await outlet.write(b'event: gap\nid: %d\ndata: {"from":%d,"seq":%d}\n\n' % (after, asked, after))
        elif after == feed.last_pos:
            # Who did not say where to begin gets it, to have a place to come back to before the first event.
            await outlet.write(b"id: %d\n\n" % after)
        await follow_hub(feed, after, wanted, outlet)

    return _stream(call, pump, lambda session_id, event_type: wanted.matches(event_type))


async def history(call: HttpCall) -> Reply:
    """A page of events: the first after ``after``, or, with only ``before``, the last before it."""
    feed = (await call.shown()).feed
    after, before = call.integer("after"), call.integer("before", least=1)
    limit = call.integer("limit", PAGE_DEFAULT, least=1, most=PAGE_MOST)
    wanted = parse_types(call.text("types"))
    if call.flag("joined"):
        return reply(await _joined_page(feed, after, before, limit, wanted))
    if before is not None and after is None:
        return reply(await page_before(feed, before, limit, wanted))
    return reply(await page_after(feed, after or 0, before, limit, wanted))


async def command(call: HttpCall) -> Reply:
    """Carry out a command; the same id twice is carried out once."""
    session = await call.session()
    body = b""
    try:
        body = await call.raw_body()
        envelope = decode_command_envelope(body)
        check_scope(call.caller, command_scope(envelope.command, session.fold))
        command_id = None if envelope.id is msgspec.UNSET else check_id(envelope.id)
    except TrunklineError as error:
        await session.refused(body, error, command_id=id_in(body), by=call.caller.name)
        raise
    outcome = await session.execute(envelope.command, command_id=command_id, by=call.caller.name)
    return reply(CommandDone(outcome.id, outcome.result))


async def command_refused(call: HttpCall, error: TrunklineError) -> None:
    """Write down a command whose sender may send none."""
    try:
        session = await call.session()
        body = await call.raw_body()
    except TrunklineError:
        return  # there is nothing to write, or nowhere to write it; its sender learns that it may not
    await session.refused(body, error, command_id=id_in(body), by=call.caller.name)


async def follow_session(feed: Feed, after: int, wanted: TypeFilter, outlet: Outlet) -> None:
    """Replay after ``after``, then live, until the feed ends."""
    if wanted.everything:
        await follow(feed, after, event_frames, outlet)
        return

    def wanted_frames(entries: Iterator[Entry], after: int) -> Write:
        return event_frames(entries, after, wanted)

    outlet.leaves_out = True
    await follow(feed, after, wanted_frames, outlet, shares=False)


def event_frames(entries: Iterator[Entry], after: int, wanted: TypeFilter | None = None) -> Write:
    """The next write of whoever reads events behind ``after``."""
    frames: list[bytes] = []
    size = 0
    position = after
    for entry in entries:
        position = entry.seq
        if wanted is not None and not wanted.matches_encoded(entry.event):
            continue
        frames.append(sse_frame(position, entry.event))
        size += len(entry.event)
        if size >= WRITE_BYTES:
            break
    return b"".join(frames), position


async def follow_hub(feed: HubFeed, after: int, wanted: TypeFilter, outlet: Outlet) -> None:
    """The same for all sessions; the ids are pos."""
    position = outlet.position = after
    outlet.leaves_out = not wanted.everything
    kind = f"sse {wanted.text()}"

    def write(group: HubGroup) -> bool:
        if group.size > WRITE_BYTES:
            return False
        frames = feed.shared((kind, group.first_pos), lambda: hub_frames(group.entries(), wanted))
        if frames and not outlet.write_now(frames):
            return False
        outlet.position = group.last_pos
        return True

    while not feed.closed:
        if position >= feed.last_pos:
            position = outlet.position = await LiveHubReader(feed, write).ended()
            continue
        newest = feed.last_pos
        found = await feed.read(after=position)
        frames = hub_frames(found, wanted)
        # What was deleted meanwhile is not found, and not waited for either.
        position = outlet.position = found[-1][1].pos if found else max(position, newest)
        found = []  # a reader that stalls must not hold the entries' bodies
        if frames:
            await outlet.write(frames)


def hub_frames(found: Iterable[Placed], wanted: TypeFilter) -> bytes:
    """The frames of entries of any session."""
    return b"".join([sse_frame(entry.pos, entry.event) for _, entry in found if wanted.matches_encoded(entry.event)])


async def page_after(feed: Feed, after: int, before: int | None, limit: int, wanted: TypeFilter) -> EventPage:
    """The first events after a cursor."""
    page: list[bytes] = []
    size = scanned = 0
    position = after
    while entries := await feed.read(after=position, before=before):
        for entry in entries:
            if wanted.matches_encoded(entry.event):
                if len(page) == limit or (page and size + len(entry.event) > PAGE_BYTES):
                    return _page(feed, page, position, after)
                page.append(entry.event)
                size += len(entry.event)
            position = entry.seq
        scanned += len(entries)
        if scanned >= SCANNED_MOST:
            return _page(feed, page, position, after)
    return _page(feed, page, None, after)


async def page_before(feed: Feed, before: int, limit: int, wanted: TypeFilter) -> EventPage:
    """The last events before a cursor, found by looking back, a stretch at a time."""
    page: list[bytes] = []
    size = 0
    end = before = min(before, feed.last_seq + 1)
    while before - end < SCANNED_MOST and (entries := await feed.read_back(before=end)):
        for entry in reversed(entries):
            if wanted.matches_encoded(entry.event):
                if len(page) == limit or (page and size + len(entry.event) > PAGE_BYTES):
                    return _page_back(feed, page, before, end)
                page.append(entry.event)
                size += len(entry.event)
            end = entry.seq
    return _page_back(feed, page, before, end)


async def _joined_page(feed: Feed, after: int | None, before: int | None, limit: int, wanted: TypeFilter) -> EventPage:
    """The same, with runs of deltas joined."""
    if before is not None and after is None:
        before = min(before, feed.last_seq + 1)
        found = await runs_before(feed, before, limit, EventRuns(wanted), scan_most=JOINED_SCAN_MOST)
        return EventPage([run.event() for run in found.runs], before - 1 if before <= feed.last_seq else None,
                         found.position if found.more else None, feed.last_seq)
    found = await runs_after(feed, after or 0, before, limit, EventRuns(wanted), scan_most=JOINED_SCAN_MOST)
    return EventPage([run.event() for run in found.runs], found.position if found.more else None,
                     after + 1 if after else None, feed.last_seq)


def _page(feed: Feed, page: list[bytes], next_after: int | None, after: int) -> EventPage:
    more = next_after is not None and next_after < feed.last_seq
    return EventPage(_raw(page), next_after if more else None, after + 1 if after else None, feed.last_seq)


def _page_back(feed: Feed, page: list[bytes], before: int, start: int) -> EventPage:
    return EventPage(events=_raw(page[::-1]), next_after=before - 1 if before <= feed.last_seq else None,
                     next_before=start if start > 1 else None, last_seq=feed.last_seq)


def _raw(page: list[bytes]) -> list[msgspec.Raw]:
    return [msgspec.Raw(event) for event in page]


def _stream(call: HttpCall, pump: Pump, watches: Watches) -> EventStream:
    return EventStream(pump, call.parts.streams, _failure, token_id=call.caller.token_id,
                       keepalive_s=call.parts.options.keepalive_s, watches=watches)


def _failure(error: TrunklineError) -> bytes:
    """An error in a stream of events. It is no event: it has no id, and its type is none of theirs."""
    return b'event: message\ndata: {"type":"error",%b\n\n' % _encode(error_body(error))[1:]
