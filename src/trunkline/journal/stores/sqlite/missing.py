"""Whether something is missing: groups go into the database or into a log beside it, and together they have every pos.

A machine that dies may keep the end of the one and not of the other, and a damaged record is passed over. A session would go on
behind such a hole as if nothing had been there. But a pos is given to each entry, one after the other; so what is missing shows.

Rule 1: above the pos that the last fold noted (``folded``), every pos up to the newest is in a block, a row of ``recent`` or a
record of the log. Below it, what is missing was deleted.
Rule 2: the note carries a check of its own: a wrong one would hide entries. It is there while logs are written, and goes when a
journal is closed in order; a version that knows of no logs leaves none.
"""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from trunkline.errors import JournalDamaged
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.block import (
    POS_SPAN,
    UNREADABLE,
    decode,
    decode_parts,
    is_whole,
    stored_block,
    sum_of_parts,
)
from trunkline.journal.stores.sqlite.database import load_queries
from trunkline.journal.stores.sqlite.group_log import LogRecord, read_logs

_CHECK_BITS = 16
FOLDED_MOST = 1 << (63 - _CHECK_BITS)
"""The highest pos that can be noted so: four hundred years of ten thousand entries a second."""

ORIGIN_MOST = 0xFFFFFFFE
"""The highest number that tells the logs of one journal from those of others."""

FOREIGN = "a log beside it is of another journal"

logger = logging.getLogger(__name__)

Parts = dict[str, list[Entry]]
Span = tuple[int, int]


class Unfolded(msgspec.Struct):
    """What the logs hold that blocks do not."""

    folded: int | None
    """How far the last fold came; None where it is not noted."""
    newest: int = 0
    """The highest pos in any record, of the past too."""
    parts: list[tuple[Parts, int]] = []
    """The groups behind it, with their sizes, in pos order."""
    spans: list[Span] = []
    foreign: int = 0
    """Records of another journal's."""


def folded_value(pos: int) -> int:
    """How a pos is noted."""
    return pos << _CHECK_BITS | zlib.crc32(pos.to_bytes(8, "little")) & (1 << _CHECK_BITS) - 1


def folded_of(value: object) -> int:
    """The pos that was noted; JournalDamaged where that is another number."""
    if isinstance(value, int) and value >= 0 and folded_value(value >> _CHECK_BITS) == value:
        return value >> _CHECK_BITS
    raise JournalDamaged("how far it is folded does not fit its checksum")


def origin_of(row: tuple[object, ...] | None) -> int | None:
    """Which journal this is, as its counters say; None where they do not: then every log is taken for its own."""
    return row[0] if row is not None and isinstance(row[0], int) and 0 < row[0] <= ORIGIN_MOST + 1 else None


def unfolded(connection: sqlite3.Connection, queries: dict[str, str], records: list[LogRecord]) -> Unfolded:
    """What these records hold that is not in blocks."""
    row = connection.execute(queries["folded"]).fetchone()
    found = Unfolded(folded_of(row[0]) if row is not None else None)
    origin = origin_of(connection.execute(queries["origin"]).fetchone())
    for record in records:
        if origin not in (None, record.origin):
            found.foreign += 1
            continue
        found.newest = max(found.newest, record.last_pos)
        if record.last_pos <= (found.folded or 0):
            continue
        try:
            found.parts.append((decode_parts(record.body), len(record.body)))
        except UNREADABLE:
            continue  # it is missing, then
        found.spans.append((record.first_pos, record.last_pos))
    return found


def first_missing(connection: sqlite3.Connection, queries: dict[str, str], logged: Unfolded,
                  recent: Iterable[Parts]) -> int | None:
    """The first pos that nothing holds though something holds a later one; None where there is none."""
    if logged.folded is None:
        return min((first for first, _ in logged.spans), default=None)
    wanted = logged.folded + 1
    spans = [*logged.spans, *map(span_of, recent), *_spans_of_blocks(connection, queries, logged.folded)]
    for first, last in sorted(spans):
        if first > wanted:
            return wanted
        wanted = max(wanted, last + 1)
    return None


class Held(NamedTuple):
    """What is not in blocks, as who reads from outside finds it."""

    parts: list[Parts]
    newest: int
    """The highest pos of all."""
    missing: int | None
    foreign: int = 0


def held_beside(connection: sqlite3.Connection, path: Path) -> Held:
    """What the logs and ``recent`` hold. A hub that runs may be writing: the logs are read first, and a pos that is missing may
    be one that came in between."""
    queries = load_queries()
    records = read_logs(path)
    connection.execute(queries["snapshot"])
    try:
        logged = unfolded(connection, queries, records)
        parts = list(_recent_parts(connection, queries))
        newest = connection.execute(queries["last_pos"], {"span": POS_SPAN}).fetchone()[0]
        missing = first_missing(connection, queries, logged, parts)
    finally:
        connection.rollback()
    spans = [*logged.spans, *map(span_of, parts)]
    newest = max([newest, *(last for _, last in spans)])
    return Held([*parts, *(part for part, _ in logged.parts)], newest, missing, logged.foreign)


def _recent_parts(connection: sqlite3.Connection, queries: dict[str, str]) -> Iterator[Parts]:
    for first_pos, body, crc in connection.execute(queries["all_recent"]):
        if isinstance(body, bytes) and (crc is None or crc == sum_of_parts(first_pos, body)):
            with suppress(*UNREADABLE):
                yield decode_parts(body)
                continue
        logger.error("the journal is damaged: the group at %d cannot be read; see `trunkline journal verify`", first_pos)


def span_of(parts: Parts) -> Span:
    """The first and the last pos of a group's small parts."""
    places = [entry.pos for entries in parts.values() for entry in (entries[:1] + entries[-1:])]
    return (min(places), max(places)) if places else (0, 0)


def _spans_of_blocks(connection: sqlite3.Connection, queries: dict[str, str], folded: int) -> Iterator[Span]:
    for row in connection.execute(queries["places_behind"], {"after": folded, "span": POS_SPAN}).fetchall():
        if not all(isinstance(value, int) for value in row):
            continue
        first_pos, last_pos, first_seq, last_seq = row
        if last_pos - first_pos == last_seq - first_seq:  # as it was committed
            yield first_pos, last_pos
            continue
        block = stored_block(connection.execute(queries["block"], (first_pos,)).fetchone())
        if not is_whole(block):
            yield first_pos, last_pos  # a gap to readers, and told as one
            continue
        yield from ((entry.pos, entry.pos) for entry in decode(block.body))
