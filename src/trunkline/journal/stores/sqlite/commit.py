"""One commit: what a group becomes in the file, planned and written.

Rule 1: a plan is made without looking at the file. Only ``write_commit`` touches it, in one transaction.
Rule 2: what a session has much of becomes blocks (block.py); the small parts of all sessions become one row of ``recent``. Where
there are small parts alone, the store offers them to the group log (group_log.py) first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.rows import row_values
from trunkline.journal.stores.sqlite.block import EntryBlock, blocks_of, encode, sum_of_parts, summed
from trunkline.journal.stores.sqlite.database import storage_errors
from trunkline.journal.stores.sqlite.large import LARGE_ENTRY, LargeBlock, large_block
from trunkline.journal.stores.sqlite.large import write as write_large

SMALL_ENTRIES = 16
_SMALL_BYTES = 8192
RECENT_ROW_BYTES = 256 * 1024
"""A session's part of a group is small with up to 16 entries: writing it once more in a fold costs less than an index page of
its own in this commit. In a row that comes out long, only parts of up to 8 KiB count as small."""


class CommitPlan(msgspec.Struct, gc=False):
    """One transaction."""

    first_pos: int
    small: dict[str, list[Entry]]
    body: bytes
    """The small parts, encoded."""
    blocks: list[EntryBlock]
    rows: dict[str, SessionRow]
    newest_pos: int
    huge: list[LargeBlock]
    logged: bool = False
    """Whether the group log took it, and not the database."""


class LastSeqs(dict[str, int]):
    """The newest seq of each session, read from the file when it is first looked up; of those in ``recent`` at once."""

    def __init__(self, path: Path, writer: sqlite3.Connection, query: str, recent: Mapping[str, int]) -> None:
        self._path, self._writer, self._query = path, writer, query
        super().__init__({session_id: max(last_seq, self._stored(session_id)) for session_id, last_seq in recent.items()})

    def __missing__(self, session_id: str) -> int:
        last_seq = self[session_id] = self._stored(session_id)
        return last_seq

    def _stored(self, session_id: str) -> int:
        with storage_errors(self._path, "read"):
            row = self._writer.execute(self._query, (session_id,)).fetchone()
        return row[0] if row else 0


def plan_small(group: Group, pos: int, known: LastSeqs) -> CommitPlan | None:
    """The plan of a group that needs no table, as nearly all are, in one pass; None for every other one, and for one that does
    not follow what is there: ``plan_commit`` looks closer."""
    parts = group.entries
    if group.rows or not parts or not group.sizes or sum(group.sizes.values()) > RECENT_ROW_BYTES:
        return None
    newest = pos
    for session_id, entries in parts.items():
        count = len(entries)
        if not 0 < count <= SMALL_ENTRIES:
            return None
        first = entries[0].seq
        if first <= known[session_id] or entries[-1].seq - first < count - 1:
            return None
        for entry in entries:
            newest += 1
            entry.pos = newest
    body = encode(parts)
    return CommitPlan(pos + 1, parts, body, [], {}, newest, []) if len(body) <= RECENT_ROW_BYTES else None


def plan_commit(group: Group, pos: int, small_bytes: int | None) -> CommitPlan:
    """What the transaction will write after ``pos``: small parts in one row, other parts as blocks, each entry with its pos. A
    part over ``small_bytes`` is a block without a try: of many megabytes that would be a copy in vain."""
    small = group.entries
    large: dict[str, list[Entry]] = {}
    for session_id, entries in small.items():
        if len(entries) > SMALL_ENTRIES or not entries or (small_bytes is not None and _size(entries) > small_bytes):
            large[session_id] = entries
    if large:
        small = {session_id: entries for session_id, entries in small.items() if session_id not in large}
    newest_small = _number(small, pos)
    body = encode(small) if small else b""
    if len(body) > RECENT_ROW_BYTES:
        large |= {session_id: entries for session_id, entries in small.items() if _size(entries) > _SMALL_BYTES}
        small = {session_id: entries for session_id, entries in small.items() if session_id not in large}
        newest_small = _number(small, pos)
        body = encode(small) if small else b""
    if not large:  # as nearly always
        return CommitPlan(pos + 1, small, body, [], group.rows, newest_small, [])
    newest = _number(large, newest_small)
    huge = _take_huge(large, group.sizes)
    blocks = [block for session_id, entries in large.items() if entries for block in blocks_of(session_id, entries)]
    return CommitPlan(pos + 1, small, body, blocks, group.rows, newest, huge)


def write_commit(writer: sqlite3.Connection, queries: dict[str, str], plan: CommitPlan) -> None:
    """The transaction: all of it, or nothing and an error of SQLite's."""
    try:
        writer.execute(queries["begin"])
        if plan.small:
            writer.execute(queries["insert_recent"], (plan.first_pos, plan.body, sum_of_parts(plan.first_pos, plan.body)))
        if plan.blocks:
            writer.executemany(queries["insert_block"], map(summed, plan.blocks))
        for block in plan.huge:
            write_large(writer, queries["insert_large"], block)
        if plan.rows:
            writer.executemany(queries["upsert_session"], map(row_values, plan.rows.values()))
        writer.execute(queries["commit"])
    finally:
        if writer.in_transaction:
            writer.rollback()


def _take_huge(parts: dict[str, list[Entry]], sizes: dict[str, int]) -> list[LargeBlock]:
    """Take the entries out that are blocks of their own because of their size."""
    found: list[LargeBlock] = []
    for session_id, entries in parts.items():
        if sizes.get(session_id, LARGE_ENTRY + 1) <= LARGE_ENTRY:
            continue  # all together are not as large
        huge = [entry for entry in entries if entry.size() > LARGE_ENTRY]
        if huge:
            found += [large_block(session_id, entry) for entry in huge]
            parts[session_id] = [entry for entry in entries if entry.size() <= LARGE_ENTRY]
    return found


def _number(parts: dict[str, list[Entry]], pos: int) -> int:
    """Give each entry its pos, rising from the one after ``pos``; returns the last."""
    for entries in parts.values():
        for entry in entries:
            pos += 1
            entry.pos = pos
    return pos


def _size(entries: list[Entry]) -> int:
    return sum([entry.size() for entry in entries])
