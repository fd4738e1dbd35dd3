"""How far the journal had come, noted beside it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from trunkline.journal.stores.sqlite import marks as marks_module
from trunkline.journal.stores.sqlite.marks import LOG_BYTES, Marks


def opened(path: Path) -> Marks:
    marks = Marks(path)
    marks.open()
    return marks


def test_what_was_noted_is_known_again_also_when_the_log_started_again(tmp_path: Path) -> None:
    marks = opened(tmp_path / "journal.marks")
    for number in range(1, 5000):
        marks.note([("a", number), (f"once-{number % 50}", number)], 2 * number)
    marks.close()
    again = opened(tmp_path / "journal.marks")
    assert again.pos == 9998 and again.seqs["a"] == 4999
    assert {session: seq for session, seq in again.seqs.items() if session != "a"} == {
        f"once-{number % 50}": number for number in range(4950, 5000)}
    again.close()
    assert os.path.getsize(tmp_path / "journal.marks") < LOG_BYTES + 100 * 64


def test_a_commit_of_one_session_is_noted_as_one_of_several(tmp_path: Path) -> None:
    content = []
    for name in ("one", "several"):
        marks = opened(tmp_path / name)
        for number in range(1, 4000):
            if name == "one":
                marks.note_one(f"s{number % 3}", number, number)
            else:
                marks.note([(f"s{number % 3}", number)], number)
        marks.close()
        content.append((tmp_path / name).read_bytes())
    assert content[0] == content[1]


def test_a_deleted_session_is_forgotten_and_its_pos_is_not(tmp_path: Path) -> None:
    marks = opened(tmp_path / "journal.marks")
    marks.note([("a", 5), ("b", 7)], 12)
    marks.forget("b", 12)
    marks.note([("c", 1)], 13)
    marks.close()
    again = opened(tmp_path / "journal.marks")
    assert (again.seqs, again.pos) == ({"a": 5, "c": 1}, 13)
    again.forget("c", 13)
    again.forget("a", 13)
    again.close()
    last = opened(tmp_path / "journal.marks")
    assert (last.seqs, last.pos) == ({}, 13)
    last.close()


def test_a_session_with_a_long_name_is_looked_up_by_its_digest(tmp_path: Path) -> None:
    name = "s" * 200
    for number in (1, 2):
        marks = opened(tmp_path / "journal.marks")
        marks.note([(name, number)], number)
        marks.close()
    again = opened(tmp_path / "journal.marks")
    assert list(again.seqs.values()) == [2]
    again.close()


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file_says_less_and_never_more(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "journal.marks"
    marks = opened(path)
    for number in range(1, 300):
        marks.note([("a", number), ("b", 2 * number)], 3 * number)
    marks.close()
    content = bytearray(path.read_bytes())
    chance = random.Random(seed)
    place = chance.randrange(len(content))
    content[place:place + 30] = chance.randbytes(30)
    path.write_bytes(content[:chance.choice((len(content), place + 30))])
    again = opened(path)
    assert again.pos <= 897 and again.seqs.get("a", 0) <= 299 and again.seqs.get("b", 0) <= 598
    again.close()


def test_a_mark_that_cannot_be_written_is_warned_about_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    marks = opened(tmp_path / "journal.marks")
    os.close(marks._file)
    marks._file = os.open(tmp_path / "journal.marks", os.O_RDONLY)
    for number in range(1, 4):
        marks.note([("a", number)], number)
    marks.close()
    assert len(caplog.records) == 1 and "journal.marks" in caplog.text


def test_of_a_file_that_is_too_long_only_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.marks"
    marks = opened(path)
    marks.note([(f"s{number}", number) for number in range(1, 6)], 15)
    marks.close()
    monkeypatch.setattr(marks_module, "_READ_MOST", path.stat().st_size)
    whole = Marks(path)
    whole.open(read_only=True)
    assert whole.seqs == {f"s{number}": number for number in range(1, 6)}
    whole.close()
    # The hub's own record, and those of three sessions:
    monkeypatch.setattr(marks_module, "_READ_MOST", LOG_BYTES + 4 * marks_module._RECORD.size)
    again = opened(path)
    assert (again.seqs, again.pos) == ({"s1": 1, "s2": 2, "s3": 3}, 15)
    again.note([("s5", 6), ("s1", 2)], 17)
    again.close()
    last = opened(path)
    assert (last.seqs, last.pos) == ({"s1": 2, "s2": 2, "s3": 3}, 17)
    last.close()


def test_a_commit_of_many_sessions_at_the_end_of_the_log_hits_nobody_elses_mark(tmp_path: Path) -> None:
    marks = opened(tmp_path / "journal.marks")
    marks.note_version(4)
    quiet = [(f"quiet-{number}", 7) for number in range(30)]
    marks.note(quiet, 30)
    marks.forget("quiet-29", 30)
    pos = 30
    while marks._log_end < LOG_BYTES - 200:
        pos += 1
        marks.note([("a", pos)], pos)
    marks.note([(f"late-{number}", 1) for number in range(60)], pos + 60)
    marks.close()
    again = opened(tmp_path / "journal.marks")
    assert (again.version, again.pos) == (4, pos + 60)
    assert again.seqs == {**dict(quiet[:29]), "a": pos, **{f"late-{number}": 1 for number in range(60)}}
    again.close()


def test_a_commit_of_more_sessions_than_the_log_has_room_for_is_noted(tmp_path: Path) -> None:
    marks = opened(tmp_path / "journal.marks")
    many = [(f"s{number}", number + 1) for number in range(LOG_BYTES // 16)]
    marks.note([("quiet", 3), ("gone", 1)], 3)
    marks.forget("gone", 3)
    marks.note(many, 9000)
    marks.close()
    again = opened(tmp_path / "journal.marks")
    assert (again.seqs, again.pos) == ({"quiet": 3, **dict(many)}, 9000)
    again.close()


def test_a_mark_that_was_written_in_part_hides_none_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    marks = opened(tmp_path / "journal.marks")
    marks.note([("a", 1)], 1)
    monkeypatch.setattr(os, "pwrite", lambda file, data, place: write(file, data[:5], place))
    marks.note([("a", 2)], 2)
    monkeypatch.undo()
    marks.note([("a", 3)], 3)
    marks.close()
    again = opened(tmp_path / "journal.marks")
    assert (again.seqs, again.pos) == ({"a": 3}, 3)
    again.close()
