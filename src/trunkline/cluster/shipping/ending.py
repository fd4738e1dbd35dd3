"""A session that was deleted here leaves the cluster: its messages are erased where that can be done, and taken out in any case.

    erased   its bytes are overwritten in the server's files, message by message
    purged   no reader finds it any more; its bytes stay in the servers' files until those are written anew

Rule 1: it is taken out by messages on the session's own subjects, so that a node's key can end its own sessions and no others. To
        erase, a key must be allowed to delete from the whole stream: those that ``cluster init --print-config`` makes are not.
Rule 2: first its end is written, under the fence: from then on nobody claims it. What is erased is erased before it is taken out:
        afterwards nobody can name it.
Rule 3: only one server is told to erase. Of three each keeps a log beside, in which the bytes stay
        (``tests/cluster/test_facts.py``).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Final

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal
from trunkline.cluster.shipping import verdict
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.verdict import Moved
from trunkline.cluster.streams import info
from trunkline.errors import ClusterDenied, ClusterUnavailable, TrunklineError
from trunkline.hub.shapes import Removed

ROLLUP = "Nats-Rollup"
TRIES = 5
PAGE: Final = 256
PAGE_BYTES: Final = 1 << 20
NO_KEY: Final = "this node's key may not erase from the cluster's streams"
THREE: Final = "servers of a cluster keep logs beside their files, in which the bytes stay for a while"


async def remove_session(connection: Connection, pool: str, row: ShippedRow, large: Iterable[int], *, may_erase: bool = True
                         ) -> Removed:
    """Erase and take out what the cluster has of a session; ``large`` are its entries that are in parts. ``may_erase``: the
    node's key is not known to forbid it. ClusterUnavailable where it could not be taken out."""
    ended = await _end(connection, pool, row, "deleted", row.stream_seq)
    if ended is None:
        return Removed(why="another node has the session by now: it was left there")
    beside = [(subjects.PARTS, subjects.parts(pool, row.session, seq)) for seq in large]
    beside.append((subjects.CHECKPOINTS, subjects.checkpoint(pool, row.session)))
    places = [*beside, (subjects.JOURNAL, subjects.journal(pool, row.session))]
    erased, why = await _erased(connection, places, ended) if may_erase else (0, NO_KEY)
    await _end(connection, pool, row, "deleted", ended, whole=True)
    for stream, subject in beside:
        rolled = {} if stream == subjects.CHECKPOINTS else {ROLLUP: "sub"}  # of checkpoints only the last is kept
        headers = {jetstream.EXPECTED_STREAM: stream, **rolled}
        jetstream.accepted(await jetstream.publish(connection, subject, b"", headers), subject)
    return Removed(erased=erased, purged=bool(why), why=why)


async def _end(connection: Connection, pool: str, row: ShippedRow, why: str, fence: int, *, whole: bool = False) -> int | None:
    """Write a session's end, in place of all that is there (``whole``) or behind it; its number, None where another node has the
    session by now."""
    body, headers = wire.end_message(wire.End(epoch=row.epoch, owner=connection.node, after=row.seq, why=why))
    subject = subjects.journal(pool, row.session)
    headers |= {jetstream.EXPECTED_STREAM: subjects.JOURNAL, **({ROLLUP: "sub"} if whole else {})}
    for _ in range(TRIES):
        answer = await jetstream.publish(connection, subject, body, {**headers, jetstream.FENCE: str(fence)})
        if not isinstance(answer, Refusal):
            return answer.seq
        moved = verdict.of_answer(answer, row.seq)
        found = await jetstream.last_near(connection, subjects.JOURNAL, subject) if isinstance(moved, Moved) else None
        if found is not None:
            if wire.read_mark(found.headers).epoch > row.epoch:
                return None
            fence = found.seq
    raise ClusterUnavailable(f"session {row.session} could not be taken out of the cluster's stream")


async def _erased(connection: Connection, places: list[tuple[str, str]], ended: int) -> tuple[int, str]:
    """Erase all messages of these subjects but the session's end; how many, and why not all."""
    count = 0
    try:
        if (await info(connection, subjects.JOURNAL))["config"]["num_replicas"] > 1:
            return 0, THREE
        for stream, subject in places:
            async for seq in _numbers(connection, stream, subject):
                if (stream, seq) == (subjects.JOURNAL, ended):
                    continue
                jetstream.accepted(await jetstream.ask(connection, f"STREAM.MSG.DELETE.{stream}", {"seq": seq}), subject)
                count += 1
        return count, ""
    except ClusterDenied:
        return count, NO_KEY
    except TrunklineError as error:
        return count, error.message


async def _numbers(connection: Connection, stream: str, subject: str) -> AsyncGenerator[int, None]:
    """The number of every message of a subject."""
    from_seq = 1
    while True:
        page = await jetstream.read_page(connection, stream, subject, from_seq=from_seq, batch=PAGE, max_bytes=PAGE_BYTES)
        for message in page.messages:
            yield message.seq
        if not page.messages or not page.more:
            return
        from_seq = page.messages[-1].seq + 1
