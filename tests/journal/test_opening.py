"""How a journal opens on whatever a hub that ran before, or a disk, left in its folder."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.stores import entries, group, row, seqs
from trunkline.errors import StorageError
from trunkline.journal.base import Group, Health, RowFilter
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


def put(where: Path, what: str) -> None:
    """Something that does not belong there."""
    where.unlink(missing_ok=True)
    match what:
        case "folder":
            where.mkdir()
            (where / "something").write_text("in it")
        case "link":
            where.symlink_to(where.with_name("nowhere"))
        case "pipe":
            os.mkfifo(where)
        case "noise":
            where.write_bytes(random.Random(1).randbytes(9000))
        case "empty":
            where.write_bytes(b"")


async def opens_whole(path: Path) -> Health:
    """The journal opens, nothing is lost, and it takes entries."""
    async with SqliteJournal(path) as journal:
        for session in SESSIONS:
            found = seqs(await journal.read(session))
            assert found[:40] == list(range(1, 41))
            await journal.append(group(**{session: entries(found[-1] + 1, found[-1] + 1)}))
        return await journal.health()


def change(path: Path, statement: str) -> None:
    """One statement, as somebody else."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def test_many_deletions_that_were_cut_short_are_done_in_the_thread_that_owns_the_connection(
        path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(path, "INSERT INTO deletions SELECT id FROM sessions WHERE id < 'd'")
    users: set[str] = set()

    def seen(work: Callable[..., bool]) -> Callable[..., bool]:
        def noted(*args: object) -> bool:
            users.add(threading.current_thread().name)
            return work(*args)

        return noted

    monkeypatch.setattr(Keeper, "_delete_some", seen(Keeper._delete_some))
    monkeypatch.setattr(Keeper, "_is_scrubbed", seen(Keeper._is_scrubbed))

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


@pytest.mark.parametrize("what", ["folder", "link", "pipe"])
@pytest.mark.parametrize("beside", ["journal.marks", "journal.db-wal", "journal.db-shm", "journal.db.mended"])
def test_what_lies_where_a_file_of_ours_belongs_is_put_aside(path: Path, beside: str, what: str) -> None:
    put(path.with_name(beside), what)
    (aside,) = run(opens_whole(path)).asides
    assert Path(aside).name.startswith(f"{beside}.damaged-") and not Path(aside).is_file()
    assert run(opens_whole(path)).asides == [aside]


def test_marks_that_cannot_be_opened_or_moved_are_gone_without(path: Path, monkeypatch: pytest.MonkeyPatch,
                                                               caplog: pytest.LogCaptureFixture) -> None:
    put(path.with_name("journal.marks"), "folder")

    def refuse(self: Path, to: Path) -> Path:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    health = run(opens_whole(path))
    assert "journal.marks cannot be used" in health.damages[0].what and health.asides == []
    assert len(caplog.records) == 1


@pytest.mark.parametrize("what", ["noise", "empty"])
def test_noise_does_not_take_the_place_of_a_whole_journal(path: Path, what: str) -> None:
    put(path.with_name("journal.db.mended"), what)
    (aside,) = run(opens_whole(path)).asides
    assert Path(aside).name.startswith("journal.db.mended.damaged-")


def test_another_database_does_not_take_the_place_of_a_whole_journal(path: Path) -> None:
    change(path.with_name("journal.db.mended"), "CREATE TABLE sessions (checkpoint_seq INTEGER)")
    assert len(run(opens_whole(path)).asides) == 1


def test_a_swap_that_was_cut_short_is_still_finished(path: Path) -> None:
    shutil.copy(path, path.with_name("journal.db.mended"))
    path.write_bytes(b"")
    (aside,) = run(opens_whole(path)).asides
    assert Path(aside).name.startswith("journal.db.damaged-")


def test_a_folder_in_the_place_of_a_half_mended_file_does_not_keep_a_journal_from_being_mended(path: Path) -> None:
    put(path.with_name("journal.db.mending"), "folder")
    change(path, "DROP INDEX blocks_by_session")
    asides = [Path(each).name for each in run(opens_whole(path)).asides]
    assert [name.rpartition(".")[0] for name in asides] == ["journal.db", "journal.db.mending"]


@pytest.mark.parametrize("statement", [
    "INSERT OR REPLACE INTO counters VALUES ('pos', 9223372036854775807)",
    "INSERT OR REPLACE INTO counters VALUES ('pos', 1152921504606846976)",
])
def test_a_counter_that_nothing_comes_near_is_damage_and_costs_no_entry(path: Path, statement: str) -> None:
    change(path, statement)
    assert len(run(opens_whole(path)).asides) == 1
    assert run(last_pos(path)) < 1000


@pytest.mark.parametrize("crc", ["crc", "NULL"])
def test_a_block_at_the_end_of_all_numbers_is_a_gap_and_the_journal_takes_entries(path: Path, crc: str) -> None:
    change(path, f"UPDATE blocks SET last_pos = 9223372036854775807, crc = {crc} WHERE session = 'd'")

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            assert seqs(await journal.read("c")) == list(range(1, 41))
            assert [each.seq for each in await journal.read("d")] == [40], "one gap up to there"
            fresh = entries(41, 41)
            await journal.append(group(d=fresh))
            assert 160 < fresh[0].pos < 1000
            assert [(each.session, each.first, each.last) for each in (await journal.health()).damages] == [("d", 1, 40)]

    run(scenario())


def test_a_counter_far_above_an_empty_journal_is_believed(path: Path) -> None:
    change(path, "INSERT OR REPLACE INTO counters VALUES ('pos', 1000000000000)")
    change(path, "DELETE FROM blocks")
    path.with_name("journal.marks").unlink()
    assert run(last_pos(path)) == 1_000_000_000_000


async def last_pos(path: Path) -> int:
    """The newest pos that a journal knows of."""
    async with SqliteJournal(path) as journal:
        return journal.last_pos


def test_the_log_of_a_journal_that_was_emptied_is_read_and_not_thrown_away(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed" / "journal.db"

    async def crash() -> None:
        path = tmp_path / "running" / "journal.db"
        async with SqliteJournal(path) as journal:
            for session in SESSIONS:
                await journal.append(Group({session: entries(1, 40, size=300)}, {session: row(session)}))
            shutil.copytree(path.parent, crashed.parent)

    run(crash())
    os.truncate(crashed, 0)
    assert run(opens_whole(crashed)).damages == []
