"""The log of how far the chains have come: what is added, what is kept, and what never goes away."""

from __future__ import annotations

import os
import stat
import tracemalloc
from pathlib import Path

import pytest

from trunkline.errors import StorageError
from trunkline.session.audit import log as chain_log
from trunkline.session.audit.chain import Chain
from trunkline.session.audit.log import AuditLog, Note, read_log

KEY = bytes(range(32))
ONE, TWO = Note("a", 1, "h1"), Note("a", 2, "h2")


def opened(path: Path) -> AuditLog:
    log = AuditLog(path, KEY)
    log.open()
    return log


def test_what_was_noted_is_known_to_the_next_hub_and_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    opened(path).note([ONE, TWO, Note("b", 1, "x")])
    again = opened(path)
    assert again.knows("a", Chain(2, "h2")) and not again.knows("a", Chain(1, "h1")) and again.knows("new", Chain())
    assert read_log(path, KEY).notes == [ONE, TWO, Note("b", 1, "x")] and read_log(path, KEY).wrong == ""
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_log(path, bytes(32)).wrong


def test_a_line_that_a_crash_cut_off_is_not_there_and_the_next_one_fits(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    opened(path).note([ONE])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"session":"a","n":2')
    assert read_log(path, KEY).wrong == ""
    opened(path).note([TWO])
    assert path.read_bytes().startswith(whole)
    assert (read_log(path, KEY).notes, read_log(path, KEY).wrong) == ([ONE, TWO], "")


def test_a_start_makes_a_long_log_short_and_keeps_its_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_log, "COMPACT_LINES", 10)
    path = tmp_path / "audit.log"
    log = opened(path)
    log.note([Note("a", n, f"h{n}") for n in range(1, 20)])
    log.note([Note("b", 1, "x")])
    log.delete("b")
    since = read_log(path, KEY).since
    opened(path).note([Note("a", 20, "h20")])
    found = read_log(path, KEY)
    assert (found.notes, found.since, found.wrong) == ([Note("a", 19, "h19"), Note("a", 20, "h20")], since, "")


@pytest.mark.parametrize("chain", [Chain(2, "h2"), Chain(19, "other"), Chain()])
def test_a_chain_that_was_found_shorter_or_another_stays_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                 chain: Chain) -> None:
    monkeypatch.setattr(chain_log, "COMPACT_LINES", 10)
    path = tmp_path / "audit.log"
    log = opened(path)
    notes = [Note("a", n, f"h{n}") for n in range(1, 20)]
    log.note(notes)
    log.found("a", Chain(19, "h19"))
    log.found("a", Chain(20, "h20"))
    log.found("a", chain)
    log.note([Note("a", 30, "h30")])
    opened(path)
    assert read_log(path, KEY).notes == [*notes, Note("a", chain.n, chain.head), Note("a", 30, "h30")]


def test_a_log_that_does_not_fit_is_added_to_and_never_made_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_log, "COMPACT_LINES", 10)
    path = tmp_path / "audit.log"
    opened(path).note([Note("a", n, f"h{n}") for n in range(1, 20)])
    path.write_bytes(path.read_bytes().replace(b'"h3"', b'"h4"'))
    before = path.read_bytes()
    opened(path).note([Note("a", 20, "h20")])
    assert path.read_bytes().startswith(before) and "line 4 of" in read_log(path, KEY).wrong


def test_a_log_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        opened(tmp_path / "audit.log")


def test_what_is_deleted_takes_no_memory_now_or_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = opened(path)
    for number in range(30):
        log.note([Note(f"s{number}", 1, "h1")])
        log.delete(f"s{number}")
        log.delete(f"s{number}")
    log.note([ONE])
    assert list(log._newest) == ["a"] and list(opened(path)._newest) == ["a"]
    assert len(read_log(path, KEY).notes) == 61, "each deletion is written down once"


def test_a_giant_log_is_read_in_pieces_and_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_log, "LOG_MOST", 40 << 20)
    path = tmp_path / "audit.log"
    opened(path).note([ONE])
    os.truncate(path, 100 << 20)
    tracemalloc.start()
    found = read_log(path, KEY)
    opened(path).note([TWO])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20 and found.notes == [ONE] and "line 3 of" in found.wrong
    assert path.stat().st_size > 100 << 20, "what does not fit stays, and is added to"


def test_of_lines_that_are_none_so_many_are_read_and_the_rest_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    opened(path).note([ONE, TWO])
    before = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"\n" * 100_000 + b"x" * (chain_log.LINE_MOST + 1) + b"\n")
    found = read_log(path, KEY)
    assert (found.notes, found.size) == ([ONE, TWO], before + chain_log.UNFIT_MOST + 1) and "line 4 of" in found.wrong
    monkeypatch.setattr(chain_log, "LOG_MOST", 10)
    assert "is longer than" in read_log(path, KEY).wrong


def test_a_line_that_is_longer_than_ours_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    opened(path).note([ONE])
    lines = path.read_bytes()
    path.write_bytes(lines.replace(b'{"session":"a"', b'{"session":"a"' + b" " * chain_log.LINE_MOST))
    assert "line 2 of" in read_log(path, KEY).wrong
    path.write_bytes(lines + b"x" * 3 * chain_log.LINE_MOST)
    assert read_log(path, KEY).wrong == "", "the end of a crash, however long"


def test_of_very_many_notes_those_are_kept_that_say_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_log, "NOTES_MOST", 10)
    path = tmp_path / "audit.log"
    log = opened(path)
    log.note([Note("a", n, f"h{n}") for n in (*range(1, 9), 3)])
    log.note([Note("b", n, f"h{n}") for n in range(1, 4)])
    found = read_log(path, KEY)
    assert found.kept()["a"] == [Note("a", 8, "h8"), Note("a", 3, "h3")] and found.kept()["b"][-1] == Note("b", 3, "h3")
    assert (found.count, found.rises, found.wrong) == (12, False, "")
    log.note([Note(f"s{number}", 1, "h") for number in range(20)])
    assert "more than 2 sessions" in read_log(path, KEY).wrong
