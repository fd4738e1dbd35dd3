"""Where a session stands though its last message says nothing of that: who has a key of its pool can put anything there.

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


async def last_readable(connection: Connection, subject: str, *, from_seq: int = 1) -> wire.Mark | None:
    """The mark of the last message of a session, from a number on, that has one."""
    last: wire.Mark | None = None
    async for message in messages_at(connection, Place(subjects.JOURNAL, subject), from_seq=from_seq):
        last = readable(message.headers) or last
    return last
