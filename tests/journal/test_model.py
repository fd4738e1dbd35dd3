"""The SQLite journal against the one in memory: whatever is done to both, they answer alike."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.journal.samples import BUSY, read_hub_all, row
from tests.tooling.examples import examples
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, Journal, RowFilter
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.journal.stores.sqlite.store import SqliteJournal

T = TypeVar("T")

session_ids = st.sampled_from(["a", "b", "c"])
seqs = st.integers(0, 300)
parts = st.dictionaries(session_ids, st.tuples(st.sampled_from([1, 2, 16, 17, 40]), st.sampled_from([0, 1, 200, 9000]),
                                               st.integers(1, 2)), max_size=3)


class TwoJournals(RuleBasedStateMachine):
    """Both journals get the same; housekeeping of the SQLite one happens whenever its thread finds the time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.model = MemoryJournal()
        self.last_seq = {"a": 0, "b": 0, "c": 0}
        self.groups = 0
        self.open()

    def open(self) -> None:
        self.journal = self.run(SqliteJournal(self.folder / "journal.db", upkeep=BUSY).__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    def teardown(self) -> None:
        self.run(self.journal.__aexit__(None, None, None))
        self.loop.close()
        shutil.rmtree(self.folder)

    @rule(parts=parts, rows=st.sets(session_ids), repeated=st.booleans())
    def append(self, parts: dict[str, tuple[int, int, int]], rows: set[str], repeated: bool) -> None:
        self.groups += 1
        given = {session: self.entries(session, count, size, step) for session, (count, size, step) in parts.items()}
        if repeated and given:
            first = next(iter(given.values()))
            first[0].seq = 0  # no session is ever before its first entry: refused, whole
        groups = [Group({session: [clone(each) for each in entries] for session, entries in given.items()},
                        {session: row(session, updated_at=self.groups, title=f"{session} {self.groups}") for session in rows})
                  for _ in range(2)]
        refused = []
        journals: list[Journal] = [self.model, self.journal]
        for journal, group in zip(journals, groups, strict=True):
            try:
                self.run(journal.append(group))
            except StorageError as error:
                refused.append(error.message)
        assert len(refused) in (0, 2)
        if not refused:
            self.last_seq |= {session: entries[-1].seq for session, entries in given.items()}

    def entries(self, session: str, count: int, size: int, step: int) -> list[Entry]:
        first = self.last_seq[session] + step
        return [Entry(first + n, self.groups, f"{session}{n}".encode() * (size // 2), b"u" * size or None) for n in range(count)]

    @rule(session=session_ids, after=seqs, before=st.none() | seqs, limit=st.integers(0, 50),
          max_bytes=st.sampled_from([0, 500, 30_000, 1 << 20]), tail=st.booleans())
    def read(self, session: str, after: int, before: int | None, limit: int, max_bytes: int, tail: bool) -> None:
        expected, found = (
            self.run(journal.read(session, after=after, before=before, limit=limit, max_bytes=max_bytes, tail=tail))
            for journal in (self.model, self.journal))
        assert without_pos(found) == without_pos(expected)

    @rule(limit=st.integers(1, 50))
    def read_hub(self, limit: int) -> None:
        found = self.run(read_hub_all(self.journal, limit=limit))
        positions = [each.pos for _, each in found]
        assert positions == sorted(set(positions))
        expected = self.run(read_hub_all(self.model))
        for session in self.last_seq:
            assert without_pos([each for name, each in found if name == session]) \
                == without_pos([each for name, each in expected if name == session])
        assert [each.at for _, each in found] == [each.at for _, each in expected]  # groups in the same order

    @rule(session=session_ids, before=seqs)
    def pack(self, session: str, before: int) -> None:
        assert self.run(self.journal.pack(session, before=before)) >= 0

    @rule(session=session_ids)
    def delete(self, session: str) -> None:
        for journal in (self.model, self.journal):
            self.run(journal.delete(session))
        self.last_seq[session] = 0

    @rule()
    def reopen(self) -> None:
        self.run(self.journal.__aexit__(None, None, None))
        self.open()

    @invariant()
    def rows_agree(self) -> None:
        expected, found = (self.run(journal.rows(RowFilter())) for journal in (self.model, self.journal))
        assert found == expected


def clone(entry: Entry) -> Entry:
    return Entry(entry.seq, entry.at, entry.event, entry.update)


def without_pos(found: list[Entry]) -> list[tuple[int, int, bytes, bytes | None]]:
    return [(each.seq, each.at, each.event, each.update) for each in found]


class TwoJournalsForLong(TwoJournals):
    """The same with many more tries."""


TestTwoJournals = TwoJournals.TestCase
TestTwoJournals.settings = settings(max_examples=examples(10), stateful_step_count=30, suppress_health_check=list(HealthCheck))

TestTwoJournalsForLong = pytest.mark.slow(TwoJournalsForLong.TestCase)
TestTwoJournalsForLong.settings = settings(max_examples=150, stateful_step_count=50, suppress_health_check=list(HealthCheck))
