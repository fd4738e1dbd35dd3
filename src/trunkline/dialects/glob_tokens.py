"""Glob patterns taken apart: characters, parts of paths, and what fits them (``session/policy/globs.py`` uses it).

Rule: every function takes at most pattern times text steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

from msgspec import Struct

PATTERN_CHARS = 1000
"""The longest pattern with wildcards."""
ALTERNATIVES = 64
"""The most patterns that the braces of one pattern may stand for."""
KEPT_MOST, KEPT_CHARS = 4096, 512
"""Texts that are kept taken apart, and the longest of them: at most some 20 MB for each kind, were all of them so long."""

STAR: Final = ""


class OneOf(Struct, frozen=True):
    """One character: within these ranges, or, negated, outside them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        """Whether this character fits."""
        return any(low <= char <= high for low, high in self.ranges) != self.negated


ANY_CHAR: Final = OneOf((), True)
Token = str | OneOf
"""A character, a choice of characters, or STAR for any run of them."""
Segment = tuple[Token, ...] | None
"""The tokens of one part of a path; None for ``**``."""
T = TypeVar("T")
P = ParamSpec("P")


def remembered(read: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Keep what short texts become. A long one is somebody's command or path, and its tokens take eight bytes for each letter."""
    keep = cast("Callable[Concatenate[str, P], T]", lru_cache(maxsize=KEPT_MOST)(read))

    @wraps(read)
    def short_or_anew(text: str, /, *args: P.args, **named: P.kwargs) -> T:
        return keep(text, *args, **named) if len(text) <= KEPT_CHARS else read(text, *args, **named)

    return short_or_anew


def overlap(left: Sequence[T], right: Sequence[T], meet: Callable[[T, T], bool]) -> bool:
    """Whether two patterns have a text in common; a falsy item is a star. Row by row, as a table of left by right."""
    row = [True, *([False] * len(right))]
    for column, other in enumerate(right):
        row[column + 1] = row[column] and not other
    for item in left:
        above, row = row, [row[0] and not item]
        for column, other in enumerate(right):
            if item and other:
                row.append(above[column] and meet(item, other))
            else:
                row.append(above[column + 1] or row[column])  # a star takes nothing, or what stands on the other side
    return row[-1]


def chars_meet(one: Token, other: Token) -> bool:
    if isinstance(one, OneOf):
        return isinstance(other, OneOf) or one.holds(other)
    return other.holds(one) if isinstance(other, OneOf) else one == other


def segments_meet(pattern: Segment, outline: Segment) -> bool:
    """``?env`` and ``*env`` may be ``.env``: some shells and many programs take them so. But a star alone does not stand for
    hidden names, and ``*.ts`` not for those of a pattern such as ``.env.*``, or nothing could be decided of any file."""
    assert pattern is not None and outline is not None
    if pattern[:1] == (".",) and outline[:1] == (STAR,):
        is_one_name = all(isinstance(one, str) and one for one in pattern)
        if not any(outline) or not is_one_name:
            return False
    return overlap(pattern, outline, chars_meet)


def path_matches(segments: Sequence[Segment], parts: Sequence[str], *, hidden: bool) -> bool:
    """All places in the pattern that the parts so far may have brought us to, moved on part by part."""
    live = _over_stars(segments, {0})
    for part in parts:
        moved = set()
        for index in live:
            if index == len(segments):
                continue
            segment = segments[index]
            if segment is None and (hidden or not part.startswith(".")):
                moved.add(index)
            elif segment is not None and _segment_matches(segment, part, hidden):
                moved.add(index + 1)
        live = _over_stars(segments, moved)
    return len(segments) in live


def _over_stars(segments: Sequence[Segment], live: set[int]) -> set[int]:
    """Where ``**`` stands for nothing."""
    reached = set(live)
    for index in sorted(live):
        while index < len(segments) and segments[index] is None:
            index += 1
            reached.add(index)
    return reached


def _segment_matches(tokens: tuple[Token, ...], part: str, hidden: bool) -> bool:
    if part.startswith(".") and not hidden and tokens[:1] != (".",):
        return False
    return run(tokens, part)


def run(tokens: Sequence[Token], text: str) -> bool:
    """Match greedily, and on a mismatch let the last star take one character more."""
    at = here = 0
    star, mark = -1, 0
    while here < len(text):
        token = tokens[at] if at < len(tokens) else None
        if token == STAR:
            star, mark, at = at, here, at + 1
        elif token is not None and (token.holds(text[here]) if isinstance(token, OneOf) else token == text[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return all(token == STAR for token in tokens[at:])


def fills(tokens: Sequence[Token], text: str) -> bool:
    """The same for a long text: what stands between the stars is looked for piece by piece, each as early as possible."""
    if any(isinstance(token, OneOf) for token in tokens):
        return run(tokens, text)
    first, *rest = "".join(str(token) or "\0" for token in tokens).split("\0")
    if not rest:
        return text == first
    end = len(text) - len(rest[-1])
    if len(first) > end or not (text.startswith(first) and text.endswith(rest[-1])):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


@remembered
def text_tokens(pattern: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    chars = iter(pattern)
    for char in chars:
        if char == "\\":
            tokens.append(next(chars, "\\"))
        elif char == "*":
            tokens.append(STAR)
        else:
            tokens.append(ANY_CHAR if char == "?" else char)
    return tuple(tokens)


@remembered
def path_tokens(pattern: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            tokens.append(pattern[at])
        elif char == "[" and (end := _class_end(pattern, at)):
            tokens.append(_one_of(pattern[at + 1:end]))
            at = end
        else:
            tokens.append(STAR if char == "*" else ANY_CHAR if char == "?" else char)
        at += 1
    return tuple(tokens)


def _class_end(pattern: str, start: int) -> int:
    """Where ``[…]`` closes, or 0 where it does not; a bracket that stands first inside is one of the characters."""
    first = start + 2 if pattern[start + 1:start + 2] in ("!", "^") else start + 1
    end = pattern.find("]", first + 1)
    return end if end > 0 and "/" not in pattern[start:end] else 0


def _one_of(inside: str) -> OneOf:
    negated = inside[:1] in ("!", "^")
    chars = inside[1:] if negated else inside
    ranges, at = [], 0
    while at < len(chars):
        wide = chars[at + 1:at + 2] == "-" and at + 2 < len(chars)
        ranges.append((chars[at], chars[at + 2] if wide else chars[at]))
        at += 3 if wide else 1
    return OneOf(tuple(ranges), negated)


@remembered
def segments_of(pattern: str) -> tuple[Segment, ...]:
    """The parts of a path pattern. A slash at its end means what is in the folder."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.endswith("/") and parts:
        parts.append("**")
    if not parts and pattern:
        return ((".",),)  # the root itself
    return tuple(None if part == "**" else path_tokens(part) for part in parts)


def parts_of(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def has_brace(pattern: str) -> bool:
    return "{" in pattern and any(char == "{" and (at == 0 or pattern[at - 1] != "\\") for at, char in enumerate(pattern))


@remembered
def alternatives(pattern: str) -> tuple[str, ...]:
    """The patterns that ``{a,b}`` stands for (inner braces first), or none where they are too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        found = re.search(r"(?<!\\)\{([^{},]*,[^{}]*)(?<!\\)\}", one)
        if found is None:
            done.append(one)
        else:
            waiting += [one[:found.start()] + choice + one[found.end():] for choice in found[1].split(",")]
        if len(done) + len(waiting) > ALTERNATIVES:
            return ()
    return tuple(done)
