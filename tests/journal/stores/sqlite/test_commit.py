"""What a group becomes in the file: planned without looking at it, and written as a whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, row, seqs
from trunkline.journal.base import Group
from trunkline.journal.stores.sqlite.block import decode_parts
from trunkline.journal.stores.sqlite.commit import RECENT_ROW_BYTES, plan_commit, write_commit
from trunkline.journal.stores.sqlite.large import LARGE_ENTRY
from trunkline.journal.stores.sqlite.store import SqliteJournal


def test_the_small_parts_of_all_sessions_are_one_row() -> None:
    given = group(a=entries(1, 2), b=entries(5, 5))
    plan = plan_commit(given, 10, None)
    assert (plan.first_pos, plan.newest_pos, plan.blocks, plan.huge) == (11, 13, [], [])
    assert {session: seqs(part) for session, part in decode_parts(plan.body).items()} == {"a": [1, 2], "b": [5]}
    assert [entry.pos for part in given.entries.values() for entry in part] == [11, 12, 13]


def test_what_a_session_has_much_of_becomes_blocks_behind_the_small_parts() -> None:
    given = group(much=entries(1, 17), little=entries(1, 1))
    plan = plan_commit(given, 0, None)
    assert list(plan.small) == ["little"] and plan.small["little"][0].pos == 1
    assert [entry.pos for entry in given.entries["much"]] == list(range(2, 19))
    assert plan.blocks and plan.newest_pos == 18


def test_a_part_over_the_size_that_is_small_is_a_block_without_a_try() -> None:
    given = group(a=entries(1, 1, size=5000), b=entries(1, 1))
    assert list(plan_commit(given, 0, None).small) == ["a", "b"]
    assert list(plan_commit(given, 0, 1000).small) == ["b"]


def test_where_the_row_comes_out_long_only_short_parts_stay_in_it() -> None:
    given = group(**{f"s{number}": entries(1, 1, size=RECENT_ROW_BYTES // 8) for number in range(9)}, short=entries(1, 1))
    plan = plan_commit(given, 0, None)
    assert list(plan.small) == ["short"] and len(plan.body) <= RECENT_ROW_BYTES
    assert plan.newest_pos == 10


def test_a_huge_entry_is_a_block_of_its_own() -> None:
    given = group(a=[*entries(1, 1), *entries(2, 2, size=LARGE_ENTRY + 1), *entries(3, 3)])
    plan = plan_commit(given, 0, 1000)
    assert len(plan.huge) == 1 and len(plan.blocks) >= 1


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    async def check() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            plan = plan_commit(Group({"a": entries(1, 40, size=300), "b": entries(1, 1)}, {"a": row("a")}), 0, None)
            broken = {**journal._queries, "upsert_session": "INSERT INTO no_such_table VALUES (?)"}
            with pytest.raises(sqlite3.Error):
                write_commit(journal._writer, broken, plan)
            assert not journal._writer.in_transaction
            assert (await journal.read("a"), await journal.read("b")) == ([], [])

    run(check())
