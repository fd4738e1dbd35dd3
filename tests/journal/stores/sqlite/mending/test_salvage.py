"""Damage of every kind, one at a time: the journal opens, what was not hit is whole, and what is lost is told as a gap."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Container
from contextlib import closing
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.journal.samples import entries, group, read_all, read_hub_all, row
from trunkline.journal.base import Entry, Group, JournalHealth, RowFilter
from trunkline.journal.stores.sqlite.block import decode, decode_parts
from trunkline.journal.stores.sqlite.housekeeping import Upkeep
from trunkline.journal.stores.sqlite.mending.pages import PageRow, Pages
from trunkline.journal.stores.sqlite.store import SqliteJournal

QUIET = Upkeep(checkpoint_bytes=1 << 60, behind_bytes=1 << 60, fold_groups=1 << 60, fold_bytes=1 << 60)
PAGE = 4096
BEGAN = 1_700_000_000_000_000
Story = dict[str, dict[int, bytes]]
"""The event of each entry, by session and seq."""


class Gap(msgspec.Struct):
    """A gap as a reader meets it."""

    session: str
    first: int
    last: int


async def _write(path: Path) -> Story:
    """Sessions of many kinds: packed and unpacked blocks, long bodies, small parts, rows."""
    told: Story = {}
    chance = random.Random(7)

    def of(session: str, count: int, size: int) -> list[Entry]:
        known = told.setdefault(session, {})
        fresh = [Entry(len(known) + n, 1000 + n, chance.randbytes(size).hex().encode()) for n in range(1, count + 1)]
        known.update((each.seq, each.event) for each in fresh)
        return fresh

    async with SqliteJournal(path, upkeep=QUIET) as journal:
        for turn in range(8):
            await journal.append(Group({"long": of("long", 30, 300), "short": of("short", 2, 20)},
                                       {"long": row("long", checkpoint_seq=30 * (turn + 1)), "short": row("short")}))
            await journal.append(Group({f"once-{turn}": of(f"once-{turn}", 20, 100)}, {f"once-{turn}": row(f"once-{turn}")}))
        await journal.pack("long", before=150)
        await journal.append(Group({"huge": of("huge", 1, 30_000)}, {"huge": row("huge")}))
        await journal.delete("once-3")
        del told["once-3"]
        await journal.append(group(short=of("short", 3, 20), long=of("long", 2, 50)))
    return told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Story]:
    """A journal that was closed in order, and what is in it."""
    path = tmp_path_factory.mktemp("whole") / "journal.db"
    return path, run(_write(path))


def copied(source: Path, folder: Path) -> Path:
    """The journal with all that is beside it, somewhere else."""
    folder.mkdir(parents=True)
    for each in source.parent.iterdir():
        shutil.copy(each, folder / each.name)
    return folder / source.name


async def look(path: Path) -> tuple[Story, list[Gap], JournalHealth]:
    """Everything that a journal gives back; hub and sessions must agree, and each must take an entry more."""
    async with SqliteJournal(path, upkeep=QUIET) as journal:
        found: Story = {}
        gaps: list[Gap] = []
        rows = await journal.rows(RowFilter(limit=1000))
        for session_row in rows:
            read = await read_all(journal, session_row.id)
            assert [each.seq for each in read] == sorted({each.seq for each in read})
            assert session_row.last_seq == (read[-1].seq if read else 0)
            gaps += [gap for each in read if (gap := _gap(session_row.id, each)) is not None]
            found[session_row.id] = {each.seq: each.event for each in read if _gap(session_row.id, each) is None}
        hub = await read_hub_all(journal)
        positions = [each.pos for _, each in hub]
        assert positions == sorted(set(positions))
        assert sorted((session, each.seq) for session, each in hub if _gap(session, each) is None) \
            == sorted((session, seq) for session, told in found.items() for seq in told)
        for session_row in rows:
            await journal.append(group(**{session_row.id: [Entry(session_row.last_seq + 1, 1, b"{}")]}))
        return found, gaps, await journal.health()


def _gap(session: str, entry: Entry) -> Gap | None:
    if b'"eventName":"gap"' not in entry.event:
        return None
    data = msgspec.json.decode(entry.event)["data"]
    assert data["to"] == entry.seq
    return Gap(session, data["from"], data["to"])


def check(told: Story, path: Path, may_be_lost: Container[tuple[str, int]]) -> int:
    """The journal opens; all but what may be lost is as it was; what is lost is in a gap. Returns how many entries are lost."""
    found, gaps, health = run(look(path))
    lost = 0
    for session, events in told.items():
        for seq, event in events.items():
            here = found.get(session, {}).get(seq)
            if here is not None:
                assert here == event, f"{session} {seq} is another"
                continue
            lost += 1
            assert (session, seq) in may_be_lost, f"{session} {seq} is lost, and was not hit"
            assert session not in found or any(gap.session == session and gap.first <= seq <= gap.last for gap in gaps), \
                f"{session} {seq} is lost without a word"
    assert found.keys() <= told.keys()
    assert not lost or health.damages, "the damage is told of"
    return lost


@cache
def hit_by(path: Path, number: int) -> set[tuple[str, int]]:
    """(session, seq) of the entries that lie in a page, wholly or in part: those that are gone when it is full of zeros."""
    whole, without = Pages(path), Pages(path)
    read = without.page

    def page(wanted: int) -> bytes:
        return bytes(PAGE) if wanted == number else read(wanted)

    without.page = page  # type: ignore[assignment, method-assign]  # its argument has another name
    try:
        left = {row for _, row in without.rows()}
        return {placed for _, row in whole.rows() if row not in left for placed in _entries_in(row)}
    finally:
        whole.close()
        without.close()


def _entries_in(row: PageRow) -> list[tuple[str, int]]:
    match row.values:
        case (None, str(session), *_, bytes(body), int()):
            return [(session, entry.seq) for entry in decode(body)]
        case (None, bytes(body), int()):
            return [(session, entry.seq) for session, part in decode_parts(body).items() for entry in part]
    return []


def _query(path: Path, statement: str) -> list[tuple[int, str, int, int]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def pages_of(path: Path) -> range:
    return range(1, path.stat().st_size // PAGE + 1)


def test_the_pages_of_a_whole_file_hold_what_sqlite_says(whole: tuple[Path, Story]) -> None:
    path, _ = whole
    pages = Pages(path)
    found = {values[0]: values for values in _query(path, "SELECT first_pos, session, first_seq, body FROM blocks")}
    rows = {row.rowid: row.values for _, row in pages.rows() if len(row.values) == 8}
    pages.close()
    assert {number: (number, values[1], values[2], values[6]) for number, values in rows.items()} == found


def overwritten(whole: tuple[Path, Story], folder: Path, number: int, seed: int) -> int:
    path, told = whole
    hurt = copied(path, folder / f"{number}-{seed}")
    lies_there = hit_by(path, number)
    with hurt.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(random.Random(seed * 1000 + number).randbytes(PAGE))
    return check(told, hurt, lies_there)


def test_a_few_pages_of_random_bytes_lose_no_more_than_lay_in_them(whole: tuple[Path, Story], tmp_path: Path) -> None:
    for number in (1, 2, 3, 4, 5, 9, 17):
        overwritten(whole, tmp_path, number, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_any_page_of_random_bytes_loses_no_more_than_lay_in_it(whole: tuple[Path, Story], tmp_path: Path, seed: int) -> None:
    lost = [overwritten(whole, tmp_path, number, seed) for number in pages_of(whole[0])]
    assert sum(lost) > 0 and lost.count(0) > 3, lost


def truncated(whole: tuple[Path, Story], folder: Path, number: int) -> int:
    path, told = whole
    hurt = copied(path, folder / f"cut-{number}")
    lies_there = {placed for page in range(number, len(pages_of(path)) + 1) for placed in hit_by(path, page)}
    with hurt.open("r+b") as file:
        file.truncate((number - 1) * PAGE + 100 * (number % 2))
    return check(told, hurt, lies_there)


def test_a_file_that_was_cut_short_keeps_what_is_before_the_cut(whole: tuple[Path, Story], tmp_path: Path) -> None:
    for number in (1, 2, 6, len(pages_of(whole[0])) - 2):
        truncated(whole, tmp_path, number)


@pytest.mark.slow
def test_a_file_that_was_cut_at_any_page_keeps_what_is_before_the_cut(whole: tuple[Path, Story], tmp_path: Path) -> None:
    for number in pages_of(whole[0]):
        truncated(whole, tmp_path, number)


def flipped(whole: tuple[Path, Story], folder: Path, seed: int) -> int:
    path, told = whole
    hurt = copied(path, folder / f"flip-{seed}")
    chance = random.Random(seed)
    place, bit = chance.randrange(path.stat().st_size), 1 << chance.randrange(8)
    lies_there = hit_by(path, place // PAGE + 1)
    with hurt.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ bit]))
    return check(told, hurt, lies_there)


def test_a_flipped_bit_is_no_other_entry(whole: tuple[Path, Story], tmp_path: Path) -> None:
    for seed in range(12):
        flipped(whole, tmp_path, seed)


@pytest.mark.slow
def test_no_flipped_bit_is_another_entry(whole: tuple[Path, Story], tmp_path: Path) -> None:
    lost = [flipped(whole, tmp_path, seed) for seed in range(100, 250)]
    assert 0 in lost and max(lost) > 0


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Story]:
    """A journal as a killed hub leaves it: the first half in the database, the second in the log."""
    path, copy = tmp_path_factory.mktemp("killed") / "journal.db", tmp_path_factory.mktemp("copy") / "journal.db"

    async def write() -> Story:
        told: Story = {"a": {}, "b": {}}
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            for number in range(1, 41):
                parts = {"a": entries(3 * number - 2, 3 * number, size=700), "b": entries(number, number)}
                await journal.append(Group(parts, {"a": row("a", checkpoint_seq=3 * number), "b": row("b")}))
                for session, part in parts.items():
                    told[session].update((each.seq, each.event) for each in part)
                if number == 20:
                    await journal.pack("a", before=1)
                    await journal._run(journal._keeper_thread, "tidied", journal._keeper.checkpoint)
            for each in path.parent.iterdir():
                shutil.copy(each, copy.parent / each.name)
        return told

    return copy, run(write())


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


LATE = frozenset({("a", seq) for seq in range(61, 121)} | {("b", seq) for seq in range(21, 41)})
"""What is in the log only."""


def test_a_log_that_is_gone_is_told_of_and_its_numbers_do_not_come_again(killed: tuple[Path, Story], tmp_path: Path) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "gone")
    log_of(hurt).unlink()
    assert check(told, hurt, LATE) == len(LATE)
    rows = _query(hurt, "SELECT max(last_seq), session, 0, 0 FROM blocks GROUP BY session")
    assert {session: last for last, session, *_ in rows} == {"a": 121, "b": 41}, "with the one that each took since"


def hurt_log(killed: tuple[Path, Story], folder: Path, seed: int) -> int:
    path, told = killed
    hurt = copied(path, folder / f"log-{seed}")
    chance = random.Random(seed)
    size = log_of(hurt).stat().st_size
    with log_of(hurt).open("r+b") as file:
        if chance.random() < 0.3:
            file.truncate(chance.randrange(size))
        else:
            file.seek(chance.randrange(size) if seed % 5 else 0)
            file.write(chance.randbytes(chance.choice((1, 16, 100, 5000))))
    return check(told, hurt, LATE)


def test_a_damaged_log_loses_nothing_without_a_word(killed: tuple[Path, Story], tmp_path: Path) -> None:
    for seed in range(10):
        hurt_log(killed, tmp_path, seed)


@pytest.mark.slow
def test_no_damage_to_the_log_loses_anything_without_a_word(killed: tuple[Path, Story], tmp_path: Path) -> None:
    lost = [hurt_log(killed, tmp_path, seed) for seed in range(100, 200)]
    assert 0 in lost and max(lost) > 0


def test_one_bad_frame_of_the_log_takes_only_itself_along(killed: tuple[Path, Story], tmp_path: Path) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "frame")
    with log_of(hurt).open("r+b") as file:
        file.seek(32 + 24 + 500)
        file.write(b"\xff" * 40)
    assert check(told, hurt, LATE) < len(LATE) // 2


@pytest.mark.parametrize("suffix", ["-shm", ".marks"])
def test_what_lies_beside_may_be_damaged_too(killed: tuple[Path, Story], tmp_path: Path, suffix: str) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "beside")
    beside = hurt.with_suffix(suffix) if suffix.startswith(".") else hurt.with_name(hurt.name + suffix)
    beside.write_bytes(random.Random(1).randbytes(beside.stat().st_size))
    assert check(told, hurt, ()) == 0


def test_an_empty_file_is_a_new_journal_that_knows_what_was_lost(killed: tuple[Path, Story], tmp_path: Path) -> None:
    path, _ = killed
    hurt = copied(path, tmp_path / "empty")
    log_of(hurt).unlink()
    hurt.write_bytes(b"")

    async def scenario() -> None:
        async with SqliteJournal(hurt) as journal:
            assert {damage.session for damage in (await journal.health()).damages} == {"a", "b"}
            fresh = entries(1, 1)
            await journal.append(group(c=fresh))
            assert fresh[0].pos > 160, "no pos comes again"

    run(scenario())


@pytest.mark.parametrize("statement", [
    "UPDATE recent SET body = x'c1c1c1'",
    "UPDATE recent SET body = zeroblob(length(body)), crc = NULL",
    "UPDATE blocks SET body = zeroblob(length(body))",
    "UPDATE blocks SET session = session || 'x' WHERE first_seq > 30",
    "UPDATE sessions SET checkpoint = x'00', title = 'another'",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 34",
    "DROP TABLE counters",
    "DROP INDEX blocks_by_session",
    "DROP TABLE sessions",
])
def test_rows_and_tables_that_are_not_what_was_written(killed: tuple[Path, Story], tmp_path: Path, statement: str) -> None:
    path, told = killed
    hurt = copied(path, tmp_path / "rows")
    connection = sqlite3.connect(hurt, isolation_level=None)
    connection.execute(statement)
    connection.close()
    everything = {(session, seq) for session, events in told.items() for seq in events}
    only_rows = any(word in statement for word in ("sessions", "PRAGMA", "counters", "INDEX"))
    check(told, hurt, () if only_rows else everything)


@pytest.mark.parametrize(("hurt", "times"), [
    ("first_seq = 21", [20]), ("first_seq = 1", [21]), ("first_seq IN (21, 41)", [20, 61]), ("TRUE", [BEGAN] * 4),
])
def test_a_gap_has_the_time_of_what_stands_beside_it(tmp_path: Path, hurt: str, times: list[int]) -> None:
    """Of a block that is not mended yet."""
    async def scenario() -> list[int]:
        async with SqliteJournal(tmp_path / "journal.db", upkeep=QUIET) as journal:
            began = msgspec.structs.replace(row("a"), created_at=BEGAN)
            for first in (1, 21, 41, 61):
                told = [Entry(seq, seq, b"x") for seq in range(first, first + 20)]
                await journal.append(Group({"a": told}, {"a": began}))
            with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
                other.execute(f"UPDATE blocks SET body = zeroblob(length(body)) WHERE {hurt}")
            read = await read_all(journal, "a")
            assert [each.at for _, each in await read_hub_all(journal)] == [each.at for each in read]
            return [each.at for each in read if _gap("a", each) is not None]

    assert run(scenario()) == times


# Columns of another type than the schema's: what a damaged file gives back.


def retype(path: Path, table: str, change: str) -> None:
    """Change rows to what the schema forbids, and put the schema back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA writable_schema = ON")
        strict = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        put = "UPDATE sqlite_schema SET sql = ? WHERE name = ?"
        loose = strict.removesuffix("STRICT").rstrip().replace("INTEGER NOT", "NOT").replace("TEXT NOT", "NOT")
        connection.execute(put, (loose, table))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE {table} SET {change}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(put, (strict, table))


@pytest.mark.parametrize("wrong", ["'text'", "x'00ff'", "1.5"])
@pytest.mark.parametrize("column", ["first_seq", "last_seq", "last_pos", "packed_bytes", "body", "crc"])
def test_a_block_with_a_column_of_another_type_is_damage_and_stays_where_it_is(
        whole: tuple[Path, Story], tmp_path: Path, column: str, wrong: str) -> None:
    path = copied(whole[0], tmp_path / "copy")
    first = "first_pos = (SELECT min(first_pos) FROM blocks WHERE session = 'long')"
    retype(path, "blocks", f"{column} = {wrong} WHERE {first}")

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            others = {name: told for name, told in whole[1].items() if name != "long"}
            for name, told in others.items():
                assert {each.seq: each.event for each in await read_all(journal, name)} == told
            read = {each.seq: each.event for each in await read_all(journal, "long")}
            assert {seq: event for seq, event in whole[1]["long"].items() if seq > 200}.items() <= read.items()
            assert await read_hub_all(journal)
            await journal.pack("long", before=240)
            await journal.append(group(short=[Entry(100, 1, b"{}")]))

    run(scenario())


@pytest.mark.parametrize("change", ["body = 'text'", "crc = 'text'", "body = 1.5"])
def test_a_group_with_a_column_of_another_type_is_damage(whole: tuple[Path, Story], tmp_path: Path, change: str) -> None:
    path = copied(whole[0], tmp_path / "copy")
    retype(path, "recent", change)

    async def scenario() -> None:
        async with SqliteJournal(path, upkeep=QUIET) as journal:
            read = {each.seq: each.event for each in await read_all(journal, "long")}
            assert {seq: event for seq, event in whole[1]["long"].items() if seq < 150}.items() <= read.items()

    run(scenario())
