"""Glob patterns of the policy: paths inside a root, and lines of text (commands, tool names).

Two readings of one pattern, because a mistake must never open anything:

    narrow   for what allows: only what the pattern plainly says; hidden names only where it says so; case counts
    broad    for what asks or denies: a bare name at any depth, everything below a named folder, hidden names, any case

Rule 1: no I/O. A path is judged by its spelling; who knows the disk passes real paths in.
Rule 2: an escape never matches narrowly: ``..``, a place outside the root, a URL, another user's home, control characters.
Rule 3: matching takes at most pattern times text steps, whatever either of them is: a pattern is never a regular expression.
Rule 4: a pattern that is too much (more than ALTERNATIVES) allows nothing and concerns everything.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from trunkline.errors import Invalid

PATTERN_CHARS = 1000
PATH_CHARS = 4096
"""The longest path Linux takes; a longer one is nobody's file."""
ALTERNATIVES = 64
"""The most patterns that the braces of one pattern may stand for."""

STAR: Final = ""
_WILD = frozenset("*?[{")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_FILE_URL = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)


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


class Place(Struct, frozen=True):
    """Where a path points to, by its spelling. ``relative`` is absent outside the root; ``plain`` is false for any trick."""

    absolute: str
    relative: str | None
    plain: bool

    @property
    def inside(self) -> bool:
        """Whether it is beyond doubt inside the root."""
        return self.plain and self.relative is not None


def place(path: str, root: str, home: str | None = None, base: str | None = None) -> Place:
    """Judge a path: relative ones start at ``base``, by default the root itself."""
    path = unquote(_FILE_URL.sub("", path)) if _FILE_URL.match(path) else path
    plain = _is_plain(path)
    if path == "~" or path.startswith("~/"):
        plain = plain and home is not None
        path = (home or "/~") + path[1:]
    absolute = clean(posixpath.join(base or root, path))
    return Place(absolute, relative_to(absolute, root), plain)


def clean(path: str) -> str:
    """An absolute path without ``.``, ``..`` and doubled slashes, by spelling alone."""
    return "/" + posixpath.normpath("/" + path).lstrip("/")


def relative_to(absolute: str, root: str) -> str | None:
    """A clean path as seen from the root (the root itself is ``.``), or None outside it."""
    if not root.startswith("/"):
        return None
    stem = clean(root)
    if absolute == stem:
        return "."
    stem = stem.rstrip("/") + "/"
    return absolute[len(stem):] if absolute.startswith(stem) else None


def _is_plain(path: str) -> bool:
    if not path or len(path) > PATH_CHARS or "\\" in path or _URL.match(path):
        return False
    if path.startswith("~") and path != "~" and not path.startswith("~/"):
        return False
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path):
        return False
    return ".." not in path.split("/")


def path_allowed(patterns: Sequence[str], where: Place) -> bool:
    """The narrow reading: inside the root, in a pattern, in no exclusion (and those are read broadly)."""
    if not where.inside:
        return False
    included, excluded = split(patterns)
    return any(_narrow(pattern, where) for pattern in included) and not any(_broad(pattern, where, None) for pattern in excluded)


def path_concerned(patterns: Sequence[str], where: Place, home: str | None = None) -> bool:
    """The broad reading: in a pattern, wherever it lies, and in no exclusion (and those are read narrowly)."""
    included, excluded = split(patterns)
    if not any(_broad(pattern, where, home) for pattern in included):
        return False
    return not (where.inside and any(_narrow(pattern, where) for pattern in excluded))


def path_named(patterns: Sequence[str], where: Place) -> bool:
    """Whether a pattern is this very path, absolute and without a wildcard: the one way to name what is outside the root."""
    included, excluded = split(patterns)
    if not where.plain or any(_broad(pattern, where, None) for pattern in excluded):
        return False
    return any(pattern.startswith("/") and literal(pattern) == where.absolute for pattern in included)


def text_allowed(patterns: Sequence[str], text: str) -> bool:
    """Whether a text is in a pattern and in no exclusion; case counts."""
    included, excluded = split(patterns)
    return any(text_matches(pattern, text) for pattern in included) and not any(
        text_matches(pattern, text, fold=True) for pattern in excluded)


def text_concerned(patterns: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether one of several spellings is in a pattern, in any case, and the first of them in no exclusion."""
    spellings = list(texts)
    included, excluded = split(patterns)
    if not any(text_matches(pattern, text, fold=True) for pattern in included for text in spellings):
        return False
    return not any(text_matches(pattern, spellings[0]) for pattern in excluded)


def text_matches(pattern: str, text: str, *, fold: bool = False) -> bool:
    """``*`` is any run of characters, ``?`` one of them, a backslash takes the next one as it is. Nothing else is special."""
    if fold:
        pattern, text = folded(pattern), folded(text)
    return _run(_text_tokens(pattern), text)


def split(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """What a list includes and, written with ``!``, what it excludes; the order does not count."""
    return [one for one in patterns if not one.startswith("!")], [one[1:] for one in patterns if one.startswith("!")]


def literal(pattern: str) -> str | None:
    """The only text that a pattern matches, or None where it has a wildcard."""
    tokens = _path_tokens(pattern) if not _has_brace(pattern) else (STAR,)
    return "".join(map(str, tokens)) if all(isinstance(token, str) and token for token in tokens) else None


def literal_text(pattern: str) -> str | None:
    """The same for a pattern of text."""
    tokens = _text_tokens(pattern)
    return "".join(map(str, tokens)) if all(isinstance(token, str) and token for token in tokens) else None


def escape(text: str) -> str:
    """A pattern that matches exactly this text, as a path and as a line of text."""
    quoted = re.sub(r"([*?\[\]{}\\])", r"\\\1", text)
    return "\\" + quoted if quoted.startswith("!") else quoted


def check(pattern: str) -> None:
    """Refuse a pattern that could never mean what its author wants."""
    bare = pattern.removeprefix("!")
    if not bare or len(pattern) > PATTERN_CHARS:
        raise Invalid(f"expected a pattern of 1 to {PATTERN_CHARS} characters")
    if any(unicodedata.category(char) == "Cs" or char == "\0" for char in pattern):
        raise Invalid(f"{pattern!r} has characters that no path and no command has")


def check_path(pattern: str) -> None:
    """The same for a pattern of paths."""
    check(pattern)
    bare = pattern.removeprefix("!")
    if ".." in bare.split("/"):
        raise Invalid(f"{pattern!r}: no pattern leaves the root, so `..` matches nothing")
    if not _alternatives(bare):
        raise Invalid(f"{pattern!r} stands for more than {ALTERNATIVES} patterns")


def folded(text: str) -> str:
    """The text without its case and without different spellings of one character, as some file systems see it."""
    return unicodedata.normalize("NFC", text.casefold())


def _narrow(pattern: str, where: Place) -> bool:
    assert where.relative is not None
    for one in _alternatives(pattern):
        subject = where.absolute if one.startswith("/") else where.relative
        if _path_matches(_segments(one), _parts(subject), hidden=False):
            return True
    return False


def _broad(pattern: str, where: Place, home: str | None) -> bool:
    meant = _alternatives(folded(pattern))
    for one in meant:
        if one.startswith("~/") and home is not None:
            one = folded(escape(clean(home))) + one[1:]
        if one.startswith("/"):
            found = _matches_or_holds(_segments(one), _parts(folded(where.absolute)))
        elif where.relative is None:
            # Outside the root a relative pattern still finds its names: `.env` or `secrets/**` are meant wherever they lie.
            found = _matches_or_holds((None, *_segments(one)), _parts(folded(where.absolute)))
        else:
            bare = "/" not in one.rstrip("/")
            segments = (None, *_segments(one)) if bare else _segments(one)
            found = _matches_or_holds(segments, _parts(folded(where.relative)))
        if found:
            return True
    return not meant


Segment = tuple[Token, ...] | None
"""The tokens of one part of a path; None for ``**``."""


def _matches_or_holds(segments: Sequence[Segment], parts: Sequence[str]) -> bool:
    """The path itself, or a folder that it lies in."""
    return _path_matches(segments, parts, hidden=True) or _path_matches((*segments, None), parts, hidden=True)


def _path_matches(segments: Sequence[Segment], parts: Sequence[str], *, hidden: bool) -> bool:
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
    return _run(tokens, part)


def _run(tokens: Sequence[Token], text: str) -> bool:
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


@lru_cache(maxsize=4096)
def _text_tokens(pattern: str) -> tuple[Token, ...]:
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


@lru_cache(maxsize=4096)
def _path_tokens(pattern: str) -> tuple[Token, ...]:
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


@lru_cache(maxsize=4096)
def _segments(pattern: str) -> tuple[Segment, ...]:
    """The parts of a path pattern. A slash at its end means what is in the folder."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.endswith("/") and parts:
        parts.append("**")
    if not parts and pattern:
        return ((".",),)  # the root itself
    return tuple(None if part == "**" else _path_tokens(part) for part in parts)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _has_brace(pattern: str) -> bool:
    return any(char == "{" and (at == 0 or pattern[at - 1] != "\\") for at, char in enumerate(pattern))


@lru_cache(maxsize=4096)
def _alternatives(pattern: str) -> tuple[str, ...]:
    """The patterns that ``{a,b}`` stands for (inner braces first), or none where they are too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        found = re.search(r"(?<!\\)\{([^{}]*,[^{}]*)(?<!\\)\}", one)
        if found is None:
            done.append(one)
        else:
            waiting += [one[:found.start()] + choice + one[found.end():] for choice in found[1].split(",")]
        if len(done) + len(waiting) > ALTERNATIVES:
            return ()
    return tuple(done)
