"""Where a session stands though its last message says nothing of that: who has a key of its pool can put anything there, and a
later version may write kinds that name no entries.

Rule 1: such a message is passed over, by its owner and by everybody else, and the one before it counts.
Rule 2: JetStream reads forwards only. Who looks for the one before reads from a message that is known, or all of the session,
        and remembers how far that was: there may be much of it, and the next time only what came since is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trunkline.cluster import subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.removing import Place, messages_at
from trunkline.errors import Invalid


class Looked(NamedTuple):
    """What was found up to the message of a number; without a mark nothing there says where the session stands."""

    upto: int = 0
    mark: wire.Mark | None = None


def readable(headers: Mapping[str, str]) -> wire.Mark | None:
    """The mark of a message; None where it has none."""
    try:
        return wire.read_mark(headers)
    except Invalid:
        return None


def standing(headers: Mapping[str, str]) -> wire.Mark | None:
    """The same; None as well where it says nothing of where the session stands, as a kind of a later version may."""
    mark = readable(headers)
    return mark if mark is not None and (mark.last or mark.after is not None or mark.kind == wire.END) else None


async def last_standing(connection: Connection, subject: str, *, from_seq: int = 1) -> wire.Mark | None:
    """The mark of a session's last message, from a number on, that says where it stands."""
    return (await look_on(connection, subject, Looked(from_seq - 1))).mark


async def look_on(connection: Connection, subject: str, looked: Looked) -> Looked:
    """The same behind what was looked at already."""
    upto, mark = looked
    async for message in messages_at(connection, Place(subjects.JOURNAL, subject), from_seq=upto + 1):
        upto, mark = message.seq, standing(message.headers) or mark
    return Looked(upto, mark)
