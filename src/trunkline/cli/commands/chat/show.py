"""Packets above the line where somebody types: what ``run`` shows, with text as Markdown, changes as diffs, and outputs.

Rule: what goes above the line is whole lines and never changes again; what still grows is ``growing``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline.cli.commands.chat.flow import Flow
from trunkline.cli.commands.chat.paint import Paint, changed_lines, colour_of
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.show import Fields, Show, text_of
from trunkline.dialects.visible import printable

PIECES = 4
"""Pieces of text that are laid out before keys are looked at again."""
TAIL_CHARS = 4_096
"""Of a text that grows, this much is drawn each time that it has grown."""
WAITING_CHARS = 256 << 10
"""Text of one message that waits to be laid out, which takes some 5 s for a million characters: who sends more at once than that
has the rest of it left out, so that keys are heard."""
OUTPUT_LINES = 5
DIFF_LINES = 40
LINE_CHARS = 2_000
"""Of a line of a change that was made. (What is asked for is shown whole: ``cards``.)"""
_TEXT = frozenset({"agent_message_chunk", "agent_thought_chunk"})
_ASIDE = frozenset({"usage_update", "available_commands_update", "tool_call_start"})
"""These write nothing, so they end no text."""
_CARDS = frozenset({"approval_requested", "question_requested"})
"""These are shown as cards."""


class ChatShow(Show):
    """Packets of a session, as lines of a screen."""

    def __init__(self, screen: Screen, paint: Paint, *, root: str = "") -> None:
        super().__init__(screen, prompts=True, root=root)
        self._paint = paint
        self._text = Flow()
        self._left_out = 0
        """Characters of this text that came too fast."""
        self._is_thought = False
        self._laid_out = "", ""

    def packet(self, packet: Fields) -> None:
        """Show one packet."""
        kind = str(packet.get("type", ""))
        if kind in _CARDS:
            return
        if kind not in _TEXT | _ASIDE and not _only_goes_on(packet):
            self.end_text()
        super().packet(packet)

    def settle(self, most: int = PIECES) -> bool:
        """Write down what is finished of the text that is coming; True where there is more of it than that many pieces."""
        for _ in range(most):
            if not (text := self._text.finished()):
                return False
            self._write(text)
        return True

    def end_text(self) -> None:
        """The text is over."""
        while self.settle():
            pass
        self._write(self._text.end())
        if self._left_out:
            self._screen.line(f"… {self._left_out} more characters: the page shows them", dim=True)
            self._left_out = 0

    def growing(self) -> str:
        """What is not finished yet, laid out."""
        held = self._text.held
        if held != self._laid_out[0]:
            tail = held[-TAIL_CHARS:]
            text = printable(tail) if self._is_thought else self._paint.markdown(tail)
            self._laid_out = held, text.rstrip("\n")
        return self._laid_out[1]

    def _print_text(self, packet: Fields, *, thinking: bool) -> None:
        if thinking != self._is_thought:
            self.end_text()
        self._is_thought = thinking
        text = text_of(packet.get("content"))
        room = 0 if self._left_out else WAITING_CHARS - len(self._text.held)
        self._text.add(text[:room])
        self._left_out += max(len(text) - room, 0)

    def _write(self, text: str) -> None:
        if not text.strip():
            return
        if self._is_thought:
            for line in printable(text).strip("\n").split("\n"):
                self._screen.line(line, dim=True)
        else:
            self._screen.laid_out(self._paint.markdown(text).strip("\n") + "\n\n")

    def _finished(self, label: str, status: str, packet: Fields) -> None:
        super()._finished(label, status, packet)
        if status != "completed":
            return
        changes = [each for each in packet.get("content") or () if isinstance(each, Mapping) and each.get("type") == "diff"]
        for change in changes:
            self._changed(change)
        if not changes and packet.get("kind") == "execute":
            self._output(packet.get("rawOutput"))

    def _changed(self, change: Mapping[str, Any]) -> None:
        lines = list(changed_lines(str(change.get("oldText") or ""), str(change.get("newText") or "")))
        for line in lines[:DIFF_LINES]:
            self._screen.line(line[:LINE_CHARS] + "…" * (len(line) > LINE_CHARS), colour=colour_of(line), indent="    ")
        self._more(len(lines) - DIFF_LINES)

    def _output(self, output: Any) -> None:
        text = output.get("output") if isinstance(output, Mapping) else output
        lines = text.strip("\n").splitlines() if isinstance(text, str) else []
        for line in lines[:OUTPUT_LINES]:
            self._screen.line(self._screen.cut(line, taken=4), dim=True, indent="    ")
        self._more(len(lines) - OUTPUT_LINES)

    def _more(self, count: int) -> None:
        if count > 0:
            self._screen.line(f"… {count} more line{'s' if count > 1 else ''}", dim=True, indent="    ")


def _only_goes_on(packet: Fields) -> bool:
    """A call that is on its way is shown at the bottom."""
    return packet.get("type") == "tool_call_progress" and packet.get("status") not in ("completed", "failed")
