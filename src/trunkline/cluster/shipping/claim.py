"""Taking over a session: the next epoch, under the fence of the last message. Of several who try at once one wins.

Rule 1: who claims has read the session to its end: the claim names the last seq that it saw.
Rule 2: from a claim on every message of the owner before it is refused. Nothing else makes a session another node's.
"""

from __future__ import annotations

import asyncio

import msgspec

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import IN_FLIGHT, Ack
from trunkline.cluster.last_mark import last_mark
from trunkline.cluster.shipping import verdict
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.verdict import Moved
from trunkline.errors import ClusterUnavailable, Conflict, NodeSilent, SessionNotFound

TRIES = 20
LOOK_S = 0.05


class LastKnown(msgspec.Struct, frozen=True):
    """Where a session stands, as its claimer has read it."""

    epoch: int
    seq: int
    stream_seq: int


async def last_known(connection: Connection, pool: str, session_id: str) -> LastKnown:
    """Where a session stands, as the stream's leader has it; SessionNotFound where it has none, or where it was ended."""
    return (await last_marked(connection, pool, session_id))[0]


async def last_marked(connection: Connection, pool: str, session_id: str) -> tuple[LastKnown, wire.Mark]:
    """The same, with the mark of its last message."""
    found = await jetstream.last_message(connection, subjects.JOURNAL, subjects.journal(pool, session_id))
    mark = None if found is None else await last_mark(connection, found)
    if found is None or mark is None or mark.kind == wire.END:
        raise SessionNotFound(f"the cluster's stream has no session {session_id}", details={"sessionId": session_id})
    return LastKnown(mark.epoch, mark.last or mark.after or 0, found.seq), mark


async def claim(connection: Connection, pool: str, session_id: str, known: LastKnown, *, incarnation: str, why: str
                ) -> ShippedRow:
    """Make the session this node's; Conflict where it went on, or somebody else was first. The row is the new owner's."""
    wanted = wire.Claim(epoch=known.epoch + 1, owner=connection.node, incarnation=incarnation, after=known.seq, why=why)
    body, headers = wire.claim_message(wanted)
    headers |= {jetstream.EXPECTED_STREAM: subjects.JOURNAL, jetstream.FENCE: str(known.stream_seq)}
    for _ in range(TRIES):
        try:
            answer = await jetstream.publish(connection, subjects.journal(pool, session_id), body, headers)
        except NodeSilent:
            continue  # perhaps it is stored: the fence, and a look, will tell
        if isinstance(answer, Ack):
            return ShippedRow(session_id, wanted.epoch, known.seq, answer.seq, known.seq)
        if isinstance(moved := verdict.of_answer(answer, known.seq), Moved):
            return await _settled(connection, pool, session_id, wanted, moved)
        if answer.err_code != IN_FLIGHT:
            raise ClusterUnavailable(f"session {session_id} cannot be claimed: {answer.description}")
    raise NodeSilent(f"whether session {session_id} was claimed is not known: ask again")


async def _settled(connection: Connection, pool: str, session_id: str, wanted: wire.Claim, moved: Moved) -> ShippedRow:
    """The fence moved: by this very claim, or by somebody else. (A runner's key cannot ask the leader: who told the number of the
    last message is that, and a replica that shows another one is behind.)"""
    for _ in range(TRIES):
        found = await jetstream.last_near(connection, subjects.JOURNAL, subjects.journal(pool, session_id))
        if found is not None and found.seq >= moved.stream_seq:
            if wire.read_message(found.headers, found.data) == wanted:
                return ShippedRow(session_id, wanted.epoch, wanted.after, found.seq, wanted.after)
            break
        await asyncio.sleep(LOOK_S)
    raise Conflict(f"session {session_id} went on, or another node was first")
