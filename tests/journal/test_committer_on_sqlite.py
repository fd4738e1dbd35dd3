"""The committer with the real store: every entry in order, also where the disk is full, locked or slow."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from tests.aio import run
from tests.journal.committing import with_sinks
from tests.journal.samples import entries, entry, group, row, seqs
from trunkline.errors import StorageError
from trunkline.journal.base import Group
from trunkline.journal.committer import QUICK_COMMITS, SLOW_COMMIT_S, Committer
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_on_sqlite_each_session_hears_of_every_entry_in_order(tmp_path: Path, durability: Any) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db", durability=durability) as journal:
            committer = Committer(journal, linger_s=0.001, saved_s=0)
            names = [f"s{n}" for n in range(10)]
            sinks = dict(zip(names, with_sinks(committer, *names), strict=True))
            for seq in range(1, 101):
                for name in names:
                    committer.submit(name, [entry(seq)])
                if seq % 7 == 0:
                    await committer.committed("s3")
                    assert sinks["s3"].told[-1][-1] == seq
                    assert (await journal.read("s3", tail=True, limit=1))[0].seq == seq
            await committer.close()
            for name, sink in sinks.items():
                assert [seq for told in sink.told for seq in told] == list(range(1, 101))
                assert seqs(await journal.read(name)) == list(range(1, 101))
            assert committer.commits < 100

    run(scenario())


def test_on_sqlite_a_full_disk_reaches_the_session_and_passes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            committer = Committer(journal, saved_s=0)
            [sink] = with_sinks(committer, "a")
            journal._writer.execute(f"PRAGMA max_page_count = {journal._writer.execute('PRAGMA page_count').fetchone()[0]}")
            lost = entries(1, 50, size=1000)
            committer.submit("a", lost)
            with pytest.raises(StorageError, match="disk is full"):
                await committer.committed("a")
            assert sink.lost == [list(range(1, 51))]
            journal._writer.execute("PRAGMA max_page_count = 100000")
            committer.submit("a", lost)
            await committer.close()
            assert sink.told == [list(range(1, 51))]
            assert [session for session, _ in await journal.read_hub(after=0)] == ["a"] * 50
            assert journal.append_now(group(b=entries(1, 1)))

    run(scenario())


def test_on_sqlite_a_lock_of_another_program_holds_nobody_but_the_writers_thread(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            committer = Committer(journal)
            [sink] = with_sinks(committer, "a")
            committer.submit("a", [entry(1)])
            await committer.committed("a")
            stranger = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
            stranger.execute("BEGIN IMMEDIATE")
            before_s = time.perf_counter()
            assert not journal.append_now(Group({"b": entries(1, 1)}, {"b": row("b")}))
            assert time.perf_counter() - before_s < 4, "the loop waited for a lock, which is given up after 5 s"
            for seq in range(2, 6):
                committer.submit("a", [entry(seq)], lambda: row("a"))
                await asyncio.sleep(0)
            assert committer.is_pending("a") and sink.told == [[1]]
            stranger.execute("COMMIT")
            await committer.committed("a")
            await committer.close()
            stranger.close()
            assert ([seq for told in sink.told for seq in told], sink.lost) == ([1, 2, 3, 4, 5], [])
            assert seqs(await journal.read("a")) == [1, 2, 3, 4, 5]

    run(scenario())


def test_on_sqlite_a_slow_disk_is_waited_for_once_on_the_loop_and_then_in_the_thread(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class SlowDisk(SqliteJournal):
        threads: ClassVar[list[str]] = []
        slow = True
        now_s = 0.0

        def _store(self, plan: Any) -> None:
            self.threads.append(threading.current_thread().name)
            if self.slow:
                self.now_s += SLOW_COMMIT_S * 100  # far more than a busy machine may take off as its own delay
            super()._store(plan)

    async def scenario() -> list[str]:
        async with SlowDisk(tmp_path / "journal.db") as journal:
            clock = SimpleNamespace(perf_counter=lambda: journal.now_s, time_ns=time.time_ns)
            monkeypatch.setattr("trunkline.journal.stores.sqlite.store.time", clock)
            committer = Committer(journal, clock_s=clock.perf_counter)
            [sink] = with_sinks(committer, "a")
            for seq in range(1, 6):
                committer.submit("a", [entry(seq)])
                await committer.committed("a")
            journal.slow = False
            for seq in itertools.count(6):
                committer.submit("a", [entry(seq)])
                await committer.committed("a")
                if "MainThread" in journal.threads[5:]:
                    break
            written = list(range(1, len(journal.threads) + 1))
            assert [seq for told in sink.told for seq in told] == seqs(await journal.read("a")) == written
            return journal.threads

    threads = run(scenario())
    assert threads[0] == "MainThread" and not any("MainThread" in name for name in threads[1:5 + QUICK_COMMITS])
