"""A session's row: what it means to match a filter, for every store that cannot ask a database; and how it is stored.

Rule: a stored row carries a checksum over all of its columns. One that does not fit it has no state: whoever opens the session
makes that from its entries.
"""

from __future__ import annotations

import zlib
from typing import Any, Protocol

from trunkline.journal.base import RowFilter, SessionRow

_KINDS = (str, str, str, str, str, int, int, bytes, bytes, int, int)
"""Of the columns as they are read. A damaged file gives back what its schema forbids."""


class Listed(Protocol):
    """What a filter looks at."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def updated_at(self) -> int: ...


def matches(row: Listed, which: RowFilter) -> bool:
    """Whether a row passes all parts of the filter but its limit."""
    if which.id is not None and row.id != which.id:
        return False
    if which.status is not None and row.status not in which.status:
        return False
    if which.agent is not None and row.agent != which.agent:
        return False
    if which.before is not None and (row.updated_at, row.id) >= which.before:
        return False
    if not which.text:
        return True
    text = which.text.casefold()
    return any(text in value.casefold() for value in (row.title, row.agent, row.cwd))


def row_values(row: SessionRow) -> tuple[Any, ...]:
    """A row as it is stored, in the order of ``upsert_session``."""
    return (row.id, row.agent, row.cwd, row.title, row.status, row.created_at, row.updated_at, row.checkpoint_seq,
            row.summary, row.checkpoint, _sum(row))


def row_of(values: tuple[Any, ...]) -> SessionRow:
    """A stored row, in the order of ``rows`` and ``row``; without its state where it is damaged."""
    typed = tuple(value if isinstance(value, kind) else kind() for value, kind in zip(values, _KINDS, strict=False))
    whole = typed == values[:len(_KINDS)]
    values = (*typed, *values[len(_KINDS):])
    row = SessionRow(
        id=values[0], agent=values[1], cwd=values[2], title=values[3], status=values[4], created_at=values[5],
        updated_at=values[6], summary=values[7], checkpoint=values[8], checkpoint_seq=values[9], last_seq=values[10])
    if not whole or not is_whole_row(row, values[11]):
        row.summary = row.checkpoint = b""
    return row


def is_whole_row(row: SessionRow, crc: int | None) -> bool:
    """Whether a stored row is as it was written; one of before there were checksums is believed."""
    return crc is None or crc == _sum(row)


def _sum(row: SessionRow) -> int:
    place = (f"{row.id}\0{row.agent}\0{row.cwd}\0{row.title}\0{row.status}\0"
             f"{row.created_at} {row.updated_at} {row.checkpoint_seq}")
    return zlib.crc32(row.checkpoint, zlib.crc32(row.summary, zlib.crc32(place.encode("utf-8", "replace"))))
