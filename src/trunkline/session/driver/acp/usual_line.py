"""A line that differs from the one before only in its text, as nearly all lines are that an agent writes.

What stands before the text and behind it is remembered. A read that is that, with another string in between, is one message that
says the same but for that string: JSON has no other reading of it. So nothing of it has to be parsed but the string.

Rule: whatever is not so plain (several lines, half a line, other members, a long text) is not taken: the common way reads it.
"""

from __future__ import annotations

from typing import Final

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.session.driver.base import TakesText

LINE_MOST: Final = 16 << 10
"""Bytes of a line that is taken here: far less than from where on a line or an entry is handled in another way."""

BARREN_MOST: Final = 6
"""A shape that took no line has the next one passed over, two of them in a row the next three, and so on: so often."""

_decode_string = decoders.of(str).decode


class UsualLine:
    """Lines like one that was read."""

    __slots__ = ("_after", "_before", "_takes", "_text_from", "_text_to", "_update_from", "_update_to", "has_taken")

    def __init__(self, line: bytes, update: tuple[int, int], text: tuple[int, int], takes: TakesText) -> None:
        """``line`` with its newline; where in it the update is, and in that the text, from quote to quote."""
        self._before = line[:text[0] + 1]
        self._after = line[text[1] - 1:]
        self._text_from, self._text_to = text[0], text[1] - len(line)
        self._update_from, self._update_to = update[0], update[1] - len(line)
        self._takes = takes
        self.has_taken = False

    def take(self, data: bytes) -> bool:
        """Take what was read; False, and nothing done, where it is anything else than one such line."""
        if len(data) > LINE_MOST or not data.startswith(self._before) or not data.endswith(self._after):
            return False
        token = data[self._text_from:self._text_to]
        try:
            _decode_string(token)  # it is one string, without a line break, and valid UTF-8
        except BROKEN:
            return False
        if not self._takes(token, data[self._update_from:self._update_to]):
            return False
        self.has_taken = True
        return True


class UsualLines:
    """The shape of the newest line, and whether it is worth to learn it: an agent whose lines never come twice in one shape costs
    next to nothing."""

    __slots__ = ("_barren", "_passed_over", "line")

    def __init__(self) -> None:
        self.line: UsualLine | None = None
        """What takes the next read, if that is like the one before."""
        self._barren = 0
        self._passed_over = 0

    def end(self) -> None:
        """A read came that is not so."""
        if self.line is not None:
            self._barren = 0 if self.line.has_taken else min(self._barren + 1, BARREN_MOST)
            self._passed_over = (1 << self._barren) - 1
            self.line = None

    def is_worth_it(self) -> bool:
        """Whether to learn the shape of the line that was read."""
        if self._passed_over:
            self._passed_over -= 1
            return False
        return True


def usual_line(line: bytes, update: bytes, token: bytes, takes: TakesText) -> UsualLine | None:
    """Lines like this one, which has this update, which has this text; None where it cannot be told where they stand in it."""
    begin, at = _only_place(line, update), _only_place(update, token)
    if begin is None or at is None or line.find(b"\n") != len(line) - 1:
        return None
    at += begin
    return UsualLine(line, (begin, begin + len(update)), (at, at + len(token)), takes)


def _only_place(whole: bytes, part: bytes) -> int | None:
    """Where a part stands, if that is one place; it may overlap itself."""
    place = whole.find(part)
    return place if place >= 0 and whole.rfind(part) == place else None
