"""A journal's file is read from outside, beside a hub that writes it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, row
from trunkline.errors import NotFound, StorageError
from trunkline.journal.base import Group
from trunkline.journal.stores.sqlite.read_only import open_read_only
from trunkline.journal.stores.sqlite.store import SqliteJournal


def write(path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(Group({"aa1": entries(1, 3), "ab2": entries(1, 1)}, {"aa1": row("aa1"), "ab2": row("ab2")}))
            with open_read_only(path) as file:
                assert len([*file.entries()]) == 4, "while it is being written"
            await journal.delete("ab2")

    run(scenario())


def test_entries_rows_and_names_are_those_that_a_hub_would_show(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write(path)
    with open_read_only(path) as file:
        assert [(session, each.seq) for session, each in file.entries()] == [("aa1", 1), ("aa1", 2), ("aa1", 3)]
        assert (file.named("a"), file.named("b")) == (["aa1"], [])
        found = file.row("aa1")
        assert found is not None and (found.id, found.last_seq) == ("aa1", 3)
        assert file.row("ab2") is None


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound), open_read_only(tmp_path / "journal.db"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")
    with pytest.raises(StorageError, match="schema version 1"), open_read_only(path):
        pass
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
