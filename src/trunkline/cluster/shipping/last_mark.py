"""Where a session stands though its last message says nothing of that: who has a key of its pool can put anything there, and a
later version may write kinds that name no entries.

Rule 1: such a message is passed over, by its owner and by everybody else, and the one before it counts.
Rule 2: JetStream reads forwards only. Who looks for the one before reads from a message that is known, or all of the session.
"""

from __future__ import annotations

from collections.abc import Mapping

from trunkline.cluster import subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.removing import Place, messages_at
from trunkline.errors import Invalid


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
    last: wire.Mark | None = None
    async for message in messages_at(connection, Place(subjects.JOURNAL, subject), from_seq=from_seq):
        last = standing(message.headers) or last
    return last
