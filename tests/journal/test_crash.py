"""A journal whose process is killed, or whose log is torn, opens again with whole groups and all that was acknowledged."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.appender import UPKEEP, body, has_row, row
from tests.journal.samples import entries, group, read_all, read_hub_all
from tests.journal.samples import row as sample_row
from tests.tooling.examples import examples
from trunkline.journal.base import Entry, Group, RowFilter
from trunkline.journal.stores.sqlite.group_log import SUFFIXES as LOGS
from trunkline.journal.stores.sqlite.housekeeping import Upkeep
from trunkline.journal.stores.sqlite.store import SqliteJournal

APPENDER = Path(__file__).with_name("appender.py")


def append_and_kill(path: Path, seed: int) -> list[tuple[int, int, int]]:
    """Run the appender, kill it after a random number of groups; returns what it acknowledged: (group, seq, pos)."""
    process = subprocess.Popen([sys.executable, str(APPENDER), str(path), str(seed)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    acknowledged: list[str] = []
    for _ in range(random.Random(seed).randint(1, 120)):
        acknowledged.append(process.stdout.readline())
    process.kill()
    acknowledged += process.stdout.readlines()
    process.stdout.close()
    process.wait(timeout=60)
    whole = [line.split() for line in acknowledged if line.endswith("\n")]
    return [(int(number), int(seq), int(pos)) for number, seq, pos in whole]


async def check_whole_groups(path: Path, has_row: Callable[[int], bool] = has_row) -> dict[int, list[Entry]]:
    """Every group is there with all of its entries or with none; returns the busy session's entries by group."""
    async with SqliteJournal(path, upkeep=UPKEEP) as journal:
        busy, slow = await read_all(journal, "busy"), await read_all(journal, "slow")
        assert [each.seq for each in busy] == list(range(1, len(busy) + 1))
        assert [each.seq for each in slow] == list(range(1, len(slow) + 1))
        by_group: dict[int, list[Entry]] = {}
        for each in busy:
            assert each.event == body(each.at, each.seq, len(each.event))
            by_group.setdefault(each.at, []).append(each)
        assert sorted(by_group) == [each.at for each in slow]
        hub = await read_hub_all(journal)
        assert {session for session, _ in hub} == {"busy", "slow"} | {f"only-{number}" for number in by_group}
        assert len(hub) == len(busy) + 2 * len(slow)
        positions = [each.pos for _, each in hub]
        assert positions == sorted(set(positions))
        [found] = await journal.rows(RowFilter(id="busy"))
        assert found.checkpoint == str(max(number for number in by_group if has_row(number))).encode()
        return by_group


def test_a_killed_process_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    newest_pos = 0
    for seed in range(examples(5)):
        acknowledged = append_and_kill(path, seed)
        assert acknowledged
        found = run(check_whole_groups(path))
        for number, seq, pos in acknowledged:
            assert (found[number][-1].seq, found[number][-1].pos) == (seq, pos)
        assert len(found) <= acknowledged[-1][0] + 1  # at most the group that was under way came on top
        assert acknowledged[0][2] > newest_pos
        newest_pos = max(entry.pos for entries_of in found.values() for entry in entries_of)


@pytest.mark.parametrize("seed", range(12))
def test_a_log_cut_at_any_byte_opens_to_a_prefix_of_whole_groups(tmp_path: Path, seed: int) -> None:
    path, torn = tmp_path / "journal.db", tmp_path / "torn" / "journal.db"
    chance = random.Random(seed)
    never = Upkeep(checkpoint_bytes=1 << 60, behind_bytes=1 << 60, fold_groups=5, fold_bytes=1 << 60)

    async def write() -> None:
        async with SqliteJournal(path, upkeep=never) as journal:
            seq = 0
            for number in range(1, 41):
                count = chance.choice([1, 3, 30])
                await journal.append(Group(
                    {"busy": [Entry(seq + n, number, body(number, seq + n, 100)) for n in range(1, count + 1)],
                     "slow": [Entry(number, number, body(number, number, 100))],
                     f"only-{number}": [Entry(1, number, body(number, 1, 100))]},
                    {"busy": row(number)}))
                seq += count
            torn.parent.mkdir()
            for suffix in ("", "-wal", *LOGS):
                shutil.copy(f"{path}{suffix}", f"{torn}{suffix}")

    run(write())
    log = Path(f"{torn}-wal")
    # The first group's commit is past the schema's pages; cut anywhere after it.
    log.write_bytes(log.read_bytes()[:chance.randint(120_000, log.stat().st_size - 1)])
    found = run(check_whole_groups(torn, lambda number: True))
    assert list(found) == list(range(1, len(found) + 1))
    assert 0 < len(found) <= 40


def test_bytes_of_garbage_at_the_end_of_the_logs_are_ignored(tmp_path: Path) -> None:
    path, torn = tmp_path / "journal.db", tmp_path / "torn.db"

    async def write() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(Group({"a": entries(1, 3)}, {"a": sample_row("a")}))
            await journal.append(group(a=entries(4, 5)))
            for suffix in ("", "-wal", *LOGS):
                shutil.copy(f"{path}{suffix}", f"{torn}{suffix}")

    async def read() -> list[int]:
        async with SqliteJournal(torn) as journal:
            return [each.seq for each in await journal.read("a")]

    run(write())
    for suffix in ("-wal", *LOGS):
        log = Path(f"{torn}{suffix}")
        log.write_bytes(log.read_bytes() + random.Random(1).randbytes(10_000))
    assert run(read()) == [1, 2, 3, 4, 5]
