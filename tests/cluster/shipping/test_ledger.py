"""What is known of each session's shipping, over restarts and damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.cluster.shipping.ledger import Ledger, ShippedRow

ROWS = {f"ses_{number:04}": ShippedRow(f"ses_{number:04}", 1, number) for number in range(2_000)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    async def fill() -> None:
        ledger = Ledger(tmp_path / "cluster.db")
        await ledger.open()
        for row in ROWS.values():
            ledger.put(row)
        await ledger.close()

    run(fill())
    return tmp_path / "cluster.db"


def test_rows_are_there_again(path: Path) -> None:
    assert run(rows_at(path)) == ROWS


@pytest.mark.parametrize("damage", ["noise", "page", "schema"])
def test_a_damaged_one_is_begun_anew_and_takes_rows(path: Path, damage: str) -> None:
    if damage == "schema":
        with closing(sqlite3.connect(path)) as database:
            database.executescript("DROP TABLE shipped; CREATE TABLE shipped (session PRIMARY KEY, other)")
    else:
        content = bytearray(path.read_bytes())
        content[4096 if damage == "page" else 0:] = b"\xa5" * (len(content) - (4096 if damage == "page" else 0))
        path.write_bytes(content)
    assert run(rows_at(path, ShippedRow("new"))) == {"new": ShippedRow("new")}
    assert run(rows_at(path)) == {"new": ShippedRow("new")}


async def rows_at(path: Path, new: ShippedRow | None = None) -> dict[str, ShippedRow]:
    ledger = Ledger(path)
    await ledger.open()
    if new is not None:
        ledger.put(new)
    await ledger.close()
    return ledger.rows
