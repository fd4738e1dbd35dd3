"""What deleted sessions left in the streams, removed with the admin's key.

Rule 1: only what stands before an end. That is the last message of its session, as the leader has it, and no message before it is
        of a later epoch: such a session has no owner, and gets none (``shipping/claim.py``). So it is safe beside owners.
Rule 2: the end itself stays (``shipping/removing.py``), and a sweep that was cut off is done by the next one.
Rule 3: a row that its owner left behind goes too, where it says nothing newer than the end.
"""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.last_mark import mark_or_none
from trunkline.cluster.shipping.removing import Place, erase, is_on_one, messages_at, places_of, purge
from trunkline.cluster.tables.keys import Keys
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Conflict, Invalid, NodeAway

log = logging.getLogger("trunkline.cluster")


class Swept(msgspec.Struct, frozen=True, kw_only=True):
    """What was removed of one session."""

    session: str
    pool: str
    erased: int = 0
    """Messages that were overwritten in the server's files."""
    purged: int = 0
    """Messages that were taken out; their bytes stay in the servers' files until those are written anew."""


class _Row(msgspec.Struct):
    epoch: int


_row: Final = decoders.of(_Row)
_Session = tuple[str, str]
"""Pool and id."""


async def sweep(connection: Connection) -> list[Swept]:
    """Remove what ended sessions left; ClusterDenied where the key may not."""
    journals = await _subjects(connection, subjects.JOURNAL, subjects.ALL_JOURNALS)
    beside = {subjects.session_of(subject) for stream, topics in ((subjects.PARTS, "tl.b.>"), (subjects.CHECKPOINTS, "tl.k.>"))
              for subject in await _subjects(connection, stream, topics)}
    rows = {_session_of_row(subject) for subject in
            await _subjects(connection, subjects.bucket_stream(subjects.SESSIONS), subjects.key(subjects.SESSIONS, ">"))}
    on_one = await is_on_one(connection)
    done: list[Swept] = []
    for subject, count in journals.items():
        session = subjects.session_of(subject)
        if count > 1 or session in beside or session in rows:
            try:
                swept = await _sweep(connection, session, on_one=on_one)
            except (Invalid, NodeAway) as error:  # what one session has in it holds up no other's
                log.error("session %s is left as it is: %s", session[1], error.message)
                continue
            if swept is not None and swept.erased + swept.purged:
                done.append(swept)
    return done


async def _sweep(connection: Connection, session: _Session, *, on_one: bool) -> Swept | None:
    """One session; None where it is not at its end."""
    pool, session_id = session
    found = await jetstream.last_message(connection, subjects.JOURNAL, subjects.journal(pool, session_id))
    mark = None if found is None else mark_or_none(found.headers)
    if found is None or mark is None or mark.kind != wire.END:
        return None
    places = places_of(pool, session_id, found.seq)
    if await _has_later_epoch(connection, places[-1], mark.epoch):
        log.error("session %s ends in epoch %d, and has messages of a later one: it is left as it is", session_id, mark.epoch)
        return None
    await _drop_row(connection, session, mark.epoch)
    removed = [await (erase if on_one else purge)(connection, place) for place in places]
    return Swept(session=session_id, pool=pool, **{"erased" if on_one else "purged": sum(removed)})


async def _has_later_epoch(connection: Connection, place: Place, epoch: int) -> bool:
    async for message in messages_at(connection, place):
        mark = mark_or_none(message.headers)
        if mark is not None and mark.epoch > epoch:
            return True
    return False


async def _drop_row(connection: Connection, session: _Session, epoch: int) -> None:
    keys, key = Keys(connection, subjects.SESSIONS), subjects.session_key(*session)
    found = await keys.read(key)
    if found is None:
        return
    try:
        is_newer = _row.decode(found.value).epoch > epoch
        if not is_newer:
            await keys.take(key, found.revision)
    except (*BROKEN, Conflict) as error:
        log.info("the row of session %s is left: %s", session[1], error)


async def _subjects(connection: Connection, stream: str, topics: str) -> dict[str, int]:
    """The subjects that a stream has messages of, and how many."""
    found: dict[str, int] = {}
    while True:
        asked = {"subjects_filter": topics, "offset": len(found)}
        answer = jetstream.accepted(await jetstream.ask(connection, f"STREAM.INFO.{stream}", asked), stream)
        page = answer["state"].get("subjects") or {}
        found |= page
        if not page or len(found) >= answer.get("total", 0):
            return found


def _session_of_row(subject: str) -> _Session:
    pool, _, session_id = subjects.key_of(subjects.SESSIONS, subject).partition(".")
    return pool, session_id
