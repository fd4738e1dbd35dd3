"""The index on disk: what is taken in is found, what is forgotten is gone, and a damaged file is made anew."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import MessageCompleteEvent
from trunkline.dialects.context.unions import TextPart
from trunkline.journal.base import Entry
from trunkline.journal.search.index_file import IndexFile, is_damage, remove

AT = 1_700_000_000_000_000


def said(seq: int, text: str, pos: int) -> Entry:
    event = MessageCompleteEvent(message_id=f"m{seq}", role="assistant", content=[TextPart(text=text)])
    return Entry(seq, AT, encode_event(seq, "s", AT, event), pos=pos)


def found(index: IndexFile, word: str) -> list[tuple[str, int]]:
    return [(hit.session, hit.seq) for hit in index.find(word, 20)]


def test_a_page_and_the_place_behind_it_are_taken_in_together(tmp_path: Path) -> None:
    index = IndexFile(tmp_path / "search.db")
    index.add([("a", said(1, "blue sky", 4)), ("b", said(1, "green sky", 7))], {"a": ("Colours", AT)}, ())
    assert index.pos == 7 and index.sessions() == {"a": 1, "b": 1}
    assert sorted(found(index, "sky")) == [("a", 1), ("b", 1)]
    assert found(index, "colours") == [("a", 0)], "a title is at the beginning"
    index.close()
    assert (tmp_path / "search.db").stat().st_mode & 0o077 == 0, "it is its owner's alone"
    again = IndexFile(tmp_path / "search.db")
    assert again.pos == 7 and found(again, "blue") == [("a", 1)]
    again.close()


def test_what_is_gone_does_not_come_in_and_what_is_forgotten_is_not_found() -> None:
    index = IndexFile(None)
    index.add([("a", said(1, "blue", 1)), ("b", said(1, "blue", 2))], {"b": ("Blue", AT)}, ["b"])
    assert found(index, "blue") == [("a", 1)] and index.pos == 2, "it was looked at all the same"
    index.forget("a")
    assert found(index, "blue") == []
    index.close()


def test_words_of_a_deleted_session_are_in_no_page_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "search.db"
    index = IndexFile(path)
    index.add([("a", said(1, "extraordinarysecret", 1))], {}, ())
    index.forget("a")
    index.close()
    IndexFile(path).close()  # a hub that died had no time for it
    assert b"extraordinarysecret" not in path.read_bytes()


def test_words_of_a_deleted_session_are_in_no_room_between_rows_either(tmp_path: Path) -> None:
    path, chance = tmp_path / "search.db", random.Random(7)
    index = IndexFile(path)
    for number in range(1, 200):
        session = f"s{chance.randrange(8)}"
        index.add([(session, said(number, f"word{session}x " * chance.choice([2, 20, 80, 200]), number))], {}, ())
    for session in ("s1", "s3", "s5"):
        index.forget(session)
        index.scrub()
        assert not any(f"word{session}x".encode() in each.read_bytes() for each in tmp_path.iterdir())
    assert index.find("words2x", 1) and index.sessions().keys() == {f"s{number}" for number in (0, 2, 4, 6, 7)}
    index.close()


def test_a_new_title_takes_the_place_of_the_old_one() -> None:
    index = IndexFile(None)
    for title in ("Old", "New"):
        index.add([], {"a": (title, AT)}, ())
    assert (found(index, "old"), found(index, "new")) == ([], [("a", 0)])
    index.close()


def test_to_begin_again_forgets_everything() -> None:
    index = IndexFile(None)
    index.add([("a", said(1, "blue", 3))], {}, ())
    index.clear()
    assert (index.pos, index.sessions(), found(index, "blue")) == (0, {}, [])
    index.close()


@pytest.mark.parametrize("junk", [b"no database at all " * 100, b""])
def test_a_file_that_is_no_index_is_made_anew(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "search.db"
    path.write_bytes(junk)
    index = IndexFile(path)
    assert index.pos == 0
    index.close()
    remove(path)
    remove(path)
    assert list(tmp_path.iterdir()) == []


def test_only_what_a_new_file_would_mend_is_damage(tmp_path: Path) -> None:
    assert not is_damage(OSError("disk full"))
    (tmp_path / "noise").write_bytes(b"no database at all " * 100)
    with pytest.raises(sqlite3.DatabaseError) as raised, closing(sqlite3.connect(tmp_path / "noise")) as connection:
        connection.execute("SELECT 1 FROM sqlite_schema")
    assert is_damage(raised.value)
    with pytest.raises(sqlite3.OperationalError) as raised, closing(sqlite3.connect(tmp_path / "none" / "x")):
        pass
    assert not is_damage(raised.value)


def test_one_that_cannot_be_scrubbed_when_it_is_opened_leaves_nothing_open(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: IndexFile) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    path = tmp_path / "search.db"
    index = IndexFile(path)
    index.add([("a", said(1, "blue", 1))], {}, ())
    index.forget("a")
    index.close()
    monkeypatch.setattr(IndexFile, "scrub", full)
    with pytest.raises(sqlite3.OperationalError):
        IndexFile(path)
    assert [each for each in open_files() if each.startswith(str(path))] == []


def open_files() -> list[str]:
    return [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if os.path.lexists(each)]
