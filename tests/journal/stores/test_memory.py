"""The journal in memory keeps the contract."""

from __future__ import annotations

from pathlib import Path

from tests.journal.conformance import JournalConformance
from tests.journal.samples import Opener, group, memory_store
from trunkline.journal.base import Journal
from trunkline.journal.stores.memory import MemoryJournal


class TestMemoryJournal(JournalConformance):
    """The suite on memory."""

    def opener(self, folder: Path) -> Opener:
        return memory_store(folder)


def test_a_group_can_always_be_committed_without_waiting() -> None:
    journal: Journal = MemoryJournal()
    assert journal.append_now(group()) is True
