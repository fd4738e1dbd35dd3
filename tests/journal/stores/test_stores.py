"""A store is chosen by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, seqs
from tests.tooling.rows import every_row
from trunkline.errors import Invalid
from trunkline.journal.stores import MEMORY, SQLITE, STORES, open_store, store_named
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.journal.stores.sqlite.store import SqliteJournal


def test_each_scheme_opens_its_store(tmp_path: Path) -> None:
    assert isinstance(open_store(SQLITE, tmp_path, "normal"), SqliteJournal)
    assert isinstance(open_store(MEMORY, tmp_path, "normal"), MemoryJournal)


def test_sqlite_is_in_the_data_folder_or_in_the_one_that_is_named(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"

    async def scenario(name: str) -> list[int]:
        async with open_store(name, data, "normal") as journal:
            await journal.append(group(a=entries(1, 2)))
            return seqs(await journal.read("a"))

    for name, folder in ((SQLITE, data), (f"sqlite:{other}", other)):
        folder.mkdir()
        assert run(scenario(name)) == [1, 2]
        assert (folder / "journal.db").is_file()


def test_only_what_is_in_memory_does_not_last() -> None:
    assert {name for name, kind in STORES.items() if not kind.lasts} == {MEMORY}


@every_row(("name", "complaint"), [
    ("nats:", "none called 'nats:'; there are sqlite:, memory:"),
    ("nats://host:4222", "none called 'nats:'; there are sqlite:, memory:"),
    ("sqlite", "none called 'sqlite'; there are sqlite:, memory:"),
    ("", "none called ''; there are"),
    ("memory:/tmp", "memory: takes no place"),
    ("sqlite:here", "must name an absolute path"),
])
def test_a_name_that_stands_for_no_store_is_refused_with_those_there_are(name: str, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        store_named(name)


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="durability must be normal or full, not 'some'"):
        open_store(SQLITE, tmp_path, "some")
