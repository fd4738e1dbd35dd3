"""What reaches a terminal, and what never does."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.cli.terminal.screen import COLUMNS_MOST, NOTE_CHARS, ROWS_MOST, Screen
from trunkline.dialects.visible import one_line, printable


class Out(io.StringIO):
    """A stream that says what it is."""

    encoding = "utf-8"


class Plain(io.StringIO):
    """A stream that carries ASCII alone."""

    encoding = "ascii"


@every_row(
    ("text", "shown"),
    [
        ("plain\n\ttext ✓", "plain\n\ttext ✓"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("a\x1b", "a"),
        ("over\rwritten", "overwritten"),
        ("\x9b31mred", "31mred"),
        ("rm -rf /\u202e # sdrawkcab", "rm -rf / # sdrawkcab"),
        ("\x07\x00\x08\x7f", ""),
    ],
)
def test_nothing_that_a_terminal_would_obey_is_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_whatever_comes_no_control_character_is_left(text: str) -> None:
    left = printable(text)
    assert all(char in "\n\t" or ord(char) >= 0x20 for char in left)
    assert not any(0x7F <= ord(char) <= 0x9F for char in left)
    assert "\n" not in one_line(text)


def test_without_a_terminal_there_are_no_colours_and_no_last_line() -> None:
    out = Out()
    screen = Screen(out)
    screen.last_line("working")
    screen.stream("text", dim=True)
    screen.line("done", mark="✓", colour="green")
    screen.end()
    assert out.getvalue() == "text\n✓ done\n"


def test_a_stream_without_unicode_gets_marks_it_can_carry() -> None:
    out = Plain()
    screen = Screen(out)
    for mark in "✓✗●○→":
        screen.line("x", mark=mark)
    screen.line(screen.cut("y" * 500))
    out.getvalue().encode("ascii")
    assert out.getvalue().splitlines()[:2] == ["+ x", "x x"]


def test_no_color_is_respected_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = Out()
    Screen(out, terminal=True).line("x", colour="red")
    assert out.getvalue() == "x\n"


def test_the_last_line_makes_way_for_what_is_written_and_comes_back() -> None:
    out = Out()
    screen = Screen(out, terminal=True, colour=False)
    screen.last_line("busy")
    screen.line("one")
    screen.end()
    assert out.getvalue() == "busy" + "\r\x1b[K" + "one\n" + "busy" + "\r\x1b[K"


def test_the_last_line_waits_while_text_is_in_the_middle_of_a_line() -> None:
    out = Out()
    screen = Screen(out, terminal=True, colour=False)
    screen.stream("half a ")
    screen.last_line("busy")
    screen.stream("line\n")
    assert out.getvalue() == "half a line\nbusy"


def test_a_prompt_is_always_on_a_line_of_its_own_and_stays_when_answered() -> None:
    out = Out()
    screen = Screen(out, terminal=True, colour=False)
    screen.stream("text")
    screen.prompt("ok? > ")
    screen.stream("more")
    screen.answered()
    screen.line("next")
    assert out.getvalue() == "text\nok? > " + "\r\x1b[Kmore\nok? > " + "next\n"


def test_a_line_is_cut_to_the_width() -> None:
    screen = Screen(Out())
    assert screen.cut("short") == "short"
    assert screen.cut("a\nb\x1b[1m c") == "a b c"
    long = screen.cut("x" * 500, taken=4)
    assert (len(long), long[-1]) == (195, "…")


def test_a_note_is_one_line_whatever_it_quotes() -> None:
    out = Out()
    Screen(out).note("no option x\n\n  ? permission wanted\x1b[2J\u200b" + "y" * 5_000, indent="  ")
    (line,) = out.getvalue().splitlines()
    assert line.startswith("  ! no option x ⏎ ⏎ ? permission wanted␛[2J[U+200B]yyy") and len(line) < NOTE_CHARS + 10


class Window(Out):
    """A stream that is a terminal."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def fileno(self) -> int:
        """The terminal."""
        return self._slave

    def shut(self) -> None:
        """Give it back."""
        os.close(self._master)
        os.close(self._slave)


@pytest.mark.parametrize(("columns", "rows", "size"), [
    (0, 0, (80, 24)), (0, 24, (80, 24)), (100, 30, (100, 30)), (60_000, 60_000, (COLUMNS_MOST, ROWS_MOST)), (1, 1, (1, 1)),
])
def test_a_window_is_as_large_as_it_says_within_reason(
        columns: int, rows: int, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    window = Window(columns, rows)
    assert Screen(window, terminal=True).size() == size
    window.shut()
