"""A permission that an agent wants, as lines of a terminal, and whether an answer that was typed may approve it.

Rule 1: nothing is approved before it has stood on the screen for REST_S; cards of the page and of ``chat`` rest as long. What
somebody typed while one ask took the place of another is no answer to the new one.
Rule 2: nothing is approved of which lines were left out, or that has left the screen since.
Rule 3: what is decided about is shown as it is: nothing unseen in it is left out.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from trunkline.cli.terminal.screen import Screen
from trunkline.dialects.visible import one_line, one_revealed_line, revealed

REST_S = 1.0
PREVIEW_LINES = 20
"""Lines of one act that are shown before somebody asks for all of them."""
BOTTOM_LINES = 2
"""The prompt, and the line above it that may be half of something."""

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


class ApprovalCard:
    """One permission that is asked for on a screen. When it is made, ``Show`` has just written its lines there."""

    def __init__(self, screen: Screen, packet: Fields, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._packet = packet
        self._clock = clock
        self.options = [option for option in packet.get("options", ()) if isinstance(option, Mapping)]
        self.is_whole = not any(len(lines) > PREVIEW_LINES for lines in _acts(packet))
        self._first = screen.rows - sum(screen.rows_of(line.indent + line.text) for line in approval_lines(packet))
        self._behind = screen.rows
        self._seen_at = float("inf")

    def bring_up(self) -> None:
        """Have it on the screen, with what can be answered: it is asked for now."""
        if self._screen.rows != self._behind:
            self.print()
        else:
            self._print_options()
            self._stands()

    def stay(self) -> None:
        """Have it still on the screen: it goes on being asked for."""
        if not self.is_in_sight():
            self.print()

    def print(self) -> None:
        """Write it anew; its rest begins."""
        self._first = self._screen.rows
        for line in approval_lines(self._packet, whole=self.is_whole):
            line.print(self._screen)
        self._print_options()
        self._stands()

    def print_whole(self) -> None:
        """Write it with all of its lines."""
        self.is_whole = True
        self.print()

    def rests(self) -> str:
        """Why it cannot be approved now; empty where it can."""
        if not self.is_in_sight():
            return "other things were written below it: here it is again"
        if self._clock() - self._seen_at < REST_S:
            return "this has only just appeared: look at it, and answer again"
        return "" if self.is_whole else "not all of it is shown: v shows the rest"

    def is_in_sight(self) -> bool:
        """Whether it stands on the screen, as far as it fits there, with nothing below that could have pushed it out."""
        end = self._screen.rows
        return end == self._behind or end - self._first < shutil.get_terminal_size().lines - BOTTOM_LINES

    def _print_options(self) -> None:
        for number, option in enumerate(self.options, 1):
            self._screen.line(f"{number}  {one_line(str(option.get('name', '')))}", indent="    ")

    def _stands(self) -> None:
        self._behind = self._screen.rows
        self._seen_at = self._clock()


def approval_lines(packet: Fields, *, whole: bool = False) -> list[Line]:
    """What the permission is for: its line, what is not sure, and every act of it, cut where it would fill the screen."""
    why = f": {one_line(str(packet['riskReason']))}" if packet.get("riskReason") else ""
    about = str(packet.get("description") or packet.get("title") or packet.get("toolName") or "a tool")
    wanted = f"permission wanted ({packet.get('riskLevel', '')} risk{why}): {one_revealed_line(about)}"
    doubts = [Line(f"not sure: {one_revealed_line(str(doubt))}", mark="!", colour="yellow")
              for doubt in _beside(packet, "doubts")]
    acts = [line for lines in _acts(packet) for line in _act_lines(lines, whole)]
    return [Line(wanted, mark="?", colour="yellow", indent="  "), *doubts, *acts]


def _act_lines(lines: Sequence[str], whole: bool) -> list[Line]:
    shown = [Line(revealed(line), dim=True) for line in (lines if whole else lines[:PREVIEW_LINES])]
    left = len(lines) - len(shown)
    return [*shown, Line(f"… {left} more lines", dim=True)] if left else shown


def _acts(packet: Fields) -> list[list[str]]:
    """The lines of each command, diff and description; of the permission's own words where it has none of these."""
    acts = [act for act in (packet.get("preview"), *_beside(packet, "acts")) if isinstance(act, Mapping)]
    texts = [str(act.get("diff") or act.get("command") or act.get("text") or "") for act in acts]
    return [_lines_of(text) for text in texts or [str(packet.get("description") or "")]]


def _lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _beside(packet: Fields, name: str) -> list[Any]:
    """A list that rides in a permission's ``_meta``."""
    meta = packet.get("_meta")
    found = meta.get(name) if isinstance(meta, Mapping) else None
    return found if isinstance(found, list) else []
