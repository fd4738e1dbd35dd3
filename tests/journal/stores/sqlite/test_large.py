"""Entries of many megabytes are blocks like any other, written without copies."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.sqlite import large
from trunkline.journal.stores.sqlite.block import encode
from trunkline.journal.stores.sqlite.large import large_block
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.mark.parametrize("entry", [
    Entry(1, 2, b"{}", None, None, None, 3),
    Entry(1 << 40, 1_790_000_000_000_000, b"{}", b"u" * 70_000, b"p" * 300, b"r" * (1 << 20), 99, b"{}"),
    Entry(7, 8, b"e" * 65_536, b"u" * 65_535, None, None, 1),
])
def test_the_parts_are_what_any_block_would_hold(entry: Entry) -> None:
    block = large_block("s", entry)
    assert b"".join(block.parts) == encode([entry])
    assert block.size == len(encode([entry]))


def test_large_entries_stand_among_small_ones_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.journal.stores.sqlite.store.LARGE_ENTRY", 10_000)
    monkeypatch.setattr("trunkline.journal.stores.sqlite.store._RECENT_ROW_BYTES", 5_000)

    async def play() -> None:
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            entries = [Entry(seq, seq, b"e%d" % seq, b"u" * (20_000 if seq % 3 == 0 else 10)) for seq in range(1, 10)]
            await journal.append(Group({"a": entries[:6], "b": [Entry(1, 1, b"small")]}, {}))
            await journal.append(Group({"a": entries[6:]}, {}))
            found = await journal.read("a", max_bytes=1 << 30)
            assert [(entry.seq, entry.event, len(entry.update or b"")) for entry in found] == [
                (entry.seq, entry.event, len(entry.update or b"")) for entry in entries]
            positions = [entry.pos for _, entry in await journal.read_hub(after=0, max_bytes=1 << 30)]
            assert positions == sorted(set(positions)) and len(positions) == 10
        async with SqliteJournal(tmp_path / "journal.db") as journal:
            assert [entry.seq for entry in await journal.read("a", max_bytes=1 << 30)] == list(range(1, 10))
            await journal.append(Group({"a": [Entry(10, 10, b"next")]}, {}))

    run(play())
    assert large.LARGE_ENTRY > 10_000


def test_damage_in_a_large_entry_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.journal.stores.sqlite.store.LARGE_ENTRY", 10_000)
    monkeypatch.setattr("trunkline.journal.stores.sqlite.store._RECENT_ROW_BYTES", 5_000)
    path = tmp_path / "journal.db"

    async def play() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(Group({"a": [Entry(1, 1, b"e", b"u" * 20_000)]}, {}))

    run(play())
    before = list(faults_of(path))
    connection = sqlite3.connect(path)
    [place] = connection.execute("SELECT first_pos FROM blocks").fetchone()
    with connection, connection.blobopen("blocks", "body", place) as body:
        body[10_000] = b"x"[0]
    connection.close()
    assert [fault.what for fault in faults_of(path) if fault not in before] == ["entries 1 to 1 do not fit their checksum"]
