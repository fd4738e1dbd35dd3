"""A terminal, or what stands in for one: streamed text, whole lines, and one last line that comes and goes.

Rule 1: what an agent says is data. Control characters and escape sequences never reach the terminal.
Rule 2: colours and the last line exist only on a terminal; a pipe or a file gets the same words, plain.
Rule 3: a note of ours is one line, whoever wrote what it quotes: an error cannot be drawn as something that is asked for.
"""

from __future__ import annotations

import os
import shutil
from typing import TextIO

import click

from trunkline.dialects.visible import one_line, one_revealed_line, printable

PLAIN_WIDTH = 200
"""Where a line is cut when there is no terminal whose width would say."""

COLUMNS_MOST, ROWS_MOST = 500, 200
"""The largest window that is believed: one that says it is larger would let more count as seen than anybody sees."""
NOTE_CHARS = 1_000
TAB_COLUMNS = 8
_ERASE_LINE = "\r\x1b[K"


class Screen:
    """Writes to one stream and knows whether it stands at the beginning of a line."""

    def __init__(self, out: TextIO, *, terminal: bool | None = None, colour: bool | None = None) -> None:
        self._out = out
        self.terminal = out.isatty() if terminal is None else terminal
        self._colour = (self.terminal and not os.environ.get("NO_COLOR")) if colour is None else colour
        self._unicode = _speaks_unicode(out)
        self._at_line_start = True
        self._last_line = ""
        self._prompting = False
        self.rows = 0
        """How many rows of the terminal everything took so far, or a few more."""

    @property
    def at_line_start(self) -> bool:
        """Whether what was written last ended its line."""
        return self._at_line_start

    def stream(self, text: str, *, colour: str | None = None, dim: bool = False) -> None:
        """Add to the running text."""
        text = printable(text)
        if not text:
            return
        self._hide_last_line()
        self._out.write(self.styled(text, colour=colour, dim=dim))
        self._at_line_start = text.endswith("\n")
        self.rows += self.rows_of(text)
        self._show_last_line()
        self._out.flush()

    def line(self, text: str = "", *, colour: str | None = None, dim: bool = False, mark: str = "", indent: str = "") -> None:
        """A line of its own; the mark before it carries the colour."""
        self._hide_last_line()
        self._break()
        text = printable(text)
        styled = self.styled(text, colour=None if mark else colour, dim=dim)
        lead = self.styled(self.mark(mark), colour=colour) + " " if mark else ""
        self._out.write(f"{indent}{lead}{styled}\n")
        self.rows += self.rows_of(indent + ("? " if mark else "") + text)
        self._show_last_line()
        self._out.flush()

    def note(self, text: str, *, indent: str = "") -> None:
        """Say what went wrong, in a line (Rule 3)."""
        line = one_revealed_line(text)
        self.line(line if len(line) <= NOTE_CHARS else f"{line[:NOTE_CHARS]}…", mark="!", colour="yellow", indent=indent)

    def laid_out(self, text: str) -> None:
        """Whole lines that were cleared of what a terminal obeys and laid out already."""
        self._hide_last_line()
        self._break()
        self._out.write(text)
        self.rows += self.rows_of(text)
        self._show_last_line()
        self._out.flush()

    def fresh_line(self) -> None:
        """Go on at the beginning of a line."""
        self._hide_last_line()
        self._break()
        self._show_last_line()

    def last_line(self, text: str) -> None:
        """Show ``text`` below everything else until it is replaced; empty takes it away."""
        if not self.terminal:
            return
        self._hide_last_line()
        self._last_line = text
        self._prompting = False
        self._show_last_line()
        self._out.flush()

    def prompt(self, text: str) -> None:
        """Show ``text`` as the last line, on a line of its own, for somebody to type behind it."""
        self._hide_last_line()
        self._break()
        self._last_line = self.styled(printable(text), bold=True)
        self._prompting = True
        self._show_last_line()
        self._out.flush()

    def answered(self) -> None:
        """Somebody typed a line: it stays where it is, with its prompt."""
        self.rows += self.rows_of(self._last_line)
        self._last_line = ""
        self._prompting = False
        self._at_line_start = True

    def end(self) -> None:
        """Leave the terminal at the beginning of a line with nothing transient on it."""
        self.last_line("")
        self._break()
        self._out.flush()

    def styled(self, text: str, *, colour: str | None = None, dim: bool = False, bold: bool = False) -> str:
        """With colours where there are any."""
        if not self._colour or not (colour or dim or bold):
            return text
        return click.style(text, fg=colour, dim=dim or None, bold=bold or None)

    def mark(self, mark: str) -> str:
        """A status mark, as far as the stream can carry it."""
        return mark if self._unicode else _ASCII_MARKS.get(mark, "-")

    def cut(self, text: str, *, taken: int = 0) -> str:
        """One line of the text, as wide as fits after ``taken`` columns."""
        width = self.columns - taken - 1
        text = one_line(text)
        return text if len(text) <= width else text[:max(width - 1, 1)] + ("…" if self._unicode else "~")

    @property
    def columns(self) -> int:
        """How wide a line may be."""
        return self.size()[0] if self.terminal else PLAIN_WIDTH

    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal; of one that does not know, what the environment says or what is usual."""
        try:
            found = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):  # no terminal of its own
            found = os.terminal_size((0, 0))
        if 0 in found:
            found = shutil.get_terminal_size()
        return min(found.columns, COLUMNS_MOST), min(found.lines, ROWS_MOST)

    def rows_of(self, text: str) -> int:
        """How many rows of the terminal a text takes, or a few more."""
        columns = self.size()[0]
        return sum(len(in_rows(line, columns)) for line in text.split("\n"))

    def _break(self) -> None:
        if not self._at_line_start:
            self._out.write("\n")
            self._at_line_start = True

    def _hide_last_line(self) -> None:
        if self._last_line and self._at_line_start:
            self._out.write(_ERASE_LINE)

    def _show_last_line(self) -> None:
        if self._prompting:
            self._break()  # a prompt must be seen, even in the middle of streamed text
        if self._last_line and self._at_line_start:
            self._out.write(self._last_line)


def in_rows(line: str, columns: int) -> list[str]:
    """The line in pieces that take a row of that many columns each."""
    columns = max(columns, 1)
    if line.isascii() and "\t" not in line:
        return [line[at:at + columns] for at in range(0, len(line), columns)] or [""]
    pieces, start, taken = [], 0, 0
    for at, character in enumerate(line):
        taken += (wide := _columns(character))
        if taken > columns and at > start:
            pieces.append(line[start:at])
            start, taken = at, wide
    return [*pieces, line[start:]]


def _columns(character: str) -> int:
    """Terminals do not agree on what is wide, and know of newer characters than we do: two is the most."""
    return TAB_COLUMNS if character == "\t" else 1 if character.isascii() else 2


_ASCII_MARKS = {"✓": "+", "✗": "x", "●": "*", "○": "o", "→": ">", "▸": ">", "?": "?", "!": "!", "…": "~"}


def _speaks_unicode(out: TextIO) -> bool:
    try:
        "✓✗●○→▸…".encode(getattr(out, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
