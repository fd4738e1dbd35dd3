"""A file's text with its line numbers, as agents show what they read, in the documents' one form.

Rule 1: the numbers that the agent gave are kept; a text without any is counted from 1.
Rule 2: every line has to look numbered, in order, or none is taken for it: a file may well begin with a number.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

OPENED: Final = "<file>"
CLOSED: Final = "</file>"

_FENCE = re.compile(r"\A```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_INNER = re.compile(r"<content>\n(.*?)\n?</content>", re.DOTALL)
_END_REMARKS = ("(End of file", "(File has more lines", "(Output capped", "(Showing lines")
_RANGE = re.compile(r"\A@@ lines (\d+)-\d+ of \d+ @@\n")
_NUMBERED = re.compile(r"\s{0,8}(\d{1,7})(?:\t|→|: ?|\| ?)(.*)", re.DOTALL)
_SURELY_NUMBERED = re.compile(r"\s{0,8}(\d{1,7})[\t→](.*)", re.DOTALL)


class FileText(NamedTuple):
    """What was read: its lines, and the number of each."""

    first: int
    lines: list[str]

    @property
    def plain(self) -> str:
        """The text without numbers."""
        return "\n".join(self.lines)

    @property
    def tagged(self) -> str:
        """The documents' form."""
        body = "".join(f"{self.first + at:05d}| {line}\n" for at, line in enumerate(self.lines))
        return f"{OPENED}\n{body}{CLOSED}"


def read_file_text(text: str) -> FileText:
    """The lines of a read result, whatever its agent wraps and numbers them with."""
    if fenced := _FENCE.match(text):
        text = fenced[1]
    inner = _INNER.search(text)
    if inner is not None:
        text = _without_remark(inner[1])
    first = 1
    if place := _RANGE.match(text):
        first, text = int(place[1]), text[place.end():]
    lines = text.removesuffix("\n").split("\n")
    # A single line proves no order: there the sign behind its number has to be one that files do not have.
    numbered = _NUMBERED if len(lines) > 1 or inner is not None else _SURELY_NUMBERED
    return _without_numbers(lines, numbered) or FileText(first, lines)


def _without_remark(text: str) -> str:
    """The text without the line at its end that says where it ends."""
    ended = text.rstrip()
    before, _, last = ended.rpartition("\n")
    return before.rstrip("\n") if last.startswith(_END_REMARKS) and last.endswith(")") else text


def _without_numbers(lines: list[str], numbered: re.Pattern[str]) -> FileText | None:
    found = [numbered.fullmatch(line) for line in lines]
    numbers = [int(each[1]) for each in found if each is not None]
    if len(numbers) != len(lines) or any(after != before + 1 for before, after in pairwise(numbers)):
        return None
    return FileText(numbers[0], [each[2] for each in found if each is not None])
