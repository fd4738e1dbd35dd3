"""How a journal opens on whatever a hub that ran before, or a disk, left in its folder."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.stores import entries, group, row, seqs
from trunkline.errors import StorageError
from trunkline.journal.base import Group, RowFilter
from trunkline.journal.keeper import Keeper
from trunkline.journal.rows import row_of, row_values
from trunkline.journal.sqlite import SqliteJournal

SESSIONS = ("a", "b", "c", "d")


async def _write(path: Path) -> None:
    async with SqliteJournal(path) as journal:
        for session in SESSIONS:
            await journal.append(Group({session: entries(1, 40, size=300)}, {session: row(session)}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of four sessions, closed in order."""
    path = tmp_path / "journal.db"
    run(_write(path))
    return path


def change(path: Path, statement: str) -> None:
    """One statement, as somebody else."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def test_many_deletions_that_were_cut_short_are_done_in_the_thread_that_owns_the_connection(
        path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(path, "INSERT INTO deletions SELECT id FROM sessions WHERE id < 'd'")
    users: set[str] = set()
    delete, is_scrubbed = Keeper._delete_some, Keeper._is_scrubbed

    def used() -> bool:
        users.add(threading.current_thread().name)
        return True

    monkeypatch.setattr(Keeper, "_delete_some", lambda self, session: used() and delete(self, session))
    monkeypatch.setattr(Keeper, "_is_scrubbed", lambda self: used() and is_scrubbed(self))

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            assert [each.id for each in await journal.rows(RowFilter())] == ["d"]
            assert await journal.read("a") == [] and len(await journal.read("d")) == 40

    run(scenario())
    assert len(users) == 1 and "journal-keeper" in users.pop()


def test_the_keepers_connection_is_refused_to_every_other_thread(path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            with pytest.raises(sqlite3.ProgrammingError, match="thread"):
                journal._keeper.checkpoint()

    run(scenario())


def test_a_deletion_that_fails_again_at_the_start_keeps_no_journal_from_opening(
        path: Path, caplog: pytest.LogCaptureFixture) -> None:
    change(path, "INSERT INTO deletions VALUES ('a'), ('b')")
    change(path, "CREATE TRIGGER full BEFORE DELETE ON blocks WHEN old.session = 'a' BEGIN SELECT RAISE(ABORT, 'disk full'); END")

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            assert sorted(each.id for each in await journal.rows(RowFilter())) == ["c", "d"]
            assert await journal.read("a") == []
            with pytest.raises(StorageError, match="is being deleted"):
                await journal.append(group(a=entries(41, 41)))
            await journal.append(group(c=entries(41, 41)))
            assert seqs(await journal.read("c", after=40)) == [41]
            assert {session for session, _ in await journal.read_hub(after=0)} == {"c", "d"}

    run(scenario())
    assert "session a is not wholly deleted yet" in caplog.text


@pytest.mark.parametrize("values", ["7, NULL, 'a', 1, 2, 'lost'", "7, 1, x'ff', 'one', 2, NULL",
                                    "7, 9223372036854775807, 'a', 1, 2, ''", "7, -5, 'a', 1, 2, 'lost'"])
def test_a_damaged_note_of_damage_is_told_as_that(path: Path, values: str) -> None:
    change(path, "DROP TABLE damages")
    change(path, "CREATE TABLE damages (number INTEGER PRIMARY KEY, at, session, first_seq, last_seq, what)")
    change(path, "INSERT INTO damages VALUES (6, 1, 'a', 1, 2, 'lost')")
    change(path, f"INSERT INTO damages VALUES ({values})")

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            bad, good = (await journal.health()).damages
            assert (bad.number, bad.at, bad.session, bad.first) == (7, 0, "", 0) and "cannot be read" in bad.what
            assert (good.number, good.at, good.session, good.what) == (6, 1, "a", "lost")

    run(scenario())


def test_a_session_row_with_values_of_other_kinds_has_no_state() -> None:
    stored = row_values(row("a"))
    values = (*stored[:7], stored[8], stored[9], stored[7], 3, stored[10])
    assert row_of(values).checkpoint == b"fold"
    for place in range(10):
        found = row_of((*values[:place], None, *values[place + 1:11], None))
        assert (found.summary, found.checkpoint) == (b"", b"") and None not in (found.title, found.created_at, found.updated_at)
