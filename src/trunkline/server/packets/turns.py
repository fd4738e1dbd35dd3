"""One turn as a stream: from its start, which may be a queue away, to its end.

Rule 1: turns of a session are serial, so a turn is what lies between two entries: ``turn_started`` with its id, and the packet
``prompt_response`` or ``error`` whose event names it. An error in between ends nothing.
Rule 2: nothing is looked into that cannot be an end: frames for everybody pass as they are.
"""

from __future__ import annotations

import re

import msgspec

from trunkline import decoders
from trunkline.errors import NotFound
from trunkline.feeds.session import Feed
from trunkline.journal.base import Entry
from trunkline.server.live import follow_live
from trunkline.server.packets.frames import all_frames, packet_frames
from trunkline.server.sse import Outlet

TURN_END = re.compile(rb'"type":"(?:prompt_response|error)"')
"""In JSON text every quote inside a string is escaped, so this matches only real members: a cheap sieve, no verdict."""


class _Mark(msgspec.Struct, rename="camel"):
    turn_id: str | None = None


class _Event(msgspec.Struct, rename="camel"):
    """The members of an event that say where turns start and end."""

    event_name: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"{}")
    meta: _Mark | None = msgspec.field(default=None, name="_meta")


_event = decoders.of(_Event)
_mark = decoders.of(_Mark)


async def relay_turn(feed: Feed, turn_id: str, after: int, seen: int, outlet: Outlet) -> None:
    """Write the packets of one turn, from its start (which may be a queue away) to its end.

    ``seen`` is what a reader has that repeats its POST after a lost connection: it gets the rest."""
    outlet.position = after
    position = await _start_of(feed, turn_id, after, outlet)
    ended = False
    while not ended:
        frames, position, ended = await _turn_frames(feed, turn_id, position, seen)
        outlet.position = position
        if frames:
            await outlet.write(frames)
        elif not ended:
            if position >= seen and outlet.is_direct:
                await follow_live(feed, packet_frames, outlet, shares=True, stops_at=TURN_END.search)
                position = outlet.position
            if not await feed.wait(position):  # at once, where there is something that could not be written on the spot
                return


async def _start_of(feed: Feed, turn_id: str, after: int, outlet: Outlet) -> int:
    position = after
    while True:
        for entry in await feed.read(after=position):
            position = outlet.position = entry.seq
            fate = _fate_of(entry, turn_id)
            if fate == "turn_started":
                return position
            if fate == "prompt_dropped":
                raise NotFound("the prompt was taken out of the queue", details={"turnId": turn_id})
        if not await feed.wait(position):
            return position


async def _turn_frames(feed: Feed, turn_id: str, position: int, seen: int) -> tuple[bytes, int, bool]:
    shared = feed.shared(position, packet_frames) if position >= seen else None
    if shared is not None and not TURN_END.search(shared[0]):
        return *shared, False
    unseen: list[Entry] = []
    for entry in await feed.read(after=position):
        position = entry.seq
        if position > seen:
            unseen.append(entry)
        if _ends(entry, turn_id):
            return all_frames(unseen), position, True
    return all_frames(unseen), position, False


def _fate_of(entry: Entry, turn_id: str) -> str | None:
    """What became of a waiting prompt, where this entry says so."""
    if b"turn_started" not in entry.event and b"prompt_dropped" not in entry.event:
        return None
    event = _event.decode(entry.event)
    if event.event_name not in ("turn_started", "prompt_dropped"):
        return None
    return event.event_name if _mark.decode(event.data).turn_id == turn_id else None


def _ends(entry: Entry, turn_id: str) -> bool:
    if entry.packet is None or not TURN_END.search(entry.packet):
        return False
    meta = _event.decode(entry.event).meta
    return meta is not None and meta.turn_id == turn_id
