"""A session that was deleted here leaves the cluster: its end is written, from which on no node shows it, and what it had is
taken out where that can be done.

    erased    its bytes are overwritten in the server's files, message by message
    purged    no reader finds it any more; its bytes stay in the servers' files until those are written anew
    unswept   it is in the streams, behind its end, until somebody with the admin's key sweeps (``sweeping.py``)

Rule 1: its end is written on the session's own subject, under the fence, so that a node's key can end its own sessions and no
        others. To take anything out, a key must be allowed to delete from the whole stream: those that ``cluster init
        --print-config`` makes for nodes are not.
Rule 2: first its end: from then on nobody claims it, and nobody shows it.
"""

from __future__ import annotations

from typing import Final

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal
from trunkline.cluster.last_mark import mark_or_none
from trunkline.cluster.shipping import verdict
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.removing import erase, is_on_one, places_of, purge
from trunkline.cluster.shipping.verdict import Moved
from trunkline.errors import ClusterDenied, ClusterUnavailable, TrunklineError
from trunkline.hub.shapes import Removed

TRIES = 5
NO_KEY: Final = "this node's key may take nothing out of the cluster's streams; trunkline cluster sweep does, with the admin's"
THREE: Final = "servers of a cluster keep logs beside their files, in which the bytes stay for a while"


async def remove_session(connection: Connection, pool: str, row: ShippedRow, *, may_erase: bool = True) -> Removed:
    """End a session for all nodes, and take out what the cluster has of it. ``may_erase``: the node's key is not known to forbid
    it. ClusterUnavailable where its end could not be written."""
    ended = await _end(connection, pool, row, "deleted")
    if ended is None:
        return Removed(why="another node has the session by now: it was left there")
    if not may_erase:
        return Removed(unswept=True, why=NO_KEY)
    places, erased = places_of(pool, row.session, ended), 0
    try:
        if not await is_on_one(connection):
            for place in places:
                await purge(connection, place)
            return Removed(purged=True, why=THREE)
        for place in places:
            erased += await erase(connection, place)
        return Removed(erased=erased)
    except ClusterDenied:
        return Removed(erased=erased, unswept=True, why=NO_KEY)
    except TrunklineError as error:
        return Removed(erased=erased, unswept=True, why=error.message)


async def _end(connection: Connection, pool: str, row: ShippedRow, why: str) -> int | None:
    """Write a session's end; its number, None where another node has the session by now."""
    body, headers = wire.end_message(wire.End(epoch=row.epoch, owner=connection.node, after=row.seq, why=why))
    subject, fence = subjects.journal(pool, row.session), row.stream_seq
    headers |= {jetstream.EXPECTED_STREAM: subjects.JOURNAL}
    for _ in range(TRIES):
        answer = await jetstream.publish(connection, subject, body, {**headers, jetstream.FENCE: str(fence)})
        if not isinstance(answer, Refusal):
            return answer.seq
        moved = verdict.of_answer(answer, row.seq)
        found = await jetstream.last_near(connection, subjects.JOURNAL, subject) if isinstance(moved, Moved) else None
        if found is not None:
            mark = mark_or_none(found.headers)
            if mark is not None and mark.epoch > row.epoch:
                return None
            if mark is not None and mark.kind == wire.END:
                return found.seq  # of an earlier try
            fence = found.seq
    raise ClusterUnavailable(f"the end of session {row.session} could not be written to the cluster's stream")
