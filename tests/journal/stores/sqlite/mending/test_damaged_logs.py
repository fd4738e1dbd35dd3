"""Damage to the group log, and beside it: what was not hit is whole, and what is lost is told as a gap."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, read_hub_all, row, seqs
from tests.journal.stores.sqlite.mending.test_salvage import QUIET, Story, check, copied
from tests.journal.stores.sqlite.test_group_log import in_keeper, log_sizes
from tests.tooling.examples import examples
from trunkline.errors import StorageError
from trunkline.journal.base import Group
from trunkline.journal.stores.sqlite.group_log import paths_of
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Story]:
    """A journal as a killed hub leaves it: blocks, rows of recent, and groups in both logs, folded and not."""
    path, copy = tmp_path_factory.mktemp("killed") / "journal.db", tmp_path_factory.mktemp("copy") / "journal.db"

    async def write() -> Story:
        told: Story = {"a": {}, "b": {}}
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            for number in range(1, 61):
                parts = {"a": entries(3 * number - 2, 3 * number, size=200), "b": entries(number, number)}
                rows = {"a": row("a", checkpoint_seq=3 * number), "b": row("b", checkpoint_seq=number)} if number % 9 == 6 else {}
                await journal.append(Group(parts, rows))
                for session, part in parts.items():
                    told[session].update((each.seq, each.event) for each in part)
                if number == 20:
                    await in_keeper(journal, journal._keeper.checkpoint)
                if number == 40:
                    await in_keeper(journal, journal._keeper.fold)
                    assert journal._log.switch()
            for each in path.parent.iterdir():
                shutil.copy(each, copy.parent / each.name)
        return told

    assert path.name == copy.name
    return copy, run(write())


LATE = frozenset({("a", seq) for seq in range(121, 181)} | {("b", seq) for seq in range(41, 61)})
"""What was not folded."""


def hurt_logs(killed: tuple[Path, Story], folder: Path, seed: int) -> int:
    path, told = killed
    hurt = copied(path, folder / str(seed))
    chance = random.Random(seed)
    for log in paths_of(hurt):
        size = log.stat().st_size
        assert size > 0
        with log.open("r+b") as file:
            if chance.random() < 0.3:
                file.truncate(chance.randrange(size))
            elif chance.random() < 0.8:
                file.seek(chance.randrange(size))
                file.write(chance.randbytes(chance.choice((1, 16, 100, 2000))))
    faults = list(faults_of(hurt))
    lost = check(told, hurt, LATE)
    assert faults or not lost, "who verifies is told as well"
    return lost


def test_damaged_logs_lose_nothing_without_a_word(killed: tuple[Path, Story], tmp_path: Path) -> None:
    lost = [hurt_logs(killed, tmp_path, seed) for seed in range(examples(12))]
    assert 0 in lost and max(lost) > 0


@pytest.mark.slow
def test_no_damage_to_the_logs_loses_anything_without_a_word(killed: tuple[Path, Story], tmp_path: Path) -> None:
    lost = [hurt_logs(killed, tmp_path, seed) for seed in range(100, 200)]
    assert 0 in lost and max(lost) > 0


@pytest.mark.parametrize("number", [0, 1])
def test_a_log_that_is_gone_is_told_of_also_where_nothing_notes_how_far_it_went(
        killed: tuple[Path, Story], tmp_path: Path, number: int) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "gone")
    paths_of(hurt)[number].unlink()
    hurt.with_suffix(".marks").unlink()
    check(told, hurt, LATE)


@pytest.mark.parametrize("statement", [
    "UPDATE counters SET value = value + 1048576 WHERE name = 'folded'",
    "UPDATE counters SET value = value - 65536 WHERE name = 'folded'",
    "DELETE FROM counters WHERE name = 'folded'",
    "DELETE FROM recent",
    "DROP INDEX blocks_by_session",
])
def test_no_damage_to_the_database_hides_what_was_logged(killed: tuple[Path, Story], tmp_path: Path, statement: str) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "rows")
    with closing(sqlite3.connect(hurt, isolation_level=None)) as database:
        database.execute(statement)
    in_rows = {("a", seq) for number in (42, 51, 60) for seq in range(3 * number - 2, 3 * number + 1)} | {
        ("b", 42), ("b", 51), ("b", 60)}
    assert check(told, hurt, in_rows) == (len(in_rows) if "recent" in statement else 0)
    assert len(list(hurt.parent.glob("journal.db.damaged-*-log0"))) == 1, "the logs lie aside with the file"


def test_a_write_ahead_log_that_is_lost_takes_nothing_along_that_was_logged(killed: tuple[Path, Story], tmp_path: Path) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "wal")
    hurt.with_name("journal.db-wal").unlink()
    rows = [number for number in range(20, 61) if number % 9 == 6]
    may_be_lost = {("a", seq) for number in rows for seq in range(3 * number - 2, 3 * number + 1)} | {("b", seq) for seq in rows}
    assert check(told, hurt, may_be_lost) == len(may_be_lost)


def test_a_journal_that_is_mended_while_it_runs_keeps_what_was_logged_and_logs_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(Group({"a": entries(1, 1)}, {"a": row("a")}))
            await journal.append(group(a=entries(2, 3)))
            await journal._run(journal._keeper_thread, "mended", journal._mend, 0, StorageError("damaged"))
            assert len((await journal.health()).asides) == 1 and log_sizes(path) == [0, 0]
            await journal.append(group(a=entries(4, 4)))
            assert sum(log_sizes(path)) > 0 and seqs(await journal.read("a")) == [1, 2, 3, 4]
            assert [entry.pos for _, entry in await read_hub_all(journal)] == [1, 2, 3, 4]

    run(scenario())


# Logs from elsewhere.


async def fill(journal: SqliteJournal, *sessions: str, first: int = 1, last: int = 6) -> None:
    for seq in range(first, last + 1):
        await journal.append(Group({session: entries(seq, seq) for session in sessions},
                                   {session: row(session) for session in sessions} if seq == 1 else {}))


async def held(path: Path) -> tuple[dict[str, list[int]], int]:
    """What a journal opens with, by session, and how many files were put aside; it must go on."""
    async with SqliteJournal(path) as journal:
        found: dict[str, list[int]] = {}
        for session, entry in await read_hub_all(journal):
            found.setdefault(session, []).append(entry.seq)
        fresh = entries(100, 100)
        await journal.append(group(mine=fresh))
        await in_keeper(journal, journal._keeper.checkpoint)
        assert seqs(await journal.read("mine", tail=True, limit=1)) == [100]
        return found, len((await journal.health()).asides)


@pytest.mark.parametrize(("number", "closed", "left"), [
    (0, False, [1, 6]), (1, False, [1, 2, 3, 4, 5, 6]), (1, True, [1, 2, 3, 4, 5, 6])])
def test_a_log_of_another_journal_is_told_of_and_nothing_of_it_is_taken(
        tmp_path: Path, number: int, closed: bool, left: list[int]) -> None:
    other, path, copy = tmp_path / "other" / "journal.db", tmp_path / "a" / "journal.db", tmp_path / "copy" / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(other) as journal:
            await fill(journal, "other", last=40)
            foreign = paths_of(other)[0].read_bytes()
        async with SqliteJournal(path) as journal:
            await fill(journal, "mine")
            if not closed:
                shutil.copytree(path.parent, copy.parent)
        if closed:
            shutil.copytree(path.parent, copy.parent)
        paths_of(copy)[number].write_bytes(foreign)
        assert "a log beside it is of another journal" in [fault.what for fault in faults_of(copy)]
        assert await held(copy) == ({"mine": left}, 1)

    run(scenario())


def test_a_log_of_a_copy_that_went_its_own_way_keeps_no_journal_from_starting(tmp_path: Path) -> None:
    path, copy = tmp_path / "a" / "journal.db", tmp_path / "copy" / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            await fill(journal, "mine", last=2)
            shutil.copytree(path.parent, copy.parent)
            await fill(journal, "mine", first=3, last=9)
            other_way = paths_of(path)[0].read_bytes()
        async with SqliteJournal(copy) as journal:
            await fill(journal, "elsewhere", last=9)
            shutil.copytree(copy.parent, tmp_path / "both")
        both = tmp_path / "both" / "journal.db"
        assert sum(log_sizes(both)) > 0
        [empty] = [each for each in paths_of(both) if not each.stat().st_size]
        empty.write_bytes(other_way)
        found, asides = await held(both)
        assert asides == 1 and found["mine"][:2] == [1, 2] and found["elsewhere"][-1] == 9

    run(scenario())


def test_an_old_log_brings_back_nothing_that_was_deleted_since(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            await fill(journal, "mine", "gone")
            old = paths_of(path)[0].read_bytes()
            await journal.delete("gone")
        paths_of(path)[0].write_bytes(old)
        assert await held(path) == ({"mine": [1, 2, 3, 4, 5, 6]}, 1)

    run(scenario())
