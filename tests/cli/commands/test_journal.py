"""``trunkline journal``: is what is stored as it was written, and what to do where it is not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.aio import run
from tests.journal.samples import entries, row, seqs
from trunkline.cli.commands.journal import command
from trunkline.errors import HubLocked, Invalid, NotFound
from trunkline.journal.base import Group
from trunkline.journal.lock import FolderLock
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a journal that was closed in order."""
    async def write() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            await journal.append(Group({"a": entries(1, 40, size=300)}, {"a": row("a")}))

    run(write())
    return tmp_path


def called(data: Path, *words: str) -> Result:
    return CliRunner().invoke(command, [words[0], "--data", str(data), *words[1:]], help_option_names=["-h", "--help"])


def stored(path: Path) -> Sequence[int]:
    async def read() -> Sequence[int]:
        async with SqliteJournal(path) as journal:
            return seqs(await journal.read("a"))

    return run(read())


def hurt(data: Path) -> None:
    with closing(sqlite3.connect(data / "journal.db", isolation_level=None)) as connection:
        connection.execute("UPDATE sessions SET title = 'another'")


def test_a_whole_journal_is_told_as_that(data: Path) -> None:
    whole = called(data, "verify")
    assert (whole.exit_code, whole.output) == (0, "the journal is whole\n")
    assert json.loads(called(data, "verify", "--json").output) == []


def test_what_is_damaged_is_listed_with_its_place_and_the_exit_code_says_so(data: Path) -> None:
    hurt(data)
    found = called(data, "verify")
    assert found.exit_code == 1 and "does not fit its checksum" in found.output
    assert json.loads(called(data, "verify", "--json").output)[0]["place"] == "a"


def test_a_repair_keeps_the_file_as_it_was_and_makes_the_index_anew(data: Path) -> None:
    (data / "search.db").write_bytes(b"old")
    before = (data / "journal.db").read_bytes()
    done = called(data, "repair")
    assert done.exit_code == 0 and "1 sessions" in done.output
    aside = Path(done.output.rpartition("the file as it was: ")[2].strip())
    assert aside.read_bytes() == before and not (data / "search.db").exists()
    assert stored(data / "journal.db") == list(range(1, 41))


def test_a_salvage_is_a_journal_of_its_own_and_writes_over_nothing(data: Path) -> None:
    assert called(data, "salvage", "--to", str(data / "new.db")).exit_code == 0
    assert stored(data / "new.db") == list(range(1, 41))
    assert isinstance(called(data, "salvage", "--to", str(data / "new.db")).exception, Invalid)


def test_while_a_hub_has_the_folder_nothing_is_repaired_and_where_there_is_no_journal_it_is_said(data: Path) -> None:
    lock = FolderLock(data)
    assert lock.take()
    try:
        assert isinstance(called(data, "repair").exception, HubLocked)
    finally:
        lock.give_up()
    assert isinstance(called(data / "elsewhere", "repair").exception, NotFound)
