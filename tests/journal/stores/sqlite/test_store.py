"""The journal in SQLite keeps the contract, in both durabilities and while its housekeeping runs all the time."""

from __future__ import annotations

from pathlib import Path

from tests.journal.conformance import JournalConformance
from tests.journal.samples import Opener, busy_sqlite_store, full_sqlite_store, sqlite_store


class TestSqliteJournal(JournalConformance):
    """The suite on a file."""

    def opener(self, folder: Path) -> Opener:
        return sqlite_store(folder)


class TestSqliteJournalWithFullDurability(JournalConformance):
    """The suite with an fsync per group."""

    def opener(self, folder: Path) -> Opener:
        return full_sqlite_store(folder)


class TestSqliteJournalUnderHousekeeping(JournalConformance):
    """The suite with folds and checkpoints after every few groups."""

    def opener(self, folder: Path) -> Opener:
        return busy_sqlite_store(folder)
