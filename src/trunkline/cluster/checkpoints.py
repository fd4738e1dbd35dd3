"""The state of a session at its last rest, beside its entries: whoever opens it elsewhere need not read all of it.

Rule 1: a checkpoint says up to which entry it goes. The steps of the entries behind that, in the stream, bring it up to date.
Rule 2: it is a help, never needed: one that is too large or was never written is made again from the entries.
"""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.errors import ClusterUnavailable, Invalid, NodeAway, NodeSilent
from trunkline.journal.base import SessionRow
from trunkline.session.fold import IS_OPEN
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

LARGEST: Final = 900 << 10
"""A server's default limit is 1 MiB a message."""
PLAIN_MOST: Final = 64 << 20
_packing: Final = Lane(1)


class Checkpoint(msgspec.Struct, frozen=True):
    """A session's fold, as it was after ``seq``."""

    epoch: int
    seq: int
    body: bytes


async def store_checkpoint(connection: Connection, pool: str, row: SessionRow, epoch: int) -> None:
    """Put a session's checkpoint beside its entries, where its turn is over."""
    if row.status in IS_OPEN or not row.checkpoint_seq:
        return
    body = await _packing.run(wire.pack, row.checkpoint)
    if len(body) > LARGEST:
        return
    headers = {wire.V: str(wire.VERSION), wire.EPOCH: str(epoch), wire.SEQ: f"{row.checkpoint_seq}-{row.checkpoint_seq}"}
    try:
        await jetstream.publish(connection, subjects.checkpoint(pool, row.id), body, headers)
    except (ClusterUnavailable, NodeAway, NodeSilent) as error:
        log.info("the checkpoint of session %s was not stored: %s", row.id, error.message)


async def read_checkpoint(connection: Connection, pool: str, session_id: str) -> Checkpoint | None:
    """The last checkpoint of a session; None where there is none that can be read."""
    found = await jetstream.last_message(connection, subjects.CHECKPOINTS, subjects.checkpoint(pool, session_id))
    if found is None:
        return None
    try:
        mark = wire.read_mark(found.headers)
        return Checkpoint(mark.epoch, mark.last, wire.unpack(found.data, PLAIN_MOST))
    except Invalid as error:
        log.error("the checkpoint of session %s cannot be read: %s", session_id, error.message)
        return None
