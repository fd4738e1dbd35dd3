"""The pages of an SQLite file and of its log, read without SQLite: as SQLite itself would read them, and past what is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.journal.stores.sqlite.mending.pages import PAGE_BYTES, PageRow, Pages

VALUES = [(1, "text é", b"\x00\xff", 1.5, None), (-7, "", b"", -0.25, 0), (1 << 62, "x" * 20_000, b"y" * 9_000, 0.0, 1),
          (300, "small", b"z", 2.0, -(1 << 40))]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database with a log that is never applied by itself."""
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE t (a, b, c, d, e)")
    yield connection
    connection.close()


def insert(writer: sqlite3.Connection, rows: list[tuple[int, str, bytes, float, int | None]]) -> None:
    writer.execute("BEGIN")
    writer.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
    writer.execute("COMMIT")


def rows_in(path: Path, *, with_log: bool = True) -> list[PageRow]:
    """The rows of the table, by rowid."""
    pages = Pages(path, with_log=with_log)
    try:
        return sorted(row for _, row in pages.rows() if len(row.values) == 5 and row.values[0] != "table")
    finally:
        pages.close()


def test_every_kind_of_value_is_read_also_where_a_row_goes_over_several_pages(writer: sqlite3.Connection, tmp_path: Path) -> None:
    insert(writer, VALUES)
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert rows_in(tmp_path / "x.db", with_log=False) == [PageRow(number, row) for number, row in enumerate(VALUES, 1)]


def test_what_is_only_in_the_log_counts(writer: sqlite3.Connection, tmp_path: Path) -> None:
    insert(writer, VALUES[:1])
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    insert(writer, VALUES[1:])
    assert [row.values for row in rows_in(tmp_path / "x.db")] == VALUES
    assert [row.values for row in rows_in(tmp_path / "x.db", with_log=False)] == VALUES[:1]


def test_a_transaction_that_the_log_has_not_whole_does_not_count(writer: sqlite3.Connection, tmp_path: Path) -> None:
    insert(writer, VALUES[:1])
    length = (tmp_path / "x.db-wal").stat().st_size
    insert(writer, VALUES[3:])
    copy = tmp_path / "cut"
    copy.mkdir()
    (copy / "x.db").write_bytes((tmp_path / "x.db").read_bytes())
    whole = (tmp_path / "x.db-wal").read_bytes()
    assert len(whole) > length
    (copy / "x.db-wal").write_bytes(whole[:-1])
    assert [row.values for row in rows_in(copy / "x.db")] == VALUES[:1]


def test_a_page_of_noise_hides_no_other(writer: sqlite3.Connection, tmp_path: Path) -> None:
    insert(writer, [(number, "x" * 500, b"", 0.0, None) for number in range(100)])
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = rows_in(tmp_path / "x.db")
    raw = bytearray((tmp_path / "x.db").read_bytes())
    raw[5 * PAGE_BYTES:6 * PAGE_BYTES] = b"\x0d" + b"\xa5" * (PAGE_BYTES - 1)
    hurt = tmp_path / "hurt.db"
    hurt.write_bytes(raw)
    left = rows_in(hurt)
    assert len(whole) == 100 and 80 < len(left) < 100 and set(left) < set(whole)


def test_what_is_free_is_of_the_past_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a, b, c, d, e)")
        insert(connection, [(number, "x" * 500, b"", 0.0, None) for number in range(100)])
        connection.execute("DELETE FROM t")
    pages = Pages(path)
    stated, free = pages.free_pages()
    pages.close()
    assert stated == len(free) > 5 and rows_in(path) == []


@pytest.mark.parametrize("raw", [b"", b"\xff" * 10_000, b"SQLite format 3\0" + bytes(84)])
def test_a_file_that_is_no_database_has_no_rows(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(raw)
    assert rows_in(path) == []
    assert rows_in(tmp_path / "nothing.db") == []


def test_a_file_that_ends_anywhere_in_its_header_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a, b, c, d, e)")
    header = path.read_bytes()[:100]
    for length in range(len(header)):
        path.write_bytes(header[:length])
        assert rows_in(path) == [], length
