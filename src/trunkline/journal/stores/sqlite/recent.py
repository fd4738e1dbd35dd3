"""The newest entries, in memory, until they are folded into blocks.

A block per session and group needs an index page per session in every commit: with 20 busy sessions that was most of what a
commit wrote (measured: 11 µs an entry, and 2.3 without). So the small parts of a group are stored together in pos order (a row of
``recent``, or a record of group_log.py), which nobody has to find again while the hub runs: reads take these entries from here,
and a fold writes them as one block per session before there are many.

Rule 1: it is changed only by whoever holds the write gate, and only after the commit.
Rule 2: reading needs no lock: lists grow at their end or are let go as a whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from operator import attrgetter

from trunkline.journal.base import Entry

_seq_of = attrgetter("seq")
_pos_of = attrgetter("pos")


class Recent:
    """Entries by session, in seq order: those that came since the last fold, and those that a fold is writing now."""

    def __init__(self) -> None:
        self.groups = 0
        self.bytes = 0
        self._fresh: dict[str, list[Entry]] = {}
        self._folding: dict[str, list[Entry]] = {}

    @property
    def is_folding(self) -> bool:
        """Whether a fold was begun and is not committed yet."""
        return bool(self._folding)

    def add(self, parts: dict[str, list[Entry]], size: int) -> None:
        """The parts of a group were committed."""
        self.groups += 1
        self.bytes += size
        fresh = self._fresh
        for session_id, entries in parts.items():
            known = fresh.get(session_id)
            if known is None:
                fresh[session_id] = entries[:]
            else:
                known += entries

    def add_alone(self, session_id: str, entries: list[Entry], size: int) -> None:
        """``add`` of a group of one session."""
        self.groups += 1
        self.bytes += size
        known = self._fresh.get(session_id)
        if known is None:
            self._fresh[session_id] = entries[:]
        else:
            known += entries

    def of(self, session_id: str, *, after: int, before: int | None, horizon: int) -> list[Entry]:
        """The session's entries with after < seq < before and pos <= horizon; one may also be in a block already."""
        # In this order: entries move from the first to the second, so that none is missed.
        fresh, folding = self._fresh.get(session_id, []), self._folding.get(session_id, [])
        if fresh is folding:
            folding = []
        return _between(folding, after, before, horizon) + _between(fresh, after, before, horizon)

    def behind(self, after: int, horizon: int, hidden: Collection[str]) -> list[tuple[str, Entry]]:
        """(session, entry) with after < pos <= horizon, in pos order, but for ``hidden`` sessions; one may be in a block, too."""
        found: list[tuple[str, Entry]] = []
        fresh = self._fresh  # in this order, as above
        for held in (fresh,) if fresh is (folding := self._folding) else (folding, fresh):
            for session_id, entries in list(held.items()):
                if entries[-1].pos > after and session_id not in hidden:
                    kept = entries[bisect_right(entries, after, key=_pos_of):]
                    found += [(session_id, entry) for entry in kept if entry.pos <= horizon]
        found.sort(key=_pos_of_pair)
        return found

    def holds(self, session_id: str) -> bool:
        """Whether a fold would write entries of this session."""
        return session_id in self._fresh or session_id in self._folding

    def last_seqs(self) -> dict[str, int]:
        """The highest seq of each session here."""
        return {session_id: entries[-1].seq for session_id, entries in (self._folding | self._fresh).items()}

    def begin_fold(self) -> dict[str, list[Entry]]:
        """What a fold has to write: after a failed one, the same again."""
        if not self._folding:
            self._folding, self._fresh = self._fresh, {}
            self.groups = self.bytes = 0
        return self._folding

    def rest(self) -> dict[str, list[Entry]]:
        """What came since the fold began."""
        return self._fresh

    def end_fold(self) -> None:
        """The fold is committed: blocks have it now."""
        self._folding = {}


def _pos_of_pair(pair: tuple[str, Entry]) -> int:
    return pair[1].pos


def _between(entries: list[Entry], after: int, before: int | None, horizon: int) -> list[Entry]:
    start = bisect_right(entries, after, key=_seq_of)
    stop = len(entries) if before is None else bisect_left(entries, before, key=_seq_of)
    found = entries[start:stop]
    if found and found[-1].pos > horizon:
        del found[bisect_right(found, horizon, key=_pos_of):]
    return found
