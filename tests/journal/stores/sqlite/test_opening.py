"""How a journal opens on whatever a hub that ran before, or a disk, left in its folder."""

from __future__ import annotations

import errno
import gzip
import os
import random
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, row, seqs
from tests.journal.stores.sqlite.test_database import OLD
from trunkline.errors import StorageError
from trunkline.journal.base import Group, JournalHealth, RowFilter
from trunkline.journal.rows import row_of, row_values
from trunkline.journal.stores.sqlite import opening, reader
from trunkline.journal.stores.sqlite import store as sqlite
from trunkline.journal.stores.sqlite.commit import CommitPlan
from trunkline.journal.stores.sqlite.housekeeping import Housekeeper
from trunkline.journal.stores.sqlite.mending import salvage
from trunkline.journal.stores.sqlite.retention import Retention
from trunkline.journal.stores.sqlite.store import SqliteJournal

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


async def opens_whole(path: Path) -> JournalHealth:
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

    monkeypatch.setattr(Retention, "_delete_some", seen(Retention._delete_some))
    monkeypatch.setattr(Housekeeper, "empty_log", seen(Housekeeper.empty_log))

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
@pytest.mark.parametrize("beside", ["journal.marks", "journal.db-wal", "journal.db-shm", "journal.db.mended",
                                    "journal.db-log0", "journal.db-log1"])
def test_what_lies_where_a_file_of_ours_belongs_is_put_aside(path: Path, beside: str, what: str) -> None:
    put(path.with_name(beside), what)
    (aside,) = run(opens_whole(path)).asides
    assert Path(aside).name.startswith(f"{beside}.damaged-") and not Path(aside).is_file()
    assert run(opens_whole(path)).asides == [aside]


@pytest.mark.parametrize("is_link", [False, True], ids=["pipe", "link"])
def test_a_pipe_in_the_journals_place_is_put_aside_and_not_waited_for(tmp_path: Path, is_link: bool) -> None:
    path = tmp_path / "journal.db"
    os.mkfifo(tmp_path / "pipe" if is_link else path)
    if is_link:
        path.symlink_to("pipe")
    (aside,) = run(opened_health(path)).asides
    assert Path(aside).is_fifo() and path.is_file()


async def opened_health(path: Path) -> JournalHealth:
    async with SqliteJournal(path) as journal:
        return await journal.health()


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


def test_a_running_hub_mends_its_journal_only_so_often_and_the_next_start_does_again(
        path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_MENDED_MOST", 2)
    store = SqliteJournal._store

    def damaged(journal: SqliteJournal, plan: CommitPlan) -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise journal._not_written(error) from error

    async def tries(journal: SqliteJournal) -> list[int]:
        mended = []
        for _ in range(4):
            with pytest.raises(StorageError, match="malformed"):
                await journal.append(group(a=entries(41, 41)))
            health = await journal.health()
            assert health.unwritable is not None and "malformed" in health.unwritable
            mended.append(len(health.asides))
        return mended

    async def scenario() -> None:
        monkeypatch.setattr(SqliteJournal, "_store", damaged)
        async with SqliteJournal(path) as journal:
            assert await tries(journal) == [1, 2, 2, 2]
        async with SqliteJournal(path) as journal:
            assert await tries(journal) == [3, 4, 4, 4]
            monkeypatch.setattr(SqliteJournal, "_store", store)
            await journal.append(group(a=entries(41, 41)))
            assert (await journal.health()).unwritable is None and seqs(await journal.read("a")) == list(range(1, 42))

    run(scenario())


def test_of_very_many_damages_the_newest_are_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 6):
        change(path, f"INSERT INTO damages VALUES ({number}, {number}, 'a', 1, 2, 'lost')")
    change(path, "UPDATE blocks SET body = x'00'")

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            for most in (3, 6):
                for module in (sqlite, reader):
                    monkeypatch.setattr(module, "DAMAGES_LISTED", most)
                for session in SESSIONS:
                    await journal.read(session)
                told = [each.session if each.number == 0 else str(each.number) for each in (await journal.health()).damages]
                assert told == (["d", "c", "b"] if most == 3 else ["a", "d", "c", "b", "5", "4"])

    run(scenario())


@pytest.mark.parametrize(("most", "told"), [(4, []), (3, ["1 more places cannot be read"])])
def test_a_salvage_writes_so_many_gaps_down_and_counts_the_rest(
        path: Path, monkeypatch: pytest.MonkeyPatch, most: int, told: list[str]) -> None:
    monkeypatch.setattr(salvage, "LISTED_MOST", most)
    change(path, "UPDATE blocks SET body = x'00'")
    found = salvage.salvage(path, path.with_name("new.db"), seqs=dict.fromkeys(SESSIONS, 40), pos=160)
    assert len(found.lost) == 4
    connection = sqlite3.connect(path.with_name("new.db"))
    noted = [what for (what,) in connection.execute("SELECT what FROM damages ORDER BY number")]
    connection.close()
    assert noted == ["entries cannot be read"] * most + told


REMAINS = b"what a person had deleted"


def old_journal(path: Path, size: int) -> int:
    """A journal of before deleting meant overwriting, with free pages that hold what was deleted; how many there are."""
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE deleted (body BLOB)")
    connection.execute("INSERT INTO deleted VALUES (?)", (REMAINS * (size // len(REMAINS)),))
    connection.execute("DROP TABLE deleted")
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    connection.close()
    assert REMAINS in path.read_bytes()
    return free


@pytest.mark.parametrize("is_larger", [False, True])
def test_an_old_journal_is_rewritten_up_to_a_size_and_of_a_larger_one_the_free_pages(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_larger: bool) -> None:
    path = tmp_path / "journal.db"
    free = old_journal(path, 2 << 20)
    size = path.stat().st_size
    monkeypatch.setattr(opening, "_VACUUM_MOST", size - is_larger)
    monkeypatch.setattr(opening, "_ZEROS_BYTES", 1 << 20)

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            assert len(await journal.read("long")) == 200

    run(scenario())
    assert REMAINS not in path.read_bytes()
    connection = sqlite3.connect(path)
    left = connection.execute("PRAGMA freelist_count").fetchone()[0]
    connection.close()
    assert (left > free // 2, path.stat().st_size >= size) == (is_larger, is_larger)
