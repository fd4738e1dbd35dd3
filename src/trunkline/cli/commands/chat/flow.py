"""Markdown that comes in pieces, handed on in blocks that nothing can change any more. Pure.

Rule 1: what is handed on, one piece after the other, shows what the whole would show: a piece ends between two blocks. A block of
code that goes on for long is handed on in parts, each fenced again.
Rule 2: what is held back is bounded (HELD_CHARS, HELD_LINES), and so is what is looked at and handed on at a time: each look
costs little however much comes at once.
"""

from __future__ import annotations

import re

HELD_CHARS = 16_384
"""A paragraph longer than this is cut at a line's or a word's end."""
HELD_LINES = 30
"""Lines of one block of code that are held back before its beginning is handed on."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


class Flow:
    """One message as it grows."""

    def __init__(self) -> None:
        self._held = ""

    @property
    def held(self) -> str:
        """What may still change."""
        return self._held

    def add(self, text: str) -> None:
        """More came."""
        self._held += text

    def finished(self) -> str:
        """Take out what is finished; empty where nothing is."""
        looked_at = self._held[:HELD_CHARS + 1]
        cut, fence = _cut(looked_at)
        if not cut and fence and looked_at.count("\n") > HELD_LINES:
            return self._part_of_code(fence, looked_at)
        if not cut and len(looked_at) > HELD_CHARS:
            cut = _anywhere(looked_at)
        done, self._held = self._held[:cut], self._held[cut:]
        return done

    def end(self) -> str:
        """The message is over: all that is left."""
        left, self._held = self._held, ""
        return left

    def _part_of_code(self, opening: str, looked_at: str) -> str:
        cut = looked_at.rfind("\n") + 1
        part = self._held[:cut]
        if part.count("\n") < 2:
            return ""
        self._held = opening + self._held[cut:]
        found = _FENCE.match(opening)
        return part + (found[1] if found else "```") + "\n"


def _cut(text: str) -> tuple[int, str]:
    """Where the last finished block ends, and the line that opened the code which goes on there, if one does."""
    cut = place = 0
    opening, blank = "", False
    for line in text.splitlines(keepends=True):
        whole = line.endswith("\n")
        if opening:
            if whole and _closes(line, opening):
                opening, cut = "", place + len(line)
        else:
            if blank and line[:1].strip():
                cut = place
            if whole and _FENCE.match(line):
                opening = line
        blank = not opening and not line.strip()
        place += len(line)
    return cut, opening


def _closes(line: str, opening: str) -> bool:
    mark, bare = _FENCE.match(opening), line.strip()
    return mark is not None and bare.startswith(mark[1]) and not bare.strip(mark[1][0])


def _anywhere(text: str) -> int:
    return text.rfind("\n", 0, HELD_CHARS) + 1 or text.rfind(" ", 0, HELD_CHARS) + 1 or HELD_CHARS
