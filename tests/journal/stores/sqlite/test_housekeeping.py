"""Housekeeping of the SQLite journal: it happens, it loses nothing, and nobody waits for it on the loop."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, entry, group, read_all, read_hub_all, row, seqs, stored_blocks, table_count
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, RowFilter
from trunkline.journal.stores.sqlite.group_log import read_logs
from trunkline.journal.stores.sqlite.housekeeping import Upkeep
from trunkline.journal.stores.sqlite.store import SqliteJournal

NEVER = Upkeep(checkpoint_bytes=1 << 60, behind_bytes=1 << 60, fold_groups=1 << 60, fold_bytes=1 << 60)


async def settle(journal: SqliteJournal) -> None:
    """Wait until the keeper has done what was asked of it so far; packing nothing queues behind it."""
    await journal.pack("", before=0)


def test_small_parts_of_many_groups_become_one_block_per_session(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=Upkeep(fold_groups=100)) as journal:
            for seq in range(1, 101):
                await journal.append(group(a=[entry(seq)], b=[entry(seq)]))
            await settle(journal)
            assert (len(read_logs(path)), table_count(path, "recent"), table_count(path, "blocks")) == (100, 0, 0)
            await journal.append(group(a=[entry(101)]))
            await settle(journal)
            assert not journal._recent.holds("a")
            assert [(first, last) for first, last, _, _ in stored_blocks(path, "a")] == [(1, 101)]
            assert [(first, last) for first, last, _, _ in stored_blocks(path, "b")] == [(1, 100)]
            assert seqs(await read_all(journal, "a")) == list(range(1, 102))

    run(scenario())


def test_a_large_part_is_a_block_at_once_and_small_ones_around_it_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=NEVER) as journal:
            await journal.append(group(a=entries(1, 2)))
            await journal.append(group(a=entries(3, 50)))
            await journal.append(group(a=entries(51, 51), b=entries(1, 1)))
            await journal.append(group(a=entries(52, 90)))
            assert (len(read_logs(path)), table_count(path, "recent"), len(stored_blocks(path, "a"))) == (2, 0, 2)
            for after, before in [(0, None), (1, None), (2, None), (10, 52), (49, 53), (50, 52), (51, None)]:
                inside = [seq for seq in range(1, 91) if after < seq < (before or 91)]
                assert seqs(await journal.read("a", after=after, before=before)) == inside
                assert seqs(await journal.read("a", after=after, before=before, limit=3)) == inside[:3]
                assert seqs(await journal.read("a", after=after, before=before, limit=3, tail=True)) == inside[-3:]
            assert await journal.pack("a", before=1000) == 3
            assert [(first, last) for first, last, _, _ in stored_blocks(path, "a")] == [(1, 90)]
            assert seqs(await read_all(journal, "a")) == list(range(1, 91))

    run(scenario())


def test_a_page_cut_inside_a_block_does_not_go_on_behind_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db", upkeep=NEVER) as journal:
            await journal.append(group(a=entries(1, 2)))
            await journal.append(group(a=entries(3, 50, size=1000)))
            await journal.append(group(a=entries(51, 52)))
            assert seqs(await journal.read("a", after=2, max_bytes=2500)) == [3, 4]
            assert seqs(await journal.read("a", before=51, max_bytes=2500, tail=True)) == [49, 50]
            assert seqs(await journal.read("a", before=52, max_bytes=2500, tail=True)) == [49, 50, 51]
            assert seqs(await journal.read("a", max_bytes=2500)) == [1, 2, 3, 4]

    run(scenario())


def test_a_reopened_journal_knows_the_newest_of_small_parts_and_blocks(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=NEVER) as journal:
            await journal.append(Group({"a": entries(1, 1)}, {"a": row("a")}))
            await journal.append(group(a=entries(2, 50)))
        async with SqliteJournal(path, upkeep=NEVER) as journal:
            assert (await journal.rows(RowFilter()))[0].last_seq == 50
            with pytest.raises(StorageError, match="entries up to 50"):
                await journal.append(group(a=entries(2, 2)))
            await journal.append(group(a=entries(51, 51)))
        async with SqliteJournal(path, upkeep=NEVER) as journal:
            assert (await journal.rows(RowFilter()))[0].last_seq == 51
            assert seqs(await journal.read("a")) == list(range(1, 52))

    run(scenario())


def test_a_reader_between_two_steps_of_a_fold_misses_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db", upkeep=NEVER) as journal:
            await journal.append(group(a=entries(1, 5)))
            journal._recent.begin_fold()
            assert seqs(await journal.read("a")) == [1, 2, 3, 4, 5]
            await journal.append(group(a=entries(6, 7)))
            assert seqs(await journal.read("a")) == [1, 2, 3, 4, 5, 6, 7]
            assert await journal.pack("a", before=100) == 1  # folds what was begun, and what came since
            assert seqs(await journal.read("a")) == [1, 2, 3, 4, 5, 6, 7]

    run(scenario())


def test_the_log_stays_bounded_under_a_long_write(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    log = path.with_name("journal.db-wal")
    body = os.urandom(1000)

    async def scenario() -> int:
        largest = 0
        async with SqliteJournal(path) as journal:
            for first in range(1, 200_001, 250):
                await journal.append(group(a=[Entry(seq, 0, body) for seq in range(first, first + 250)]))
                largest = max(largest, log.stat().st_size)
            assert seqs(await journal.read("a", tail=True, limit=1)) == [200_000]
        return largest

    largest = run(scenario(), timeout_s=60)
    assert largest < 64 << 20
    assert path.stat().st_size > 200_000_000
    assert not log.exists() or log.stat().st_size == 0


def test_a_commit_that_finds_the_gate_shut_waits_off_the_loop(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            with journal._gate.held():
                assert not journal.append_now(group(a=entries(1, 1)))
                waiting = asyncio.create_task(journal.append(group(a=entries(1, 1))))
                await asyncio.sleep(0)
                assert seqs(await journal.read("a")) == []  # the loop goes on, and so do readers
                assert not waiting.done()
            await waiting
            assert seqs(await journal.read("a")) == [1]

    run(scenario())


def test_the_log_begins_anew_in_the_keepers_thread_so_that_no_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """SQLite syncs the header of a log that starts again, in whichever transaction comes first."""
    path = tmp_path / "journal.db"

    def salt() -> bytes:
        with open(f"{path}-wal", "rb") as log:
            return log.read(24)[16:]

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            for seq in range(1, 4):
                before = salt()
                assert journal.append_now(group(a=entries(seq, seq)))
                assert salt() == before, "the commit began the log"
                await journal._run(journal._keeper_thread, "tidied", journal._keeper.checkpoint)
                assert salt() != before

    run(scenario())


def test_only_normal_durability_commits_without_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "normal.db") as journal:
            assert journal.append_now(group(a=entries(1, 1)))
            assert seqs(await journal.read("a")) == [1]
        async with SqliteJournal(tmp_path / "full.db", durability="full") as journal:
            refused = entries(1, 1)
            assert not journal.append_now(group(a=refused))
            assert refused[0].pos == 0
            assert await journal.read("a") == []

    run(scenario())


def test_a_huge_entry_is_stored_and_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            huge = Entry(1, 0, b"e", os.urandom(1 << 20) * 60)
            await journal.append(group(a=[huge]))
            await journal.append(group(a=entries(2, 3)))
            assert await journal.read("a") == [huge]
            assert seqs(await journal.read("a", after=1)) == [2, 3]

    run(scenario(), timeout_s=60)


def test_a_full_disk_fails_the_group_and_the_next_works_when_there_is_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            await journal.append(group(a=entries(1, 3)))
            pages = journal._writer.execute("PRAGMA page_count").fetchone()[0]
            journal._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
            lost = entries(4, 60, size=2000)
            with pytest.raises(StorageError, match=r"journal\.db could not be written: database or disk is full"):
                await journal.append(Group({"a": lost, "b": entries(1, 1)}, {"b": row("b")}))
            assert {each.pos for each in lost} == {0}
            assert seqs(await journal.read("a")) == [1, 2, 3]
            assert await journal.read("b") == []
            journal._writer.execute("PRAGMA max_page_count = 1000000")
            await journal.append(Group({"a": lost, "b": entries(1, 1)}, {"b": row("b")}))
            assert seqs(await journal.read("a")) == list(range(1, 61))
            positions = [each.pos for _, each in await read_hub_all(journal)]
            assert positions == sorted(set(positions))

    run(scenario())


def test_a_fold_that_fails_is_made_up_for_by_the_next(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=Upkeep(fold_groups=10)) as journal:
            keeper = journal._keeper._connection
            for seq in range(1, 11):
                await journal.append(group(a=[entry(seq, size=4000)]))
            await journal._run(journal._keeper_thread, "set", keeper.execute, "PRAGMA query_only = ON")
            await journal.append(group(a=[entry(11, size=4000)]))
            with pytest.raises(StorageError, match="packed"):
                await journal.pack("a", before=1)
            assert seqs(await journal.read("a")) == list(range(1, 12))
            await journal._run(journal._keeper_thread, "set", keeper.execute, "PRAGMA query_only = OFF")
            await journal.append(group(a=[entry(12)]))
            await journal.pack("a", before=1)
            assert sum(last - first + 1 for first, last, *_ in stored_blocks(path, "a")) == 12
            assert seqs(await journal.read("a")) == list(range(1, 13))
        async with SqliteJournal(path) as journal:
            assert seqs(await journal.read("a")) == list(range(1, 13))

    run(scenario())
    assert "could not be tidied: attempt to write a readonly database" in caplog.text


def test_a_group_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            broken = row("a")
            broken.title = None  # type: ignore[assignment]  # what the table refuses, after the entries are in
            lost = entries(1, 40)
            with pytest.raises(StorageError, match=r"NOT NULL constraint failed: sessions\.title"):
                await journal.append(Group({"a": lost, "b": entries(1, 1)}, {"a": broken}))
            assert await journal.read_hub(after=0) == []
            assert await journal.rows(RowFilter()) == []
            await journal.append(group(a=lost))
            assert [each.pos for each in lost] == list(range(1, 41))

    run(scenario())


def test_a_closed_journal_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            pass
        with pytest.raises(StorageError, match="it is closed"):
            await journal.append(group(a=entries(1, 1)))

    run(scenario())
