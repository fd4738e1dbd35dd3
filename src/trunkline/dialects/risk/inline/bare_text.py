"""Code without its strings and patterns: what is left are names and signs. Shared by languages that are not parsed.

Rule: every repetition has an end, and what strings compute (``${…}``) stays in.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_STRING: Final = re.compile(
    r"([fF]?)(\"\"\"[^\\]{0,2000}?\"\"\"|\"(?:[^\"\\\n]|\\.){0,800}\"|'(?:[^'\\\n]|\\.){0,800}'"
    r"|`(?:[^`\\]|\\.){0,800}`)", re.DOTALL)
_HOLES: Final = re.compile(r"[#$@]?\{([^{}]{0,200})\}")
"""What a string computes: ``#{…}``, ``${…}``, ``{…}`` of Python."""
_PATTERN: Final = re.compile(r"(?:^|(?<=[\s(,=!~&|;{]))/((?:[^/\\\n]|\\.){1,200})/([a-z]{0,8})")
_BEFORE_PATTERN: Final = frozenset(
    "print if unless and or not split grep return when while until x puts map join typeof case in of".split())
UNSURE_SLASH: Final = re.compile(r"[\])}]\s{0,9}/[^/\n]{0,200}['\"`]")
"""A slash that may divide, or begin a pattern with a quote in it: what is a string behind it is not sure."""


class Bare(NamedTuple):
    """A text with ``S`` for each string, and what the strings compute behind it; ``strings`` has them by where their ``S`` is."""

    text: str
    strings: dict[int, str]


def without_strings(code: str) -> Bare:
    """The code with its strings taken out; one between backticks leaves these."""
    pieces: list[str] = []
    computed: list[str] = []
    strings: dict[int, str] = {}
    size = end = 0
    for found in _STRING.finditer(code):
        text = found[2].strip("\"'`")
        computed.extend(_HOLES.findall(text) if "{" in text else ())
        pieces += [code[end:found.start()], "S" if found[2][0] != "`" else "``"]
        size += found.start() - end
        strings[size] = text
        size, end = size + len(pieces[-1]), found.end()
    bare = "".join((*pieces, code[end:]))
    return Bare(f"{bare} ; {' ; '.join(computed)}" if computed else bare, strings)


def without_patterns(code: str) -> str:
    """The code with ``S`` for each pattern between slashes; behind a value a slash divides."""

    def take(found: re.Match[str]) -> str:
        before = code[max(0, found.start() - 40):found.start()].rstrip()
        word = re.search(r"[\w$\])}\"']+$", before)
        return "S" if word is None or word[0] in _BEFORE_PATTERN else found[0]

    return _PATTERN.sub(take, code)
