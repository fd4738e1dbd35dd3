"""The context face over HTTP: events as streams and by the page, commands.

Rule 1: one event, one seq, one id. A reader that was cut anywhere goes on after the last id it saw, with the same filter or
another one.
Rule 2: the stream of the whole hub has ``pos`` for its ids.
Rule 3: a filter costs its own reader only; readers without one share their bytes.
Rule 4: a page holds events and not their entries: what an event was made of may be a thousand times as long.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.context.commands import decode_command_envelope
from trunkline.dialects.context.filters import TypeFilter, parse_types
from trunkline.errors import TrunklineError
from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import Feed, packet_frame
from trunkline.server.auth.credentials import check_scope
from trunkline.server.auth.scopes import command_scope
from trunkline.server.call import Call, Reply, reply
from trunkline.server.context.joining import joined_after, joined_before
from trunkline.server.openapi import ErrorBody
from trunkline.server.sse import EventStream, Outlet, Pump, Watches, entries_after
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


async def session_events(call: Call) -> Reply:
    """Every event of a session after the cursor, then live."""
    session = await call.session()
    after = call.cursor(session.feed.last_seq)
    wanted = parse_types(call.text("types"))

    async def pump(outlet: Outlet) -> None:
        await follow_session(session.feed, after, wanted, outlet)

    return _stream(call, pump, lambda session_id, event_type: session_id == session.id and wanted.matches(event_type))


async def hub_events(call: Call) -> Reply:
    """Every event of all sessions after the cursor; without a cursor, from now on."""
    feed = call.hub.everything
    after = call.cursor(feed.last_pos, default=feed.last_pos)
    wanted = parse_types(call.text("types"))

    async def pump(outlet: Outlet) -> None:
        if after == feed.last_pos:
            # Who did not say where to begin is told, to have a place to come back to before the first event.
            await outlet.write(b"id: %d\n\n" % after)
        await follow_hub(feed, after, wanted, outlet)

    return _stream(call, pump, lambda session_id, event_type: wanted.matches(event_type))


async def history(call: Call) -> Reply:
    """A page of events: the first after ``after``, or, with only ``before``, the last before it."""
    feed = (await call.session()).feed
    after, before = call.integer("after"), call.integer("before", least=1)
    limit = call.integer("limit", PAGE_DEFAULT, least=1, most=PAGE_MOST)
    wanted = parse_types(call.text("types"))
    if call.flag("joined"):
        return reply(await _joined_page(feed, after, before, limit, wanted))
    if before is not None and after is None:
        return reply(await page_before(feed, before, limit, wanted))
    return reply(await page_after(feed, after or 0, before, limit, wanted))


async def command(call: Call) -> Reply:
    """Carry out a command; the same id twice is carried out once."""
    session = await call.session()
    said = b""
    try:
        said = await call.raw_body()
        envelope = decode_command_envelope(said)
        check_scope(call.caller, command_scope(envelope.command, session.fold))
        command_id = None if envelope.id is msgspec.UNSET else check_id(envelope.id)
    except TrunklineError as error:
        await session.refused(said, error, command_id=id_in(said), by=call.caller.name)
        raise
    outcome = await session.execute(envelope.command, command_id=command_id, by=call.caller.name)
    return reply(CommandDone(outcome.id, outcome.result))


async def command_refused(call: Call, error: TrunklineError) -> None:
    """Write down a command whose sender may send none."""
    try:
        session = await call.session()
        said = await call.raw_body()
    except TrunklineError:
        return  # there is nothing to write, or nowhere to write it; its sender is told that it may not
    await session.refused(said, error, command_id=id_in(said), by=call.caller.name)


async def follow_session(feed: Feed, after: int, wanted: TypeFilter, outlet: Outlet) -> None:
    """Replay after ``after``, then live, until the feed ends."""
    position = outlet.position = after
    outlet.leaves_out = not wanted.everything
    while True:
        if feed.last_seq <= position:
            if feed.closed:
                return
            await feed.wait(position)
        frames, position = await _next_frames(feed, position, wanted)
        outlet.position = position
        if frames:
            await outlet.write(frames)


async def follow_hub(feed: HubFeed, after: int, wanted: TypeFilter, outlet: Outlet) -> None:
    """The same for all sessions; the ids are pos."""
    position = outlet.position = after
    outlet.leaves_out = not wanted.everything
    while not feed.closed:
        await feed.wait(position)
        newest = feed.last_pos
        found = await feed.read(after=position)
        frames = b"".join([packet_frame(entry.pos, entry.event) for _, entry in found if wanted.matches_encoded(entry.event)])
        # What was deleted meanwhile is not found, and not waited for either.
        position = outlet.position = found[-1][1].pos if found else max(position, newest)
        found = []  # a reader that stalls must not hold the entries' bodies
        if frames:
            await outlet.write(frames)


async def _next_frames(feed: Feed, position: int, wanted: TypeFilter) -> tuple[bytes, int]:
    shared = feed.event_frames(position) if wanted.everything else None
    if shared is not None:
        return shared
    entries = await entries_after(feed, position)
    frames = b"".join([packet_frame(entry.seq, entry.event) for entry in entries if wanted.matches_encoded(entry.event)])
    return frames, entries[-1].seq if entries else position


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
        found = await joined_before(feed, before, limit, wanted)
        return EventPage(found.events, before - 1 if before <= feed.last_seq else None,
                         found.position if found.more else None, feed.last_seq)
    found = await joined_after(feed, after or 0, before, limit, wanted)
    return EventPage(found.events, found.position if found.more else None, after + 1 if after else None, feed.last_seq)


def _page(feed: Feed, page: list[bytes], next_after: int | None, after: int) -> EventPage:
    more = next_after is not None and next_after < feed.last_seq
    return EventPage(_raw(page), next_after if more else None, after + 1 if after else None, feed.last_seq)


def _page_back(feed: Feed, page: list[bytes], before: int, start: int) -> EventPage:
    return EventPage(events=_raw(page[::-1]), next_after=before - 1 if before <= feed.last_seq else None,
                     next_before=start if start > 1 else None, last_seq=feed.last_seq)


def _raw(page: list[bytes]) -> list[msgspec.Raw]:
    return [msgspec.Raw(event) for event in page]


def _stream(call: Call, pump: Pump, watches: Watches) -> EventStream:
    return EventStream(pump, call.parts.streams, token_id=call.caller.token_id, keepalive_s=call.parts.options.keepalive_s,
                       watches=watches, failure=_failure)


def _failure(error: TrunklineError) -> bytes:
    """An error in a stream of events. It is no event: it has no id, and its type is none of theirs."""
    body = ErrorBody(error.code, error.message, error.recoverable, error.details, error.agent_code)
    return b'event: message\ndata: {"type":"error",%b\n\n' % _encode(body)[1:]
