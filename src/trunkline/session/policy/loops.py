"""Words of a loop whose values stand in the line: ``for f in src tests; do ls "$f"; done``.

Rule 1: a word is known only where nothing but the line can say what it is: the line is that one loop, its variable gets no other
value in it, and the word stands in double quotes, so that no shell takes it apart. Any doubt leaves it what it was: any path.
Rule 2: pure. What the values are is known by ``shell.Values``; who decides holds them against rules as if they stood there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from trunkline.dialects import late_re as re

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand, Values

_LOOP: Final = re.compile(
    r"\s{0,99}for[ \t]+([A-Za-z_]\w{0,79})[ \t]+in[ \t]+([^;\n$`\\(){}'\"|&<>]{1,4000})[;\n]\s{0,99}do\s(.{1,8000})[;\n]\s{0,99}"
    r"done\s{0,99}", re.DOTALL)
_SETS: Final = re.compile(
    r"\b(?:for|while|until|select|done|do|eval|source|read|mapfile|readarray|declare|typeset|local|export|readonly|printf\s+-v|unset"
    r"|let|getopts|function|trap|alias|set|shopt|IFS)\b|(?:^|[\s;&|(])\.\s|\(\)")
"""What may give a name a value, or change how words are read."""
_PATH: Final = re.compile(r"[\w./~-]{0,200}")
_OPEN: Final = re.compile(r"[$`]")


def known_in_loop(line: str, commands: Sequence[SimpleCommand], values: Values) -> frozenset[str]:
    """The words that only the shell knows, as written, which can be nothing but what the line says."""
    found = _LOOP.fullmatch(line) if line.lstrip()[:4] == "for " else None
    if found is None:
        return frozenset()
    name = found[1]
    body = re.sub(rf"\$\{{{name}\}}(?!\w)", f"${name}", found[3]) if "${" in found[3] else found[3]  # as the reader spells it
    if _SETS.search(body) is not None or re.search(rf"\b{name}\+?=", body) is not None or any(one.computes for one in commands):
        return frozenset()
    words = {sketch for one in commands for word, sketch in zip(one.words, one.sketch, strict=True) if word is None}
    return frozenset(word for word in words if _is_quoted(word, body, name) and not any(map(_OPEN.search, values.possible(word))))


def _is_quoted(word: str, body: str, name: str) -> bool:
    """Whether a word is a path with this variable and no other, and stands in double quotes wherever it stands."""
    quoted = body.count(f'"{word}"')
    around = re.sub(rf"\$(?:{name}(?!\w)|{{{name}}})", "", word, count=1)
    return around != word and _PATH.fullmatch(around) is not None and quoted > 0 and body.count(word) == quoted
