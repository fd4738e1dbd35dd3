"""A mended file takes the damaged one's place, which is kept beside it under a name that nobody had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import entries, group, seqs
from trunkline.journal.stores.sqlite.mending.swap import aside_of, asides, beside, clear_away, finish, mend
from trunkline.journal.stores.sqlite.store import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal that was closed in order."""
    path = tmp_path / "journal.db"

    async def write() -> None:
        async with SqliteJournal(path) as journal:
            await journal.append(group(a=entries(1, 20)))

    run(write())
    return path


def told(path: Path) -> list[int]:
    async def read() -> list[int]:
        async with SqliteJournal(path) as journal:
            return seqs(await journal.read("a"))

    return run(read())


def test_what_is_readable_is_in_place_and_the_damaged_file_is_kept_as_it_was(path: Path) -> None:
    before = path.read_bytes()
    _, aside = mend(path)
    assert aside.read_bytes() == before and aside.name.startswith("journal.db.damaged-")
    assert told(path) == list(range(1, 21))
    assert asides(path) == [aside]
    assert not beside(path, ".mended").exists() and not beside(path, ".mending").exists()


def test_nothing_is_done_where_no_swap_was_begun(path: Path) -> None:
    assert finish(path) is None and asides(path) == []


def test_a_swap_that_was_begun_is_finished(path: Path) -> None:
    shutil.copy(path, beside(path, ".mended"))
    path.write_bytes(b"noise")
    beside(path, "-wal").write_bytes(b"the old log")
    aside = finish(path)
    assert aside is not None and aside.read_bytes() == b"noise"
    assert beside(aside, "-wal").read_bytes() == b"the old log", "the new file must not take it for its own"
    assert told(path) == list(range(1, 21))


def test_what_is_no_journal_does_not_take_its_place(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    beside(path, ".mended").write_bytes(b"noise")
    assert finish(path) is None
    (aside,) = asides(path)
    assert aside.name.startswith("journal.db.mended.damaged-") and "cannot be used" in caplog.text
    assert told(path) == list(range(1, 21))


def test_only_what_is_no_plain_file_is_put_aside(tmp_path: Path) -> None:
    plain, folder = tmp_path / "plain", tmp_path / "folder"
    plain.write_text("words")
    folder.mkdir()
    for each in (plain, folder, tmp_path / "nothing"):
        clear_away(each)
    assert plain.read_text() == "words" and not folder.exists()


def test_two_damaged_files_of_one_second_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.journal.stores.sqlite.mending.swap.time.strftime", lambda form, when: "20260131-235959")
    first = aside_of(tmp_path / "journal.db")
    assert first.name == "journal.db.damaged-20260131-235959"
    beside(first, "-wal").write_text("even its log alone has the name")
    assert aside_of(tmp_path / "journal.db").name == "journal.db.damaged-20260131-235959-1"
