"""Packets as Server-Sent Events: the packet of an entry, and the frames of one write.

Rule 1: one packet, one seq, one id. An entry without a packet moves the position and sends nothing.
Rule 2: an error in a stream is no entry, so it carries no id.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from trunkline.dialects.packets.derive import packet_of_update
from trunkline.dialects.packets.notices import error_packet
from trunkline.errors import SessionNotFound, TrunklineError
from trunkline.feeds.session import WRITE_BYTES, Write
from trunkline.journal.base import Entry
from trunkline.server.sse import sse_frame


def packet_of(entry: Entry) -> bytes | None:
    """The Build packet of an entry, derived where it is not stored; None where the entry has none."""
    if entry.packet is not None:
        return entry.packet
    if entry.update is None:
        return None
    return packet_of_update(entry.update, entry.at)


def packet_frames(entries: Iterator[Entry], after: int) -> Write:
    """The next write of whoever reads packets behind ``after``."""
    frames: list[bytes] = []
    size = 0
    position = after
    for entry in entries:
        position = entry.seq
        packet = entry.packet
        if packet is None:  # as ``packet_of``; once per chunk a call more is noticed, here and below
            if entry.update is None or (packet := packet_of_update(entry.update, entry.at)) is None:
                continue
        framed = b"event: message\nid: %d\ndata: %b\n\n" % (position, packet)
        frames.append(framed)
        size += len(framed)
        if size >= WRITE_BYTES:
            break
    return b"".join(frames), position


def all_frames(entries: Iterable[Entry]) -> bytes:
    """The frames of those entries that have a packet."""
    return b"".join([sse_frame(entry.seq, packet) for entry in entries if (packet := packet_of(entry)) is not None])


def failure_frame(error: TrunklineError) -> bytes:
    """An error in a stream of packets."""
    return b"event: message\ndata: %b\n\n" % error_as_packet(error)


def error_as_packet(error: TrunklineError) -> bytes:
    """An error as a packet; a session that is not there, in the words of the documents."""
    details = {**(error.details or {}), "code": error.code}
    if error.agent_code is not None:
        details["agentCode"] = error.agent_code
    message = "Session not found" if isinstance(error, SessionNotFound) else error.message
    return error_packet(message, time.time_ns() // 1000, None, details)
