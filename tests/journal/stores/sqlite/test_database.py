"""The SQLite file: its schema, its statements, its permissions, and what happens when it cannot be opened."""

from __future__ import annotations

import gzip
import re
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, read_all, seqs
from trunkline.errors import StorageError
from trunkline.journal.base import RowFilter
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.mending.verify import faults_of
from trunkline.journal.stores.sqlite.store import SqliteJournal

SOURCES = Path(database.__file__).parent


async def open_and_close(path: Path) -> None:
    async with SqliteJournal(path):
        pass


def schema_of(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    found = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {(kind, name, re.sub(r"\s*([,()])\s*", r"\1", " ".join(sql.split()))) for kind, name, sql in found}


def test_all_migrations_together_give_schema_sql(tmp_path: Path) -> None:
    written = sqlite3.connect(":memory:")
    written.executescript((SOURCES / "schema.sql").read_text())
    migrated = database.connect(tmp_path / "journal.db")
    database.migrate(migrated, tmp_path / "journal.db")
    assert schema_of(migrated) == schema_of(written)
    assert migrated.execute("PRAGMA user_version").fetchone()[0] == len(database.migrations())
    written.close()
    migrated.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(path.name for path in (SOURCES / "migrations").glob("*.sql"))
    assert [int(name.split("_")[0]) for name in names] == list(range(1, len(names) + 1))


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    connection = database.connect(path)
    connection.execute("CREATE TABLE counters (in_the_way TEXT)")
    with pytest.raises(sqlite3.OperationalError, match="counters"):
        database.migrate(connection, path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == 0
    assert [name for _, name, _ in schema_of(connection)] == ["counters"]
    connection.close()


def test_every_statement_fits_the_schema_and_is_used(tmp_path: Path) -> None:
    connection = database.connect(tmp_path / "journal.db", read_only=False)
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    database.migrate(connection, tmp_path / "journal.db")
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for name, statement in database.load_queries().items():
        numbered = len(set(re.findall(r"\?\d*", statement))) if "?1" in statement else statement.count("?")
        named = set(re.findall(r":(\w+)", statement))
        connection.execute(f"EXPLAIN {statement}", dict.fromkeys(named, 1) if named else (1,) * numbered)
        assert f'"{name}"' in code, name
    connection.close()


@pytest.mark.parametrize("name", ["blocks_forward", "blocks_backward", "hub_blocks", "places_behind", "last_seq", "row"])
def test_reads_search_an_index_and_never_sort(tmp_path: Path, name: str) -> None:
    connection = database.connect(tmp_path / "journal.db")
    database.migrate(connection, tmp_path / "journal.db")
    statement = database.load_queries()[name]
    named = set(re.findall(r":(\w+)", statement))
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", dict.fromkeys(named, 1) if named else (1,)).fetchall()
    details = [row[3] for row in plan]
    assert not [detail for detail in details if "TEMP B-TREE" in detail]
    assert not [detail for detail in details if detail.startswith("SCAN")]
    connection.close()


def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "journal.db"

    async def scenario() -> dict[str, int]:
        async with SqliteJournal(path) as journal:
            await journal.append(group(a=entries(1, 3)))
            return {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}

    names = ("journal.db", "journal.db-wal", "journal.db-shm", "journal.db-log0", "journal.db-log1", "journal.marks")
    assert run(scenario()) == dict.fromkeys(names, 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_database_of_a_newer_trunkline_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    run(open_and_close(path))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    path.with_suffix(".marks").unlink()  # a newer one would have said the same there
    with pytest.raises(StorageError, match=r"schema version 999.*newer Trunkline"):
        run(open_and_close(path))


def test_a_file_that_is_no_database_is_put_aside_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    letter = b"this is not a database, it is a letter to the editor" * 100
    path.write_bytes(letter)
    run(open_and_close(path))
    [aside] = tmp_path.glob("journal.db.damaged-*")
    assert aside.read_bytes() == letter


def test_a_place_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"file/journal\.db could not be opened"):
        run(open_and_close(tmp_path / "file" / "journal.db"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match=r"folder could not be opened"):
        run(open_and_close(tmp_path / "folder"))


def test_damaged_pages_are_gaps_and_not_a_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    given = entries(1, 2000, size=200)

    async def write() -> None:
        async with SqliteJournal(path) as journal:
            for first in range(0, 2000, 40):
                await journal.append(group(a=given[first:first + 40]))

    async def read() -> None:
        async with SqliteJournal(path) as journal:
            found = await journal.read("a", limit=5000, max_bytes=1 << 30)
            assert found[-1].seq == 2000, "the numbers go on where they were"
            kept = [each for each in found if b'"eventName":"gap"' not in each.event]
            assert 0 < len(kept) < len(found) and {len(each.event) for each in kept} == {len(given[0].event)}

    run(write())
    raw = bytearray(path.read_bytes())
    for page in range(12, len(raw) // 4096 - 12, 7):
        raw[page * 4096:page * 4096 + 512] = b"\xc1" * 512
    path.write_bytes(raw)
    run(read())


OLD = Path(__file__).parents[3] / "data" / "journals" / "before-checksums.db.gz"
"""Written by the code before there were checksums: two sessions, and a third that was deleted."""


def test_a_journal_of_before_there_were_checksums_opens_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))

    async def scenario() -> None:
        async with SqliteJournal(path) as journal:
            assert seqs(await read_all(journal, "long")) == list(range(1, 201))
            assert seqs(await read_all(journal, "short")) == list(range(1, 9))
            assert {found.id: found.last_seq for found in await journal.rows(RowFilter())} == {"long": 200, "short": 8}
            await journal.append(group(long=entries(201, 240), short=entries(9, 9)))
            assert await journal.pack("long", before=300) > 0
            assert seqs(await read_all(journal, "long")) == list(range(1, 241))
            assert (await journal.health()).damages == []
        assert list(faults_of(path)) == []

    run(scenario())


def test_what_was_deleted_before_deleting_meant_overwriting_is_gone_once_the_journal_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    assert b"remains of a deleted session" in path.read_bytes()
    run(open_and_close(path))
    assert b"remains of a deleted session" not in path.read_bytes()
