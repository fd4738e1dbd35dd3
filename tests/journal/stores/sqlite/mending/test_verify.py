"""What is wrong with a journal's file is found by reading all of it, and nothing is changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, row
from trunkline.errors import NotFound
from trunkline.journal.base import Group
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with a block, a small group and a row."""
    path = tmp_path / "journal.db"

    async def write() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(Group({"a": entries(1, 40, size=300)}, {"a": row("a")}))
            await journal.append(group(a=entries(41, 42)))

    run(write())
    return path


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_whole_journal_has_no_faults_and_is_not_touched(path: Path) -> None:
    before = path.read_bytes()
    assert list(faults_of(path)) == []
    assert path.read_bytes() == before


@pytest.mark.parametrize(("statement", "place", "what"), [
    ("UPDATE blocks SET body = zeroblob(length(body))", "a", "do not fit their checksum"),
    ("UPDATE blocks SET first_seq = 2", "a", "do not fit their checksum"),
    ("UPDATE sessions SET title = 'another'", "a", "the session's row does not fit its checksum"),
    ("DELETE FROM sessions", "a", "there are entries of the session, and no row"),
    ("PRAGMA user_version = 1", "file", "its schema is version 1"),
])
def test_what_does_not_fit_is_named_with_its_place(path: Path, statement: str, place: str, what: str) -> None:
    change(path, statement)
    found = list(faults_of(path))
    assert any(fault.place == place and what in fault.what for fault in found), found


def test_a_journal_that_ends_before_its_marks_has_lost_a_part_of_its_log(path: Path) -> None:
    change(path, "DELETE FROM recent")
    change(path, "DELETE FROM blocks")
    change(path, "DELETE FROM counters")
    assert any("a part of its log is lost" in fault.what for fault in faults_of(path))


def test_a_file_that_is_no_database_is_one_fault_and_none_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "noise.db").write_bytes(b"noise " * 1000)
    (fault,) = faults_of(tmp_path / "noise.db")
    assert fault.place == "file"
    with pytest.raises(NotFound, match="there is no journal"):
        list(faults_of(tmp_path / "nothing.db"))
