"""Pages of what is stored, forward and back, with entries that belong together as one run.

What a run is, and how it is written, the faces say: deltas of one message are one event (``context/joining.py``), chunks of one
message are one packet (``packets/history.py``).

Rule 1: a run has its last entry's seq. A cursor may point into a run and gets the rest of it, so pages of any size add up to the
same text.
Rule 2: what one page costs is bounded: runs, bytes, and where the face says so entries looked through. A run that is cut goes on
in the next page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from trunkline.feeds.session import Feed
from trunkline.journal.base import Entry

PAGE_BYTES = 4 << 20
"""A page stops here; the next one goes on from there."""
READ_ENTRIES = 2_000
READ_BYTES = 1 << 20


class Run(Protocol):
    """One item of a page: an entry, or several that grow at one end of it."""

    first: int
    last: int
    size: int

    def takes_after(self, entry: Entry) -> bool:
        """Join an entry that comes behind; False where it does not belong."""

    def takes_before(self, entry: Entry) -> bool:
        """Join an entry that came before; False where it does not belong."""


R = TypeVar("R", bound=Run)
R_co = TypeVar("R_co", bound=Run, covariant=True)


class Runs(Protocol[R_co]):
    """What runs consist of."""

    def is_wanted(self, entry: Entry) -> bool:
        """Whether the page may show this; a quick look."""

    def begin(self, entry: Entry) -> R_co | None:
        """A new run with this entry; None where there is nothing to show of it."""


class Stretch(msgspec.Struct, Generic[R]):
    """What was found from a cursor on, in the order of the journal. ``position`` is the entry that was looked at last; ``more``:
    there are others."""

    runs: list[R]
    position: int
    more: bool


class _RunPage(Generic[R]):
    """Runs that are gathered from one end, until a bound is reached."""

    def __init__(self, kind: Runs[R], limit: int, takes: Callable[[R, Entry], bool]) -> None:
        self.runs: list[R] = []
        self._kind = kind
        self._limit = limit
        self._takes = takes
        self._size = 0

    def add(self, entry: Entry) -> bool:
        """Take the next entry; False where there is no room for what it begins."""
        if not self._kind.is_wanted(entry) or (self.runs and self._takes(self.runs[-1], entry)):
            return True
        run = self._kind.begin(entry)
        if run is None:
            return True
        self._size += self.runs[-1].size if self.runs else 0
        if len(self.runs) == self._limit or (self.runs and self._size + run.size > PAGE_BYTES):
            return False
        self.runs.append(run)
        return True


async def runs_after(feed: Feed, after: int, before: int | None, limit: int, kind: Runs[R], *,
                     scan_most: int = sys.maxsize) -> Stretch[R]:
    """The first runs after a cursor."""
    page = _RunPage(kind, limit, lambda run, entry: run.takes_after(entry))
    scanned, position = 0, after
    while scanned < scan_most and (entries := await feed.read(
            after=position, before=before, limit=READ_ENTRIES, max_bytes=READ_BYTES)):
        for entry in entries:
            if not page.add(entry):
                return Stretch(page.runs, position, True)
            position = entry.seq
        scanned += len(entries)
    end = feed.last_seq + 1 if before is None else min(before, feed.last_seq + 1)
    return Stretch(page.runs, position, position + 1 < end)


async def runs_before(feed: Feed, before: int, limit: int, kind: Runs[R], *, scan_most: int = sys.maxsize) -> Stretch[R]:
    """The last runs before a cursor, found by looking back."""
    page = _RunPage(kind, limit, lambda run, entry: run.takes_before(entry))
    scanned, position = 0, before
    while scanned < scan_most and (entries := await feed.read_back(
            before=position, limit=READ_ENTRIES, max_bytes=READ_BYTES)):
        for entry in reversed(entries):
            if not page.add(entry):
                return Stretch(page.runs[::-1], position, True)
            position = entry.seq
        scanned += len(entries)
    return Stretch(page.runs[::-1], position, position > 1)
