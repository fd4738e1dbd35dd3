"""The group log: small groups beside the database, given back whole after a crash; where one is not, that is told."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.aio import run
from tests.journal.samples import entries, group, read_all, read_hub_all, row, seqs, stored_blocks, table_count
from tests.journal.stores.sqlite.mending.test_salvage import QUIET
from tests.tooling.examples import examples
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, RowFilter
from trunkline.journal.stores.sqlite import group_log
from trunkline.journal.stores.sqlite.group_log import GroupLog, LogRecord, paths_of, read_logs, records_of
from trunkline.journal.stores.sqlite.housekeeping import Housekeeper, Upkeep
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.read_only import open_read_only
from trunkline.journal.stores.sqlite.store import SqliteJournal

ERROR = OSError(errno.ENOSPC, "No space left on device")


def log_sizes(path: Path) -> list[int]:
    return [each.stat().st_size for each in paths_of(path)]


def table_seqs(path: Path, session: str) -> list[int]:
    """What a version that knows of no group log would find."""
    return [seq for first, last, *_ in stored_blocks(path, session) for seq in range(first, last + 1)]


async def in_keeper(journal: SqliteJournal, work: Callable[..., object]) -> None:
    await journal._run(journal._keeper_thread, "tidied", work)


def takes(journal: SqliteJournal) -> bool:
    return journal._log.takes


def opened(path: Path) -> GroupLog:
    log = GroupLog(path)
    log.open()
    return log


# Records.


def test_records_are_given_back_as_they_were_written(tmp_path: Path) -> None:
    log = opened(tmp_path / "x.db")
    log.begin()
    assert log.append(1, 3, b"one") and log.append(4, 4, b"") and log.append(5, 9, b"three")
    log.close()
    assert read_logs(tmp_path / "x.db") == [LogRecord(1, 3, b"one"), LogRecord(4, 4, b""), LogRecord(5, 9, b"three")]


def test_the_files_take_turns_and_only_the_one_that_is_not_written_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    log = opened(path)
    log.begin()
    assert log.switch(), "nothing was written, so nothing of before can be in it"
    assert log.append(1, 1, b"first") and log.switch() and log.append(2, 2, b"second")
    assert not log.switch(), "the other one still holds something"
    assert log.cut() and [each.body for each in read_logs(path)] == [b"second"]
    assert log.switch() and log.cut() and log_sizes(path) == [0, 0]
    log.close()


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=8), st.data())
def test_whatever_is_damaged_the_other_records_are_given_back_and_nothing_else(bodies: list[bytes], data: st.DataObject) -> None:
    written, ends = bytearray(), [0]
    for number, body in enumerate(bodies):
        place = group_log._PLACE.pack(len(body), 0, number + 1, number + 1)
        check = zlib.crc32(body, zlib.crc32(place))
        written += group_log._START.pack(group_log._MAGIC, check) + place + body
        ends.append(len(written))
    first = data.draw(st.integers(0, len(written) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=40))[:len(written) - first]
    before = bytes(written)
    written[first:first + len(noise)] = noise
    hit = {number for number in range(len(bodies))
           if before[ends[number]:ends[number + 1]] != written[ends[number]:ends[number + 1]]}
    found = [(record.first_pos - 1, record.body) for record in records_of(bytes(written))]
    assert found == [(number, body) for number, body in enumerate(bodies) if number not in hit]


# Which groups.


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_groups_of_small_parts_alone_are_logged_and_all_others_are_in_the_database(tmp_path: Path, durability: str) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> tuple[int, int, int]:
        async with SqliteJournal(path, durability=durability, upkeep=QUIET) as journal:  # type: ignore[arg-type]
            await journal.append(group(a=entries(1, 2), b=entries(1, 1)))
            await journal.append(Group({"a": entries(3, 3)}, {"a": row("a")}))
            await journal.append(group(a=entries(4, 40)))
            await journal.append(group(a=entries(41, 41)))
            await journal.append(Group({}, {"a": row("a")}))
            assert seqs(await read_all(journal, "a")) == list(range(1, 42))
            assert [entry.pos for _, entry in await read_hub_all(journal)] == list(range(1, 43))
            logged = len(read_logs(path))
            return logged, table_count(path, "recent"), table_count(path, "blocks")

    assert run(scenario()) == ((2, 1, 1) if durability == "normal" else (0, 3, 1))


@pytest.mark.parametrize("count", [1, 3])
def test_entries_on_their_own_way_leave_what_a_group_of_them_leaves(tmp_path: Path, count: int) -> None:
    async def scenario(name: str) -> tuple[object, ...]:
        path = tmp_path / name / "journal.db"
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            for seq in range(1, 6 * count, count):
                made = entries(seq, seq + count - 1)
                assert journal.append_alone_now("a", made) if name == "alone" else journal.append_now(group(a=made))
            recent, keeper = journal._recent, journal._keeper
            logged = [(record.first_pos, record.last_pos, record.body) for record in read_logs(path)]
            return (logged, recent.groups, recent.bytes, recent.last_seqs(), keeper._log_bytes, dict(journal._last_seq),
                    path.with_suffix(".marks").read_bytes())

    assert run(scenario("alone")) == run(scenario("group"))


def test_one_entry_that_the_log_cannot_take_is_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            first, second = entries(1, 2)
            with monkeypatch.context() as patch:
                patch.setattr(journal._log, "append", lambda *record: False)
                assert journal.append_alone_now("a", [first])
            assert journal.append_alone_now("a", [second])
            assert (table_count(path, "recent"), len(read_logs(path)), [first.pos, second.pos]) == (1, 1, [1, 2])
            assert seqs(await journal.read("a")) == [1, 2]

    run(scenario())


def test_a_group_that_is_long_is_in_the_database(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            long = {f"s{number}": entries(1, 1, size=8000) for number in range(group_log.RECORD_MOST // 8000 + 1)}
            await journal.append(group(**long))
            assert (log_sizes(path), table_count(path, "recent")) == ([0, 0], 1)
            assert len(await read_hub_all(journal)) == len(long)

    run(scenario())


def test_of_a_log_that_is_too_long_only_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = opened(tmp_path / "x.db")
    log.begin()
    assert log.append(1, 1, b"x" * 50) and log.append(2, 2, b"y" * 50)
    log.close()
    monkeypatch.setattr(group_log, "FILE_MOST", 140)
    assert [record.first_pos for record in read_logs(tmp_path / "x.db")] == [1]


def test_a_log_that_nobody_can_empty_grows_no_longer_than_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds an old state of the database in a transaction keeps every checkpoint from its end, and so the logs."""
    path, copy = tmp_path / "a" / "journal.db", tmp_path / "copy"
    monkeypatch.setattr(group_log, "FILE_MOST", 100_000)
    often = Upkeep(checkpoint_bytes=50_000, behind_bytes=1 << 30, fold_groups=10, fold_bytes=1 << 30)

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=often) as journal:
            await in_keeper(journal, lambda: journal._keeper._connection.execute("PRAGMA busy_timeout = 0"))
            with closing(sqlite3.connect(path, isolation_level=None)) as outside:
                outside.execute("BEGIN")
                outside.execute("SELECT count(*) FROM blocks").fetchone()
                for seq in range(1, 601):
                    await journal.append(Group({"a": entries(seq, seq, size=1000)}, {}, {"a": 1002}))
                await in_keeper(journal, lambda: None)
                shutil.copytree(path.parent, copy)
            assert max(log_sizes(path)) <= 100_000
        async with SqliteJournal(copy / "journal.db") as journal:
            assert seqs(await read_all(journal, "a")) == list(range(1, 601)) and (await journal.health()).asides == []

    run(scenario())


def test_no_checkpoint_cuts_off_what_came_behind_its_fold_whatever_becomes_of_the_log(tmp_path: Path) -> None:
    path, copy = tmp_path / "a" / "journal.db", tmp_path / "copy"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 2)))
            keeper = journal._keeper

            def fold_and_stop(**how: bool) -> bool:
                """A group comes behind the fold, and with the next one the log cannot be written any more."""
                folded = Housekeeper.fold(keeper, **how)
                journal._commit(Group({"a": entries(3, 3)}, {}, {"a": 22}))
                journal._log.stop()
                return folded

            keeper.fold = fold_and_stop  # type: ignore[method-assign]
            await in_keeper(journal, keeper.checkpoint)
            del keeper.fold
            shutil.copytree(path.parent, copy)
            await journal.append(group(a=entries(4, 4)))
            await in_keeper(journal, lambda: None)
            assert takes(journal) and log_sizes(path) == [0, 0]
            assert seqs(await journal.read("a")) == [1, 2, 3, 4]
        async with SqliteJournal(copy / "journal.db") as journal:
            assert seqs(await journal.read("a")) == [1, 2, 3] and (await journal.health()).asides == []

    run(scenario())


def test_a_hub_that_syncs_takes_over_what_one_that_does_not_has_logged(tmp_path: Path) -> None:
    path, copy = tmp_path / "journal.db", tmp_path / "copy"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 2)))
            shutil.copytree(tmp_path, copy)
        async with SqliteJournal(copy / "journal.db", durability="full") as journal:
            assert seqs(await journal.read("a")) == [1, 2] and log_sizes(copy / "journal.db") == [0, 0]
            await journal.append(group(a=entries(3, 3)))
        assert table_seqs(copy / "journal.db", "a") == [1, 2, 3]

    run(scenario())


def test_a_journal_that_is_closed_in_order_leaves_all_in_the_database_and_the_logs_empty(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        for first in (1, 4):
            async with SqliteJournal(path) as journal:
                await journal.append(group(a=entries(first, first + 2)))
                assert sum(log_sizes(path)) > 0
            assert log_sizes(path) == [0, 0] and table_seqs(path, "a") == list(range(1, first + 3))
            with closing(sqlite3.connect(path)) as database:
                assert database.execute("SELECT count(*) FROM counters WHERE name = 'folded'").fetchone() == (0,)

    run(scenario())


# After a crash.


def test_what_was_logged_is_back_after_a_crash_each_entry_once_and_pos_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a" / "journal.db"

    async def write() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(Group({"a": entries(1, 2)}, {"a": row("a")}))
            await journal.append(group(a=entries(3, 4), b=entries(1, 1)))
            shutil.copytree(path.parent, tmp_path / "before the fold")
            await in_keeper(journal, journal._keeper.fold)
            shutil.copytree(path.parent, tmp_path / "before the cut")
            await journal.append(group(a=entries(5, 5)))
            shutil.copytree(path.parent, tmp_path / "mixed")
            await in_keeper(journal, journal._keeper.checkpoint)
            await journal.append(group(a=entries(6, 6)))
            shutil.copytree(path.parent, tmp_path / "switched")

    async def look(crashed: Path, last: int) -> None:
        async with SqliteJournal(crashed) as journal:
            assert seqs(await journal.read("a")) == list(range(1, last + 1))
            found = await read_hub_all(journal)
            assert [entry.pos for _, entry in found] == list(range(1, last + 2))
            assert (await journal.rows(RowFilter()))[0].last_seq == last
            assert log_sizes(crashed) == [0, 0]
            with pytest.raises(StorageError, match=f"entries up to {last}"):
                await journal.append(group(a=entries(last, last)))
            fresh = entries(last + 1, last + 1)
            await journal.append(group(a=fresh))
            assert fresh[0].pos == last + 2
            assert (await journal.health()).damages == []

    run(write())
    for name, last in (("before the fold", 4), ("before the cut", 4), ("mixed", 5), ("switched", 6)):
        run(look(tmp_path / name / "journal.db", last))


def test_a_record_that_was_cut_short_is_of_a_group_that_nobody_was_told_of(tmp_path: Path) -> None:
    path, copy = tmp_path / "journal.db", tmp_path / "copy" / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 2)))
            shutil.copytree(tmp_path, copy.parent)
            await journal.append(group(a=entries(3, 3)))
            torn = paths_of(path)[0].read_bytes()[:-1]
        paths_of(copy)[0].write_bytes(torn)
        async with SqliteJournal(copy) as journal:
            assert seqs(await journal.read("a")) == [1, 2] and (await journal.health()).asides == []
            await journal.append(group(a=entries(3, 4)))
            assert seqs(await journal.read("a")) == [1, 2, 3, 4]

    run(scenario())


# Full disks.


def test_a_group_that_the_log_cannot_take_is_in_the_database_and_the_next_one_is_logged_again(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "journal.db"
    write = os.pwrite

    def short(file: int, data: bytes, place: int) -> int:
        return write(file, data[:10], place) if data.startswith(group_log._MAGIC) else write(file, data, place)

    def full(file: int, data: bytes, place: int) -> int:
        if data.startswith(group_log._MAGIC):
            raise ERROR
        return write(file, data, place)

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 1)))
            size = log_sizes(path)
            for seq, fault in ((2, short), (3, full)):
                monkeypatch.setattr(os, "pwrite", fault)
                assert journal.append_now(group(a=entries(seq, seq)))
                monkeypatch.setattr(os, "pwrite", write)
                assert log_sizes(path) == size, "what was half written is gone"
            assert table_count(path, "recent") == 2
            await journal.append(group(a=entries(4, 4)))
            assert log_sizes(path) != size and seqs(await journal.read("a")) == [1, 2, 3, 4]

    run(scenario())
    assert len(caplog.records) == 1 and "the database takes what it would have" in caplog.text


def test_where_neither_takes_a_group_nothing_of_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, copy = tmp_path / "journal.db", tmp_path / "copy"

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 1)))
            journal._writer.execute("PRAGMA query_only = ON")
            monkeypatch.setattr(GroupLog, "append", lambda *args: False)
            lost = entries(2, 2)
            with pytest.raises(StorageError, match="could not be written"):
                await journal.append(group(a=lost))
            assert lost[0].pos == 0 and (await journal.health()).unwritable is not None
            shutil.copytree(tmp_path, copy)
            monkeypatch.undo()
            await journal.append(group(a=lost))
            assert (await journal.health()).unwritable is None and seqs(await journal.read("a")) == [1, 2]
        async with SqliteJournal(copy / "journal.db") as journal:
            assert seqs(await journal.read("a")) == [1]

    run(scenario())


def test_a_log_that_cannot_be_cut_back_is_not_written_until_it_is_emptied(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.db"

    def fail(*args: object) -> int:
        raise ERROR

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=entries(1, 1)))
            with monkeypatch.context() as broken:
                broken.setattr(os, "ftruncate", fail)
                log, journal._log._files[0] = journal._log._files[0], 10_000
                await journal.append(group(a=entries(2, 2)))
                journal._log._files[0] = log
                assert not takes(journal)
                await in_keeper(journal, lambda: None)  # the housekeeping that is due now fails as well
            await journal.append(group(a=entries(3, 3)))
            await in_keeper(journal, lambda: None)
            assert takes(journal) and log_sizes(path) == [0, 0]
            await journal.append(group(a=entries(4, 4)))
            assert sum(log_sizes(path)) > 0 and seqs(await journal.read("a")) == [1, 2, 3, 4]

    run(scenario())


# What goes.


def test_a_checkpoint_leaves_only_what_came_since_so_that_the_logs_stay_short(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> int:
        largest = 0
        async with SqliteJournal(path, upkeep=Upkeep(checkpoint_bytes=256 << 10, behind_bytes=1 << 20)) as journal:
            for first in range(1, 8001, 4):
                await journal.append(group(a=entries(first, first + 3, size=300)))
                largest = max(largest, sum(log_sizes(path)))
            assert len(await read_all(journal, "a")) == 8000
        return largest

    assert 0 < run(scenario(), timeout_s=60) < 1 << 20


def test_what_is_deleted_is_in_no_log_any_more(tmp_path: Path) -> None:
    path, word = tmp_path / "journal.db", b"xylophone"

    def files_with() -> list[str]:
        return [each.name for each in tmp_path.iterdir() if word in each.read_bytes()]

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(group(a=[Entry(1, 1, word)], b=entries(1, 1)))
            await in_keeper(journal, journal._keeper.checkpoint)
            await journal.append(group(a=[Entry(2, 1, word)], b=entries(2, 2)))
            await in_keeper(journal, journal._keeper.fold)
            await journal.append(group(a=[Entry(3, 1, word)], b=entries(3, 3)))
            assert "journal.db-log1" in files_with()
            await journal.delete("a")
            await in_keeper(journal, lambda: None)  # behind the scrub
            assert files_with() == []
            assert seqs(await journal.read("b")) == [1, 2, 3] and await journal.read("a") == []

    run(scenario())


def test_a_deleted_session_does_not_come_back_by_a_log_that_was_not_cut_yet(tmp_path: Path) -> None:
    path, copy = tmp_path / "journal.db", tmp_path / "copy"

    async def write() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            await journal.append(Group({"a": entries(1, 1)}, {"a": row("a"), "b": row("b")}))
            await journal.append(group(a=entries(2, 2), b=entries(1, 2)))
            journal._scrub_soon = lambda: None  # type: ignore[method-assign]
            await journal.delete("a")
            await journal.append(group(b=entries(3, 3)))
            shutil.copytree(tmp_path, copy)

    async def look(crashed: Path) -> None:
        async with SqliteJournal(crashed) as journal:
            assert await journal.read("a") == [] and seqs(await journal.read("b")) == [1, 2, 3]
            assert {session for session, _ in await read_hub_all(journal)} == {"b"}

    run(write())
    shutil.copytree(copy, tmp_path / "mended")
    with closing(sqlite3.connect(tmp_path / "mended" / "journal.db", isolation_level=None)) as database:
        database.execute("DROP INDEX blocks_by_session")
    run(look(copy / "journal.db"))
    run(look(tmp_path / "mended" / "journal.db"))


# From outside.


def test_who_reads_beside_a_busy_journal_finds_no_fault_and_no_hole(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    busy = Upkeep(checkpoint_bytes=64 << 10, behind_bytes=256 << 10, fold_groups=9, fold_bytes=16 << 10)
    stop = threading.Event()

    async def write() -> None:
        async with SqliteJournal(path, upkeep=busy) as journal:
            number = 0
            while not stop.is_set():
                number += 1
                count = 20 if number % 7 == 0 else 1
                last = await journal.read("a", tail=True, limit=1)
                first = last[0].seq + 1 if last else 1
                await journal.append(Group({"a": entries(first, first + count - 1), "b": entries(number, number)},
                                           {"a": row("a"), "b": row("b")} if number % 5 == 1 else {}))

    def look() -> None:
        for _ in range(examples(15)):
            assert list(faults_of(path)) == []
            with open_read_only(path) as file:
                found = list(file.entries())
            assert [entry.pos for _, entry in found] == list(range(1, len(found) + 1))

    def look_and_stop() -> None:
        try:
            look()
        finally:
            stop.set()

    async def scenario() -> None:
        async with SqliteJournal(path):
            pass
        await asyncio.gather(write(), asyncio.to_thread(look_and_stop))

    run(scenario(), timeout_s=60)
