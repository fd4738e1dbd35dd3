"""What is kept, packed and deleted: nothing is lost on the way, and nobody waits for it on the loop."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import BUSY, entries, entry, group, read_all, row, seqs, stored_blocks, table_count
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, RowFilter
from trunkline.journal.stores.sqlite.block import BLOCK_BYTES, decode
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.store import SqliteJournal


def test_packed_blocks_are_compressed_and_stay_small_enough_for_pages(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            for first in range(1, 3001, 20):
                await journal.append(group(a=entries(first, first + 19, size=500)))
            whole = await read_all(journal, "a")
            assert await journal.pack("a", before=2500) > 100
            assert await read_all(journal, "a") == whole

    run(scenario())
    packed = [body for _, last, flag, body in stored_blocks(path, "a") if flag]
    assert max(last for _, last, flag, _ in stored_blocks(path, "a") if flag) < 2500
    assert all(sum(each.size() for each in decode(body)) <= BLOCK_BYTES for body in packed)
    assert sum(map(len, packed)) < 2500 * 500 // 10


def test_packing_after_every_short_turn_does_not_leave_many_blocks(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            for turn in range(200):
                await journal.append(group(a=[Entry(turn + 1, 0, os.urandom(100))]))
                await journal.pack("a", before=turn + 2)
            assert seqs(await read_all(journal, "a")) == list(range(1, 201))

    run(scenario())
    assert len(stored_blocks(path, "a")) < 20


def test_a_removal_that_was_cut_short_is_finished_by_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def write() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(Group({"a": entries(1, 400, size=3000), "b": entries(1, 1)}, {"a": row("a"), "b": row("b")}))
            await journal.append(group(a=entries(401, 402)))

    async def look() -> None:
        async with SqliteJournal(path) as journal:
            assert await journal.read("a") == []
            assert [found.id for found in await journal.rows(RowFilter())] == ["b"]
            assert [session for session, _ in await journal.read_hub(after=0)] == ["b"]
            fresh = entry(1)
            await journal.append(group(a=[fresh]))
            assert fresh.pos > 403

    run(write())
    connection = sqlite3.connect(path)  # what a hub leaves that dies right after the first step
    connection.execute("INSERT INTO deletions VALUES ('a')")
    connection.execute("INSERT INTO counters VALUES ('pos', 403)")
    connection.execute("DELETE FROM sessions WHERE id = 'a'")
    connection.commit()
    connection.close()
    run(look())
    assert table_count(path, "deletions") == 0


def test_a_long_removal_lets_commits_and_readers_through(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db", upkeep=BUSY) as journal:
            await journal.append(Group({"a": entries(1, 20_000, size=1000)}, {"a": row("a"), "b": row("b")}))
            removal = asyncio.create_task(journal.delete("a"))
            seq = 0
            while not removal.done():
                seq += 1
                await journal.append(group(b=[entry(seq)]))
                assert (await journal.read("b", tail=True, limit=1))[0].seq == seq
            await removal
            assert seq > 5
            assert await journal.read("a") == []
            assert seqs(await read_all(journal, "b")) == list(range(1, seq + 1))

    run(scenario())


def test_a_session_that_is_being_deleted_takes_no_entries(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            await journal.append(group(a=entries(1, 3), b=entries(1, 1)))
            journal._retention.deleting.add("a")
            assert await journal.read("a") == []
            assert [session for session, _ in await journal.read_hub(after=0)] == ["b"]
            for late in (Group({"a": entries(4, 4)}, {}), Group({}, {"a": row("a")})):
                with pytest.raises(StorageError, match="session a is being deleted"):
                    await journal.append(late)
            await journal.append(group(b=entries(2, 2)))

    run(scenario())


def with_text_of(folder: Path, sessions: list[str]) -> list[tuple[str, str]]:
    """Which file holds text of which of these sessions."""
    contents = [(each.name, each.read_bytes()) for each in folder.iterdir()]
    return [(name, session) for name, content in contents for session in sessions if f"{session}/".encode() in content]


async def write_much(journal: SqliteJournal, sessions: list[str], seed: int) -> None:
    """Rows of all sizes, folded and packed again and again, so that pages are split and merged."""
    chance, ends = random.Random(seed), dict.fromkeys(sessions, 0)
    for number in range(600):
        parts: dict[str, list[Entry]] = {}
        for session in chance.sample(sessions, 2):
            count, size = chance.choice([1, 2, 5]), chance.choice([60, 200, 900])
            text = f"{session}/".encode().ljust(size, b"x")
            parts[session] = [Entry(ends[session] + each, 1, text) for each in range(1, count + 1)]
            ends[session] += count
        told = {session: row(session, checkpoint=f"{session}/".encode().ljust(chance.choice([100, 700, 3000])))
                for session in parts if chance.random() < 0.2}
        await journal.append(Group(parts, told))
        if number % 20 == 19:
            await journal.pack(chance.choice(sessions), before=ends[sessions[0]] + 1000)


def test_text_of_what_is_deleted_is_in_no_room_between_the_rows_either(tmp_path: Path) -> None:
    path, sessions = tmp_path / "journal.db", [f"s{number}." for number in range(30)]
    gone = sessions[::2]

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=BUSY) as journal:
            await write_much(journal, sessions, 3)
            whole = {session: await read_all(journal, session) for session in sessions}
            for session in gone:
                await journal.delete(session)
            await journal._run(journal._keeper_thread, "tidied", lambda: None)  # behind the scrub
            assert with_text_of(tmp_path, gone) == []
            assert {session: await read_all(journal, session) for session in sessions[1::2]} == {
                session: whole[session] for session in sessions[1::2]}
        assert list(faults_of(path)) == [] and with_text_of(tmp_path, gone) == []

    run(scenario())


def test_what_a_hub_that_died_had_no_time_to_scrub_is_scrubbed_by_the_next_one(tmp_path: Path) -> None:
    path, copy = tmp_path / "a" / "journal.db", tmp_path / "copy"
    sessions = [f"s{number}." for number in range(30)]

    async def write() -> None:
        async with SqliteJournal(path, upkeep=BUSY) as journal:
            await write_much(journal, sessions, 3)
            journal._scrub_soon = lambda: None  # type: ignore[method-assign]
            for session in sessions[::2]:
                await journal.delete(session)
            shutil.copytree(path.parent, copy)

    async def look() -> None:
        async with SqliteJournal(copy / "journal.db") as journal:
            await journal._run(journal._keeper_thread, "tidied", lambda: None)
            assert with_text_of(copy, sessions[::2]) == [] and await journal.read(sessions[1])
        assert table_count(copy / "journal.db", "counters WHERE name = 'unscrubbed'") == 0

    run(write())
    assert with_text_of(copy, sessions[::2])
    run(look())


def test_what_is_due_behind_the_end_of_a_journal_wipes_nothing_and_finds_its_own_file(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        journal = await SqliteJournal(tmp_path / "journal.db").__aenter__()
        await journal.append(group(s=entries(1, 5)))
        may_go_on = threading.Event()
        journal._keeper_thread.submit(may_go_on.wait)
        journal._retention._next_page = 1  # the logs are empty, the pages are next
        closing = asyncio.create_task(journal.__aexit__(None, None, None))
        await asyncio.sleep(0)
        journal._scrub_soon()
        own = journal._wiper._file
        found = journal._keeper_thread.submit(lambda: (journal._is_open, journal._wiper._file, journal._wiper.count > 0))
        may_go_on.set()
        await closing
        assert found.result() == (False, own, True), "its number is nobody else's as long as the thread works"
        assert journal._wiper._file == -1 and caplog.messages == []

    run(scenario())
