"""A database that another program has open is read, and that program does not notice."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.tooling.stores import state_of
from trunkline.discovery import sqlite
from trunkline.discovery.sqlite import look_at

OWNER = """
import sqlite3, sys
owner = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
owner.execute("PRAGMA journal_mode=WAL")
for line in sys.stdin:
    print(owner.execute(line).fetchall(), flush=True)
"""


class Owner:
    """Another program with the database open."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", OWNER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def does(self, statement: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()

    def is_killed(self) -> None:
        with self.process:
            self.process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder with ?#%" / "a.db"


@pytest.fixture
def owner(path: Path) -> Iterator[Owner]:
    path.parent.mkdir()
    owner = Owner(path)
    owner.does("CREATE TABLE t (a)")
    yield owner
    if owner.process.poll() is None:
        owner.close()


def values(path: Path) -> list[object]:
    with look_at(str(path)) as look:
        return [row[0] for row in look.rows("SELECT a FROM t ORDER BY a LIMIT 100")]


def test_rows_that_are_only_in_the_log_are_seen_and_no_file_is_touched(path: Path, owner: Owner) -> None:
    for number in range(3):
        owner.does(f"INSERT INTO t VALUES ({number})")
        before = state_of(path.parent)
        assert len(before) == 3, "the log and what its readers share are there"
        assert values(path) == list(range(number + 1))
        assert state_of(path.parent) == before


def test_the_owner_writes_clears_the_log_and_leaves_while_somebody_looks(path: Path, owner: Owner) -> None:
    owner.does("INSERT INTO t VALUES (1)")
    with look_at(str(path)) as look:
        assert look.rows("SELECT a FROM t LIMIT 9") == [(1,)]
        assert owner.does("INSERT INTO t VALUES (2)") == "[]"
        assert owner.does("PRAGMA wal_checkpoint(TRUNCATE)") == "[(0, 0, 0)]", "nobody is waited for"
    owner.close()
    assert sorted(state_of(path.parent)) == [str(path)]
    before = state_of(path.parent)
    assert values(path) == [1, 2] and state_of(path.parent) == before


def test_what_an_owner_left_when_it_was_killed_is_seen_and_left(path: Path, owner: Owner) -> None:
    owner.does("INSERT INTO t VALUES (1)")
    owner.is_killed()
    before = state_of(path.parent)
    assert len(before) == 3
    assert values(path) == [1] and state_of(path.parent) == before


def test_a_log_whose_readers_have_nothing_to_share_is_not_made_one(path: Path, owner: Owner) -> None:
    owner.does("PRAGMA wal_checkpoint(TRUNCATE)")
    owner.does("INSERT INTO t VALUES (1)")
    owner.is_killed()
    Path(f"{path}-shm").unlink()
    before = state_of(path.parent)
    assert values(path) == [] and state_of(path.parent) == before


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_a_pipe_in_the_place_of_a_file_beside_it_is_not_waited_for(path: Path, owner: Owner, end: str) -> None:
    owner.does("INSERT INTO t VALUES (1)")
    owner.is_killed()
    Path(f"{path}{end}").unlink()
    os.mkfifo(f"{path}{end}")
    with pytest.raises(OSError, match="not a plain file"):
        values(path)


def test_nothing_can_be_written_through_a_look(path: Path, owner: Owner) -> None:
    owner.does("INSERT INTO t VALUES (1)")
    with look_at(str(path)) as look, pytest.raises(OSError, match="cannot be read"):
        look.rows("DELETE FROM t")


def test_what_is_no_database_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"\1" * 5000)
    for name in ("a.db", "missing.db", ""):
        with pytest.raises(OSError), look_at(str(tmp_path / name)) as look:
            look.rows("SELECT * FROM t LIMIT 1")


def made(path: Path, *statements: str) -> str:
    """A database of these statements, that nobody has open."""
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return str(path)


def test_a_look_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "LOOK_S", 0.05)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 999) INSERT INTO t SELECT i FROM n"
    path = made(tmp_path / "a.db", "CREATE TABLE t (a)", numbers)
    began = time.monotonic()
    with look_at(path) as look, pytest.raises(OSError, match="interrupted"):
        look.rows("SELECT 1 FROM t a, t b, t c, t d WHERE a.a + b.a + c.a + d.a < 0 LIMIT 1")
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("statement", [
    "CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i, printf('%.*c', 9000000, 'x') AS a FROM n",
    "CREATE TABLE t (i, A TEXT AS (printf('%.*c', 9000000, i)) VIRTUAL)",
], ids=["view", "column"])
def test_what_a_small_file_would_have_computed_is_not_read(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "a.db", statement, *(["INSERT INTO t (i) VALUES (1)"] if "TABLE" in statement else []))
    with look_at(path) as look, pytest.raises(OSError, match=r"prohibited|not authorized"):
        look.rows("SELECT a FROM t ORDER BY a LIMIT 5000")


def test_of_a_database_a_look_takes_so_much_memory_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (a)", *["INSERT INTO t VALUES (zeroblob(1000))"] * 20)
    monkeypatch.setattr(sqlite, "TAKEN_MOST", 10_000)
    with look_at(path) as look:
        assert len(look.rows("SELECT a FROM t LIMIT 5")) == 5
        with pytest.raises(OSError, match="takes more than"):
            look.rows("SELECT a FROM t LIMIT 20")
    monkeypatch.setattr(sqlite, "VALUE_MOST", 999)
    with look_at(path) as look, pytest.raises(OSError, match="too big"):
        look.whole("t", ("a",), "LIMIT 5")


def test_a_table_of_a_module_that_is_not_here_hides_no_other(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "PRAGMA writable_schema = 1",
                "INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nowhere(a)')")
    with look_at(path) as look:
        assert look.rows("SELECT a FROM t LIMIT 9") == [(1,)]


def one_value_of(path: Path, *, rows: int, size: int) -> str:
    """A database whose rows all have the same value of about ``size`` bytes: it is stored once. No program writes such a file."""
    local = (PAGE - 12) * 32 // 255 - 23  # bytes of a row that lie in its own page, at least
    while (size + 6 + len(varint(2 * size + 12)) - 3 - local) % (PAGE - 4):
        size -= 1
    made(path, f"PRAGMA page_size = {PAGE}", "CREATE TABLE t (k INTEGER, a BLOB)", f"INSERT INTO t VALUES (5, zeroblob({size}))")
    content = bytearray(path.read_bytes())
    page = content[PAGE:2 * PAGE]
    cell = page[int.from_bytes(page[8:10], "big"):]
    head = next(place for place in range(9) if cell[place] < 128) + 1  # the length; behind it is the row's number
    copies = [bytes(cell[:head]) + bytes([number]) + bytes(cell[head + 1:]) for number in range(1, rows + 1)]
    begins = [PAGE - len(cell) * number for number in range(1, rows + 1)]
    new = bytes([13, 0, 0]) + rows.to_bytes(2, "big") + begins[-1].to_bytes(2, "big") + b"\0"
    new += b"".join(begin.to_bytes(2, "big") for begin in begins)
    content[PAGE:2 * PAGE] = new.ljust(begins[-1], b"\0") + b"".join(reversed(copies))
    path.write_bytes(content)
    return str(path)


PAGE = 4096


def varint(number: int) -> bytes:
    return bytes([number & 127]) if number < 128 else varint(number >> 7) + bytes([number & 127])


@contextmanager
def memory_of_sqlite(most: int) -> Iterator[None]:
    """What all of this process's databases take together; this is the only one that a test has open."""
    with closing(sqlite3.connect(":memory:")) as setter:
        setter.execute(f"PRAGMA hard_heap_limit = {most}")
        try:
            yield
        finally:
            setter.execute("PRAGMA hard_heap_limit = 0")


def test_rows_that_share_one_long_value_are_sorted_without_it(tmp_path: Path) -> None:
    path = one_value_of(tmp_path / "a.db", rows=8, size=4 << 20)
    assert os.path.getsize(path) < 5 << 20
    with memory_of_sqlite(24 << 20), look_at(path) as look:
        assert len(look.rows("SELECT k FROM t ORDER BY k LIMIT 100")) == 8
        values = [row[0] for row in look.whole("t", ("a",), "ORDER BY k LIMIT 100")]
        assert len(values) == 8 and set(map(len, values)) == {len(values[0])} and len(values[0]) > 3 << 20
        for query in ("SELECT a FROM t ORDER BY k LIMIT 100", "SELECT k FROM t ORDER BY a LIMIT 100",
                      "SELECT k FROM t WHERE a = 1 LIMIT 100"):
            with pytest.raises(OSError, match="too big"):
                look.rows(query)


def test_no_more_is_asked_of_a_look_that_took_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    with look_at(path) as look:
        assert look.whole("t", ("a",), "LIMIT 9") == [(1,)]
        monkeypatch.setattr(time, "monotonic", lambda: float("inf"))
        with pytest.raises(OSError, match="takes too long"):
            look.numbered("t", ("a",), 1)


def test_what_makes_a_table_is_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", f"CREATE TABLE t (a DEFAULT '{'x' * 2000}')")
    monkeypatch.setattr(sqlite, "SCHEMA_MOST", 1500)
    with pytest.raises(OSError, match="too big"), look_at(path) as look:
        look.rows("SELECT a FROM t LIMIT 1")
