"""Where a session stands: the last of its messages that says so.

A message of a kind that a newer version writes may name no entries, and who has the key of a pool may put anything behind a
session of it. Neither must hide what stands before.

Rule 1: each message of an owner names the one before it, by its fence. What says nothing is passed over by that, a few times.
Rule 2: a message that can be read and is the end is the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import ClusterDenied, Invalid

BACK_MOST: Final = 16


async def last_mark(connection: Connection, found: Stored) -> wire.Mark:
    """The mark of a session whose last message is ``found``; Invalid where neither that nor one before it has one."""
    message: Stored | None = found
    read: wire.Mark | None = None
    for _ in range(BACK_MOST):
        if message is None:
            break
        mark = mark_or_none(message.headers)
        if mark is not None and (mark.last or mark.after is not None or mark.kind == wire.END):
            return mark
        read = read or mark
        message = await _before(connection, message)
    return read or wire.read_mark(found.headers)


def mark_or_none(headers: Mapping[str, str]) -> wire.Mark | None:
    """The mark of a message; None where it is none of ours."""
    try:
        return wire.read_mark(headers)
    except Invalid:
        return None


async def _before(connection: Connection, message: Stored) -> Stored | None:
    fence = message.headers.get(jetstream.FENCE, "")
    if not is_whole_number(fence) or not 0 < int(fence) < message.seq:
        return None
    try:
        page = await jetstream.read_page(connection, subjects.JOURNAL, message.subject, from_seq=int(fence), batch=1, max_bytes=1)
    except ClusterDenied:
        return None  # a runner reads the last message only
    return page.messages[0] if page.messages and page.messages[0].seq < message.seq else None
