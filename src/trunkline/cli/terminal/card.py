"""A permission or a question as lines of a terminal, and whether an answer that was typed may approve it.

Rule 1: nothing is approved before it has stood on the screen for REST_S; cards of the page and of ``chat`` rest as long. What
somebody typed while one ask took the place of another is no answer to the new one.
Rule 2: nothing is approved of which lines were left out, or that is taller than the window: that is looked through first, page by
page.
Rule 3: what is decided about is shown as it is: nothing unseen in it is left out, and of the input all that no act shows. What
the agent says of it is told as its words.
Rule 4: an option says what the hub does with it, whatever the agent calls it.
Rule 5: a question is the agent's words, row by row behind a mark: it cannot be drawn as a permission.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trunkline.cli.terminal.screen import Screen, in_rows
from trunkline.dialects.calls.beside import facts_of
from trunkline.dialects.visible import one_line, one_revealed_line, revealed

REST_S = 1.0
PREVIEW_LINES = 20
"""Lines of one act that are shown before somebody asks for all of them."""
KEYS = "[a]pprove, [d]eny, a[l]ways"
"""The letters of the page and of ``chat``."""
VIEW = "[v]iew all"
PROMPT = "  {}, or a number > "
PAGER = "  {} of {}: Enter shows more{}, [q]uit > "
ROOM_LEAST = 2
"""Rows of a page: in a window that has fewer above the prompt, nothing can be looked through."""
QUOTE = "    | "
"""Before every row of a question."""
KINDS = {
    "allow_once": "approves, once", "allow_always": "approves, and writes a rule that approves the like from now on",
    "reject_once": "denies, once", "reject_always": "denies, and writes a rule that denies the like from now on"}
"""What the hub does with an option of this kind."""
OTHER_KIND = "is passed on, and only the agent knows what it means"

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

    def __init__(self, screen: Screen, packet: Fields, clock: Callable[[], float] = time.monotonic, root: str = "") -> None:
        self._screen = screen
        self._packet = packet
        self._root = root
        self._clock = clock
        self.options = [option for option in packet.get("options", ()) if isinstance(option, Mapping)]
        self._seen_at = float("inf")
        self._first = -1
        self._window = (0, 0)
        self._paged = False
        self.was_looked_through = False
        """Whether all pages of it were shown, at some time."""
        self.prints = 0
        """How often it was written."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it can have been read."""
        return self._paged or (not any(len(act.lines) > PREVIEW_LINES for act in _acts(self._packet)) and self._fits())

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
        columns, page = self._window[0], max(self._page_room(), 1)
        lines = [row for line in self._lines(whole=True) for row in line.wrapped(columns)]
        return [lines[at:at + page] for at in range(0, len(lines), page)]

    def pager(self, number: int, count: int) -> str:
        """The prompt below a page. All the rest at once is for who has looked through it already."""
        return PAGER.format(number, count, ", [a]ll" if self.was_looked_through else "")

    def was_paged(self) -> None:
        """All pages were shown, the last one just now, in a window that they were made for."""
        self._paged = self._window == self._screen.size()
        self.was_looked_through = self.was_looked_through or self._paged
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
        return "" if self.is_whole else self.too_small() or "not all of it is shown: v shows the rest"

    def too_small(self) -> str:
        """Why it cannot be looked through here; empty where it can."""
        columns, rows = self._screen.size()
        return "" if self._page_room() >= ROOM_LEAST else f"a window of {columns} columns and {rows} rows is too small for it"

    def _fits(self) -> bool:
        columns = self._screen.size()[0]
        return sum(len(line.wrapped(columns)) for line in self._lines(whole=False)) <= self._room()

    def _room(self) -> int:
        """Rows of the window that a card may take: above the prompt, and a note."""
        return self._screen.size()[1] - 1 - self._screen.rows_of(PROMPT.format(f"{KEYS}, {VIEW}"))

    def _page_room(self) -> int:
        """Rows of a page, above what is asked below it."""
        return min(self._room(), self._screen.size()[1] - 1 - self._screen.rows_of(PAGER.format("999", "999", ", [a]ll")))

    def _lines(self, *, whole: bool) -> list[Line]:
        options = [Line(f"{number}  {option_words(option)}") for number, option in enumerate(self.options, 1)]
        return [*approval_lines(self._packet, whole=whole, root=self._root), *options]


def option_words(option: Fields) -> str:
    """What the hub does with an option, then what the agent calls it: that may say anything."""
    return f"{KINDS.get(str(option.get('kind')), OTHER_KIND)}: {one_revealed_line(str(option.get('name', '')))}"


def approval_lines(packet: Fields, *, whole: bool = False, root: str = "") -> list[Line]:
    """What the permission is for: its line, what the agent calls it, what is not sure, and every act of it, cut where it would
    fill the screen. Paths in the session's folder ``root`` begin there."""
    why = f": {one_line(str(packet['riskReason']))}" if packet.get("riskReason") else ""
    about = str(packet.get("description") or packet.get("title") or packet.get("toolName") or "a tool")
    wanted = f"permission wanted ({packet.get('riskLevel', '')} risk{why}): {one_revealed_line(about)}"
    doubts = [Line(f"not sure: {one_revealed_line(str(doubt))}", mark="!", colour="yellow")
              for doubt in _beside(packet, "doubts")]
    said = agent_words(packet.get("title"), about, packet.get("toolName"), packet.get("preview"), _beside(packet, "acts"))
    acts = [line for act in _acts(packet, root) for line in _act_lines(act, whole)]
    return [Line(wanted, mark="?", colour="yellow", indent="  "), *([Line(said)] if said else []), *doubts, *acts]


def agent_words(title: object, heading: str, tool: object, preview: object, acts: Sequence[object]) -> str:
    """What the agent calls it, as words of its own; empty where that says no more than ``heading``, or where what it runs stands
    there by itself."""
    words = one_revealed_line(str(title or ""))
    is_command = isinstance(preview, Mapping) and bool(preview.get("command")) and not acts
    if not words or is_command or words in one_revealed_line(heading) or words == one_revealed_line(str(tool or "")):
        return ""
    return f"The agent says: “{words}”"


def runs_in(act: Fields) -> str:
    """Where a command would run; empty for what is none."""
    folder = act.get("workingDir") if act.get("command") and not act.get("diff") else None
    return f"Runs in {one_revealed_line(str(folder))}" if folder else ""


def act_lines(act: Fields, root: str = "") -> list[str]:
    """The lines of one act, which end with a newline and with nothing else: a diff in which other characters ended them would
    show a part of what is added as something that is taken away. In a command a carriage return is a part of a word, also before
    a newline."""
    if act.get("diff") or not act.get("command"):
        text = str(act.get("diff") or act.get("text") or "").replace("\r\n", "\n")
    else:
        text = str(act["command"])
    lines = text.removesuffix("\n").split("\n") if text else []
    return [*(_from_root(line, str(act.get("path") or ""), root) for line in lines[:2]), *lines[2:]] if act.get("diff") else lines


def _from_root(line: str, path: str, root: str) -> str:
    """A line of a diff's head with the file's path as seen from the session's folder."""
    folder = root.rstrip("/") + "/"
    if len(folder) > 1 and path.startswith(folder) and line in (f"--- a{path}", f"+++ b{path}"):
        return f"{line[:5]}/{path.removeprefix(folder)}"
    return line


def question_lines(question: str, url: str | None, columns: int) -> list[Line]:
    """What somebody wants to know, and the page that they send to."""
    words = revealed(question.replace("\r\n", "\n"))
    asked = [Line("a question:", mark="?", colour="yellow", indent="  "), *quoted_lines(words, columns)]
    return [*asked, Line("about this address:"), *quoted_lines(one_revealed_line(url), columns)] if url else asked


def quoted_lines(text: str, columns: int) -> list[Line]:
    """Somebody else's words, every row of them behind a mark."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [Line(row, indent=QUOTE) for line in lines for row in in_rows(line, columns - len(QUOTE) - 1)]


def input_lines(members: Fields) -> list[str]:
    """What of its input no act shows."""
    return ["in its input:", *(f"  {fact}" for fact in facts_of(members))] if members else []


def _act_lines(act: _Act, whole: bool) -> list[Line]:
    lines, folder = act
    shown = [Line(revealed(line), dim=True) for line in (lines if whole else lines[:PREVIEW_LINES])]
    left = len(lines) - len(shown)
    return [*shown, *([Line(f"… {left} more lines", dim=True)] if left else []), *([Line(folder, dim=True)] if folder else [])]


class _Act(NamedTuple):
    """What is shown of one act: its lines, and where it runs."""

    lines: list[str]
    folder: str = ""


def _acts(packet: Fields, root: str = "") -> list[_Act]:
    """Each command, diff and description, the permission's own words where it has none of these; and what else its input has."""
    acts: list[Fields] = [act for act in (packet.get("preview"), *_beside(packet, "acts")) if isinstance(act, Mapping)]
    found = [_Act(act_lines(act, root), runs_in(act)) for act in acts or [{"text": packet.get("description")}]]
    beside = input_lines(_input(packet))
    return [*found, _Act(beside)] if beside else found


def _beside(packet: Fields, name: str) -> list[Any]:
    """A list that rides in a permission's ``_meta``."""
    found = _meta(packet).get(name)
    return found if isinstance(found, list) else []


def _input(packet: Fields) -> Fields:
    found = _meta(packet).get("input")
    return found if isinstance(found, Mapping) else {}


def _meta(packet: Fields) -> Fields:
    meta = packet.get("_meta")
    return meta if isinstance(meta, Mapping) else {}
