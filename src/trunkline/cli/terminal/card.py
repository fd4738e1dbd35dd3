"""A permission or a question as lines of a terminal, and whether an answer that was typed may approve it.

Rule 1: nothing is approved before it has stood on the screen for REST_S; cards of the page and of ``chat`` rest as long. What
somebody typed while one ask took the place of another is no answer to the new one.
Rule 2: nothing is approved of which lines were left out, or that is taller than the window: that is looked through first, page by
page.
Rule 3: what is decided about is shown as it is: nothing unseen in it is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.cli.terminal.screen import Screen, in_rows
from trunkline.dialects.visible import one_line, one_revealed_line, revealed

REST_S = 1.0
PREVIEW_LINES = 20
"""Lines of one act that are shown before somebody asks for all of them."""
KEYS = "[y]es, [a]lways, [n]o"
VIEW = "[v]iew all"
PROMPT = "  {}, or a number > "

Fields = Mapping[str, Any]


class Line(msgspec.Struct, frozen=True):
    """One line, and how it looks."""

    text: str
    mark: str = ""
    colour: str | None = None
    dim: bool = False
    indent: str = "    "

    def print(self, screen: Screen) -> None:
        """Write it."""
        screen.line(self.text, mark=self.mark, colour=self.colour, dim=self.dim, indent=self.indent)

    def wrapped(self, columns: int) -> list[Line]:
        """As lines that take a row each."""
        lead = len(self.indent) + (2 if self.mark else 0)
        first, *rest = in_rows(self.text, columns - lead)
        return [msgspec.structs.replace(self, text=first),
                *(msgspec.structs.replace(self, text=piece, mark="", indent=" " * lead) for piece in rest)]


class ApprovalCard:
    """One permission that is asked for on a screen, with nothing but notes of ours below it."""

    def __init__(self, screen: Screen, packet: Fields, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._packet = packet
        self._clock = clock
        self.options = [option for option in packet.get("options", ()) if isinstance(option, Mapping)]
        self._seen_at = float("inf")
        self._first = -1
        self._window = (0, 0)
        self._paged = False
        self.prints = 0
        """How often it was written."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it can have been read."""
        return self._paged or (not any(len(lines) > PREVIEW_LINES for lines in _acts(self._packet)) and self._fits())

    @property
    def prompt(self) -> str:
        """What can be answered now."""
        return PROMPT.format(KEYS if self.is_whole else f"{KEYS}, {VIEW}")

    def print(self) -> None:
        """Write it anew, as far as it goes; its rest begins."""
        self.prints += 1
        self._paged = False
        self._window = self._screen.size()
        self._first = self._screen.rows
        for line in self._lines(whole=False):
            line.print(self._screen)
        self._seen_at = self._clock()

    def pages(self) -> list[list[Line]]:
        """All of it, in parts that fit into the window."""
        self._window = self._screen.size()
        columns, page = self._window[0], max(self._room(), 1)
        lines = [row for line in self._lines(whole=True) for row in line.wrapped(columns)]
        return [lines[at:at + page] for at in range(0, len(lines), page)]

    def was_paged(self) -> None:
        """All pages were shown, the last one just now, in a window that they were made for."""
        self._paged = self._window == self._screen.size()
        self._seen_at = self._clock()

    def stay(self) -> None:
        """Have it on the screen: it goes on being asked for."""
        is_pushed_out = self._fits() and not self._paged and self._screen.rows - self._first > self._room()
        if is_pushed_out or self._window != self._screen.size():
            self.print()

    def rests(self) -> str:
        """Why it cannot be approved now; empty where it can."""
        if self._window != self._screen.size():
            return "the window has changed: here it is again"
        if not self._paged and self._fits() and self._screen.rows - self._first > self._window[1]:
            return "other things were written below it: here it is again"
        if self._clock() - self._seen_at < REST_S:
            return "this has only just appeared: look at it, and answer again"
        return "" if self.is_whole else "not all of it is shown: v shows the rest"

    def _fits(self) -> bool:
        columns = self._screen.size()[0]
        return sum(len(line.wrapped(columns)) for line in self._lines(whole=False)) <= self._room()

    def _room(self) -> int:
        """Rows of the window that a card may take: above the prompt, and a note."""
        return self._screen.size()[1] - 1 - self._screen.rows_of(PROMPT.format(f"{KEYS}, {VIEW}"))

    def _lines(self, *, whole: bool) -> list[Line]:
        names = [one_revealed_line(str(option.get("name", ""))) for option in self.options]
        options = [Line(f"{number}  {name}") for number, name in enumerate(names, 1)]
        return [*approval_lines(self._packet, whole=whole), *options]


def approval_lines(packet: Fields, *, whole: bool = False) -> list[Line]:
    """What the permission is for: its line, what is not sure, and every act of it, cut where it would fill the screen."""
    why = f": {one_line(str(packet['riskReason']))}" if packet.get("riskReason") else ""
    about = str(packet.get("description") or packet.get("title") or packet.get("toolName") or "a tool")
    wanted = f"permission wanted ({packet.get('riskLevel', '')} risk{why}): {one_revealed_line(about)}"
    doubts = [Line(f"not sure: {one_revealed_line(str(doubt))}", mark="!", colour="yellow")
              for doubt in _beside(packet, "doubts")]
    acts = [line for lines in _acts(packet) for line in _act_lines(lines, whole)]
    return [Line(wanted, mark="?", colour="yellow", indent="  "), *doubts, *acts]


def question_lines(packet: Fields) -> list[Line]:
    """What an agent wants to know."""
    question = Line(str(packet.get("question", "")), mark="?", colour="yellow", indent="  ")
    return [question, Line(str(packet["url"]))] if packet.get("url") else [question]


def _act_lines(lines: Sequence[str], whole: bool) -> list[Line]:
    shown = [Line(revealed(line), dim=True) for line in (lines if whole else lines[:PREVIEW_LINES])]
    left = len(lines) - len(shown)
    return [*shown, Line(f"… {left} more lines", dim=True)] if left else shown


def _acts(packet: Fields) -> list[list[str]]:
    """The lines of each command, diff and description; of the permission's own words where it has none of these."""
    acts = [act for act in (packet.get("preview"), *_beside(packet, "acts")) if isinstance(act, Mapping)]
    return [_lines_of(act) for act in acts or [{"text": packet.get("description")}]]


def _lines_of(act: Fields) -> list[str]:
    """Its lines. In a command a carriage return is a part of a word, also before a newline."""
    if act.get("diff") or not act.get("command"):
        text = str(act.get("diff") or act.get("text") or "").replace("\r\n", "\n")
    else:
        text = str(act["command"])
    return text.removesuffix("\n").split("\n") if text else []


def _beside(packet: Fields, name: str) -> list[Any]:
    """A list that rides in a permission's ``_meta``."""
    meta = packet.get("_meta")
    found = meta.get(name) if isinstance(meta, Mapping) else None
    return found if isinstance(found, list) else []
