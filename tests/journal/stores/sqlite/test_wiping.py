"""What a page has left of rows that moved away is overwritten; the rows are not, and no connection brings it back."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.journal.stores.sqlite import database, wiping
from trunkline.journal.stores.sqlite.wiping import PAGE_BYTES, Wiper


class Tables:
    """A file with rows of all sizes in both kinds of tables, written by three connections."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.chance = path, random.Random(seed)
        database.create(path)
        self.wiper = Wiper(path)
        self.wiper.open()
        self.connections = [database.connect(path) for _ in range(3)]
        self.keeper = self.connections[-1]
        self.keeper.execute("CREATE TABLE numbered (id INTEGER PRIMARY KEY, session TEXT, body BLOB)")
        self.keeper.execute("CREATE TABLE named (id TEXT PRIMARY KEY, session TEXT, body BLOB) WITHOUT ROWID")
        self.keeper.execute("CREATE INDEX by_session ON numbered (session, id)")

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.wiper.close()

    def write(self, sessions: list[str], count: int) -> None:
        for _ in range(count):
            session, place = self.chance.choice(sessions), self.chance.randrange(4000)
            writer = self.chance.choice(self.connections)
            body = (f"{session}/".encode() * 4000)[:self.chance.choice([40, 300, 900, 2500, 9000])]
            writer.execute("INSERT OR REPLACE INTO numbered VALUES (?, ?, ?)", (place, session, body))
            writer.execute("INSERT OR REPLACE INTO named VALUES (?, ?, ?)", (f"{place:x}", session, body))

    def delete(self, session: str) -> None:
        for table in ("numbered", "named"):
            self.keeper.execute(f"DELETE FROM {table} WHERE session = ?", (session,))

    def rows(self, connection: sqlite3.Connection) -> list[tuple[object, ...]]:
        return [*connection.execute("SELECT * FROM numbered ORDER BY id"), *connection.execute("SELECT * FROM named ORDER BY id")]

    def holds(self, session: str) -> bool:
        assert self.keeper.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        return f"{session}/".encode() in self.path.read_bytes()


@pytest.fixture
def tables(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Tables]:
    with closing(Tables(tmp_path / "x.db", getattr(request, "param", 1))) as made:
        yield made


SESSIONS = [f"s{number}" for number in range(12)]


def test_what_moved_rows_have_left_is_overwritten_and_stays_so_whoever_writes_next(tmp_path: Path) -> None:
    left = 0
    for seed in range(6):
        with closing(Tables(tmp_path / f"{seed}.db", seed)) as tables:
            tables.write(SESSIONS, 500)
            for gone in ("s2", "s5", "s7", "s11"):
                tables.delete(gone)
                left += tables.holds(gone)
                before = tables.rows(tables.keeper)
                assert tables.wiper.wipe(tables.keeper, tables.wiper.stained(1, tables.wiper.count))
                assert tables.wiper.stained(1, tables.wiper.count) == []
                assert all(tables.rows(each) == before for each in tables.connections)
                tables.write(["later", "on"], 40)
                assert not tables.holds(gone)
            assert tables.keeper.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert left > 0, "SQLite leaves something, or this would not be needed"


def test_while_somebody_reads_nothing_is_touched(tables: Tables) -> None:
    tables.write(SESSIONS, 300)
    assert not tables.keeper.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    tables.keeper.execute("PRAGMA busy_timeout = 0")
    tables.connections[0].execute("BEGIN")
    tables.rows(tables.connections[0])
    tables.write(["later"], 1)
    before, stained = tables.path.read_bytes(), tables.wiper.stained(1, tables.wiper.count)
    assert stained and not tables.wiper.wipe(tables.keeper, stained)
    assert tables.path.read_bytes() == before
    tables.connections[0].execute("COMMIT")
    assert tables.wiper.wipe(tables.keeper, stained)


def test_what_does_not_look_like_a_page_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(1).randbytes
    pages = [noise(PAGE_BYTES) for _ in range(4)]
    pages[0] = b"SQLite format 3\x00" + PAGE_BYTES.to_bytes(2, "big") + bytes(PAGE_BYTES - 18)
    pages[1] = b"\x00\x00\x00\x02" + noise(PAGE_BYTES - 4)  # the rest of a long row
    pages[2] = b"\x0d\x00\x00\xff\xff\x00\x10\x00" + noise(PAGE_BYTES - 8)  # more cells than there is room for
    pages[3] = b"\x0d\x00\x00\x00\x01\xff\xff\x00" + noise(PAGE_BYTES - 8)  # cells beyond the page's end
    (tmp_path / "x.db").write_bytes(b"".join(pages) + b"half a page")
    wiper = Wiper(tmp_path / "x.db")
    wiper.open()
    assert wiper.count == 4 and wiper.stained(1, 10) == []
    monkeypatch.setattr(wiping, "_PAGES_MOST", 3)
    assert wiper.count == 0, "of so many pages it is not known which are which"
    wiper.close()


@pytest.mark.parametrize("setting", ["auto_vacuum = FULL", "page_size = 8192"])
def test_a_file_whose_pages_cannot_be_told_apart_is_left_as_it_is(tmp_path: Path, setting: str) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA {setting}")
        connection.execute("CREATE TABLE numbered (id INTEGER PRIMARY KEY, body BLOB)")
        connection.executemany("INSERT INTO numbered VALUES (?, ?)", [(number, b"x" * 700) for number in range(400)])
        connection.execute("DELETE FROM numbered WHERE id % 3 = 0")
        connection.commit()
    wiper = Wiper(path)
    wiper.open()
    try:
        assert wiper.count == 0 and wiper.stained(1, 1000) == []
    finally:
        wiper.close()
