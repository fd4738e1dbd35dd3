"""What the terminal keeps between chats, and what goes above its line."""

from __future__ import annotations

import stat
from pathlib import Path

from prompt_toolkit.history import FileHistory, InMemoryHistory

from trunkline.cli.commands.chat.line import HISTORY_BYTES, Above, kept_history


def test_lines_are_kept_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "data" / "chat_history"
    history = kept_history(path)
    history.store_string("one\nof two lines")
    history.store_string("two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(kept_history(path).load_history_strings()) == ["two", "one\nof two lines"]


def test_beyond_its_bound_the_older_half_is_forgotten_and_what_is_left_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    history = kept_history(path)
    for number in range(HISTORY_BYTES // 1000):
        history.store_string(f"{number} " + "x" * 1000)
    assert path.stat().st_size > HISTORY_BYTES
    kept = list(kept_history(path).load_history_strings())
    assert path.stat().st_size < HISTORY_BYTES * 0.6
    assert kept[0].startswith(f"{HISTORY_BYTES // 1000 - 1} ")
    assert all(len(line) > 1000 for line in kept)


def test_where_no_file_can_be_written_lines_are_kept_for_this_chat_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert isinstance(kept_history(tmp_path / "link"), InMemoryHistory), "a link may lead to a file of somebody else's"
    assert isinstance(kept_history(tmp_path / "elsewhere" / "below" / "x"), InMemoryHistory)
    assert isinstance(kept_history(tmp_path / "x"), FileHistory)


def test_what_goes_above_the_line_is_taken_once() -> None:
    above = Above()
    above.write("one\n")
    assert above.taken() == "one\n"
    above.write("two\n")
    assert above.taken() == "two\n"
    assert above.taken() == ""
