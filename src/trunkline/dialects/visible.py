"""Characters that are not seen, or that change how others are seen: the one list of them, and what becomes of them.

Rule 1: what somebody else wrote is data wherever a person or a terminal reads it: it obeys nothing and hides nothing. Whoever
writes it to a terminal, a log, a file for people, or asks about it, uses this list and none of its own.
Rule 2: prose keeps what languages need (marks of direction, joiners). In a command, a name or a path nothing unseen belongs.
"""

from __future__ import annotations

import re
from typing import Final

from trunkline.dialects.terminal import without_sequences

_CONTROLS: Final = (*(code for code in range(0x20) if chr(code) not in "\t\n"), *range(0x7F, 0xA0))
_REORDERING: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates: with them a command can be shown as another one than it is."""
_MARKS: Final = (0x061C, 0x200E, 0x200F)
"""Marks of direction: prose in two scripts has them."""
_HIDING: Final = (*range(0x2028, 0x202A), *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
"""Separators that some take for line ends, annotations, tags."""
_HALVES: Final = range(0xD800, 0xE000)
"""Halves of characters: nothing can write them down."""

UNSEEN: Final = re.compile(
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff9-\\ufffb\\U000e0000-\\U000e01ef]"
)
"""Everything that is not seen in a command, a name or a path: controls, zero-width and directional marks, fillers, tags."""

_GONE: Final = dict.fromkeys((*_CONTROLS, *_REORDERING, *_MARKS, *_HIDING, *_HALVES))
_SHOWN: Final[dict[int, int | str]] = {
    **{code: f"[U+{code:04X}]" for code in (*_REORDERING, *_HIDING)}, **dict.fromkeys(_HALVES, 0xFFFD),
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD), **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: 0x2421,
}
_ESCAPED: Final = re.compile("[\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
                             "\\U000e0000-\\U000e007f]")
"""What JSON lets stand in a string and a terminal obeys, or does not show."""


def printable(text: str) -> str:
    """The text without anything that a terminal would obey."""
    return without_sequences(text).translate(_GONE)


def one_line(text: str) -> str:
    """The text as one printable line."""
    return " ".join(printable(text).split())


def shown(text: str) -> str:
    """The text with pictures or numbers in place of what would not be seen: nothing is shown as something else than it is."""
    return text.translate(_SHOWN)


def numbered(text: str) -> str:
    """The text with the number of every unseen character in its place, for a command or a name."""
    return UNSEEN.sub(lambda found: f"U+{ord(found[0]):04X}", text)


def escaped(json_text: bytes) -> bytes:
    """The same JSON, with escapes for what a terminal would obey: outside of strings there is none of it."""
    if json_text.isascii() and b"\x7f" not in json_text:
        return json_text
    return _ESCAPED.sub(_escape, json_text.decode("utf-8", "replace")).encode()


def within(text: str, most_bytes: int) -> str:
    """The beginning of the text that fits into so many bytes of UTF-8, whole characters only."""
    return text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
