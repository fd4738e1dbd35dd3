"""Characters that are not seen, or that change how others are seen: the one list of them, and what becomes of them.

Rule 1: what somebody else wrote is data wherever a person or a terminal reads it: it obeys nothing and hides nothing. Whoever
writes it to a terminal, a log, a file for people, or asks about it, uses this list and none of its own.
Rule 2: ``unseen_in`` and ``looks_alike`` are the definition for commands, paths and names alike: the risk, the rules, a push and
the page go by it. The page's copy of the list (web/src/text/unseen.ts) is compared with this one by a test.
Rule 3: prose keeps what languages need (marks of direction, joiners). In a command, a name or a path nothing unseen belongs.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects import late_re as re
from trunkline.dialects.terminal_sequences import without_sequences

_CONTROLS: Final = (*(code for code in range(0x20) if chr(code) not in "\t\n"), *range(0x7F, 0xA0))
_REORDERING: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates: with them a command can be shown as another one than it is."""
_MARKS: Final = (0x061C, 0x200E, 0x200F)
"""Marks of direction: prose in two scripts has them."""
_HIDING: Final = (*range(0x2028, 0x202A), *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))
"""Separators that some take for line ends, annotations, tags."""
_HALF: Final = re.compile("[\ud800-\udfff]")
"""Halves of characters: nothing can write them down. There are two thousand of them, too many for the tables below."""

UNSEEN_RANGES: Final = (
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F),
    (0x2800, 0x2800), (0x2D7F, 0x2D7F), (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFE00, 0xFE0E), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1107F, 0x1107F), (0x13430, 0x1343F), (0x16FE4, 0x16FE4), (0x1BCA0, 0x1BCA3),
    (0x1D159, 0x1D159), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)
"""Everything that is not seen in a command, a name or a path: controls but tab and newline, halves of characters, the separators
of lines, and all that Unicode says is to be drawn as nothing where it has no other use (Default_Ignorable_Code_Point, with what
is reserved for more of it): soft hyphen, zero-width and directional marks, fillers, variation selectors, tags, controls of
shorthand and of music. Beside these, what fonts draw as nothing: an empty Braille cell, joiners and a filler of single scripts
(U+2D7F, U+1107F, U+13430-1343F, U+16FE4), a note without a head (U+1D159), annotations."""
PICTURES: Final = (
    (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139), (0x2194, 0x21AA),
    (0x231A, 0x23FF), (0x24C2, 0x24C2), (0x25AA, 0x25FE), (0x2600, 0x27BF), (0x2934, 0x2935), (0x2B00, 0x2BFF), (0x3030, 0x3030),
    (0x303D, 0x303D), (0x3297, 0x3299), (0x1F000, 0x1FAFF),
)
"""Behind these a joiner (U+200D) and the sign for coloured pictures (U+FE0F) belong to what is seen; elsewhere they
are not seen."""


def _set_of(ranges: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


UNSEEN: Final = re.compile(
    f"[{_set_of(UNSEEN_RANGES)}]|(?<![{_set_of(PICTURES)}])(?:(?<![{_set_of(PICTURES)}]\\ufe0f)\\u200d|\\ufe0f(?!\\u20e3))")

_TWINS: Final = frozenset(
    "АВЕЅІЈКМНОРСТХУавеѕіјкмнорстхуһԁԛԝьгп" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹοινϲϳ" "օոսցՕՍ" "ᎪᎫᎬᎡᎢᎥᎳᎷᎻᎽᏀᏂᏃᏎᏏᏒᏔᏙᏚᏞᏟᏢᏦᏧ" "ⅼⅰⅴⅹⅽⅾⅿⅠⅤⅩⅬⅭⅮⅯ"
)
"""Letters of Cyrillic, Greek, Armenian, Cherokee and number forms that are drawn like Latin ones."""
_WIDE: Final = re.compile(
    "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0e\uff0f\uff3c\u2044\u2215\u29f8\u2024\U0001d400-\U0001d7ff]")
"""Full-width letters, digits, dots and slashes, other slashes and dots, letters of formulas; not the signs of a sentence."""
_WORD: Final = re.compile(r"[^\W\d_]+")

_GONE: Final = dict.fromkeys((*_CONTROLS, *_REORDERING, *_MARKS, *_HIDING))
_GONE_BUT_ESCAPES: Final = {code: None for code in _GONE if code != 0x1B}
_SHOWN: Final[dict[int, int | str]] = {
    **{code: f"[U+{code:04X}]" for code in (*_REORDERING, *_HIDING)},
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD), **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: 0x2421,
}
_ESCAPED: Final = re.compile("[\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
                             "\\U000e0000-\\U000e007f]")
"""What JSON lets stand in a string and a terminal obeys, or does not show."""


def unseen_in(text: str) -> str:
    """The first character of a command, a name or a path that is not seen, by its number; empty where all are seen."""
    found = None if text.isascii() and text.isprintable() else UNSEEN.search(text)
    return "" if found is None else f"U+{ord(found[0]):04X}"


def looks_alike(text: str) -> str:
    """The first word that is not what it looks like; empty where there is none.

    Such a word has a full-width form, or Latin letters among which all letters of other scripts are drawn like Latin ones. Who
    mixes scripts for all to see (``API-шлюз``, ``日本語file``) misleads nobody.
    """
    if text.isascii():
        return ""
    if (found := _WIDE.search(text)) is not None:
        return text[max(found.start() - 10, 0):found.end() + 10].strip()
    return next((word for word in _WORD.findall(text) if not word.isascii() and _is_mixed(word)), "")


def _is_mixed(word: str) -> bool:
    """Latin letters and, of other scripts, nothing but their twins."""
    others = {letter for letter in word if letter in _TWINS}
    return bool(others) and all(letter in others or _is_latin(letter) for letter in word) and not others.issuperset(word)


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00"


def printable(text: str) -> str:
    """The text without anything that a terminal would obey."""
    return _whole(without_sequences(text), "").translate(_GONE)


def styled(text: str) -> str:
    """The same for a text that was printable, and has colours of ours since: Markdown has names for what it was cleared of."""
    return _whole(text, "").translate(_GONE_BUT_ESCAPES)


def one_line(text: str) -> str:
    """The text as one printable line."""
    return " ".join(printable(text).split())


def shown(text: str) -> str:
    """The text with pictures or numbers in place of what would not be seen: nothing is shown as something else than it is."""
    return _whole(text, "\ufffd").translate(_SHOWN)


def revealed(text: str) -> str:
    """The same, with the number of all else that is not seen, for what somebody decides about; tabs and newlines stay."""
    return UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", shown(text))


def one_revealed_line(text: str) -> str:
    """The same as one line, in which the ends of its lines can be seen."""
    return " ".join(revealed(text.strip("\n")).replace("\n", " ⏎ ").split())


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


def _whole(text: str, half: str) -> str:
    """The text with something else in place of each half of a character."""
    return text if text.isascii() else _HALF.sub(half, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
