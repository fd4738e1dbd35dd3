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
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from trunkline.dialects import late_re as re
from trunkline.dialects.glob_tokens import (
    ALTERNATIVES,
    PATTERN_CHARS,
    STAR,
    Segment,
    Token,
    alternatives,
    chars_meet,
    fills,
    has_brace,
    overlap,
    parts_of,
    path_matches,
    path_tokens,
    remembered,
    run,
    segments_meet,
    segments_of,
    text_tokens,
)
from trunkline.dialects.roaming import beyond, is_stacked, roams
from trunkline.errors import Invalid

EXACT_CHARS = 16 << 10
"""The longest pattern without wildcards: a command or a path that "always" was answered to. A policy holds some sixty of them."""
PATH_CHARS = 4096
"""The longest path Linux takes; a longer one is nobody's file."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_FILE_URL = re.compile(r"file:(?://[^/]*)?(?=/)", re.IGNORECASE)
"""Who fetches ``file://127.0.0.1/x`` gets the file of this machine: no program asks another host for one."""
_WILDCARD = re.compile(r"[*?\[{]")
_LOUD = re.compile(r"(?:^|/)\$[A-Z_][A-Z0-9_]*(?=/|$)|\$[{(]|`", re.ASCII)
"""A variable of the environment that is a whole part of a path. ``routes/$id.tsx`` is the name of a file."""


class Place(Struct, frozen=True):
    """Where a path points to, by its spelling. ``relative`` is absent outside the root; ``plain`` is false for any trick."""

    absolute: str
    relative: str | None
    plain: bool
    roams: bool = False
    """Whether it leads through a process (``/proc/self/root/x``, ``~-/x``) and may be any place."""

    @property
    def inside(self) -> bool:
        """Whether it is beyond doubt inside the root."""
        return self.plain and self.relative is not None


def place(path: str, root: str, home: str | None = None, base: str | None = None) -> Place:
    """Judge a path: relative ones start at ``base``, by default the root itself."""
    path = unquote(_FILE_URL.sub("", path)) if _FILE_URL.match(path) else path
    base, plain, stacked = base or root, _is_plain(path), False
    if path[:1] == "~":
        path, stacked = _of_home(path, base, home)
        plain = plain and home is not None
    full = posixpath.join(base, path)
    absolute = clean(full)
    if not stacked and not roams(full, absolute):
        return Place(absolute, relative_to(absolute, root), plain)
    absolute = clean(beyond(absolute, base))
    return Place(absolute, relative_to(absolute, root), False, True)


def _of_home(path: str, base: str, home: str | None) -> tuple[str, bool]:
    """A path that begins with a tilde, in full as far as that is known, and whether it begins at a folder that only the shell
    knows."""
    if is_stacked(path):
        return posixpath.join(base, path.partition("/")[2]), True
    name, slash, rest = path[1:].partition("/")
    if name and (home is None or name != posixpath.basename(home)):
        return path, False
    return (home or "/~") + slash + rest, False


def clean(path: str) -> str:
    """An absolute path without ``.``, ``..`` and doubled slashes, by spelling alone."""
    return "/" + posixpath.normpath("/" + path).lstrip("/")


_clean_root = remembered(clean)
"""A session has few roots, and each of its paths is held against them."""


def relative_to(absolute: str, root: str) -> str | None:
    """A clean path as seen from the root (the root itself is ``.``), or None outside it."""
    if not root.startswith("/"):
        return None
    stem = _clean_root(root)
    if absolute == stem:
        return "."
    stem = stem.rstrip("/") + "/"
    return absolute[len(stem):] if absolute.startswith(stem) else None


def only_climbs(path: str) -> bool:
    """Whether ``..`` is the only thing that is not plain about a path: who knows the disk can say where it leads."""
    parts = path.split("/")
    return ".." in parts and _is_plain("/".join("x" if part == ".." else part for part in parts))


def _is_plain(path: str) -> bool:
    if not path or len(path) > PATH_CHARS or "\\" in path or _URL.match(path):
        return False
    if path.startswith("~") and path != "~" and not path.startswith("~/"):
        return False
    if ("$" in path or "`" in path) and (path[0] == "$" or _LOUD.search(path)):
        return False
    if not _is_everyday(path) and any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path):
        return False
    return ".." not in path.split("/")


def _is_everyday(text: str) -> bool:
    """Whether a text has nothing but letters, signs and blanks of ASCII, as nearly every path has: a look in two steps instead of
    one for each character."""
    return text.isascii() and text.isprintable()


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


def text_listed(patterns: Sequence[str], text: str) -> bool:
    """Whether a name, of a tool or an agent, is in a pattern and in no exclusion; case does not count."""
    included, excluded = split(patterns)
    return any(text_matches(pattern, text, fold=True) for pattern in included) and not any(
        text_matches(pattern, text, fold=True) for pattern in excluded)


def text_concerned(patterns: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether one of several spellings is in a pattern, in any case, and the first of them in no exclusion."""
    spellings = list(texts)
    included, excluded = split(patterns)
    if not any(text_matches(pattern, text, fold=True) for pattern in included for text in spellings):
        return False
    return not any(text_matches(pattern, spellings[0]) for pattern in excluded)


def text_may_match(patterns: Sequence[str], outline: str) -> bool:
    """Whether a text of which only an outline is known (itself a pattern, case folded) could be in one of the patterns."""
    holes = text_tokens(outline)
    return any(_may_be(folded(pattern), holes) for pattern in split(patterns)[0])


def _may_be(pattern: str, holes: Sequence[Token]) -> bool:
    """A table of pattern by outline would be too much for the long texts that a pattern may be word for word."""
    exactly = literal_text(pattern)
    if exactly is not None and "\0" not in exactly:
        return fills(holes, exactly)
    return overlap(text_tokens(pattern), holes, chars_meet)


def begins_below(patterns: Sequence[str], folder: str, root: str, home: str | None,
                 without: frozenset[str] = frozenset()) -> bool:
    """Whether what one of the patterns is about, as far as it stands there in full, is this folder or below it, and below none of
    those that are left out."""
    above = folder.rstrip("/") + "/"
    for pattern in split(patterns)[0]:
        stem = _WILDCARD.split(pattern, maxsplit=1)[0]
        folder_of = stem if stem == pattern else stem.rpartition("/")[0] or ("/" if stem[:1] == "/" else "")
        start = place(folder_of, root, home).absolute
        if f"{start}/".startswith(above) and without.isdisjoint(start[len(above):].split("/")):
            return True
    return False


def path_may_match(patterns: Sequence[str], outline: str, root: str, home: str | None = None) -> bool:
    """The same for an absolute path of which only an outline is known; ``**`` in it is anything at all.

    An outline with a slash at its end stands for all that lies below as well. That finds what a pattern names from the top
    (``~/.ss*`` and ``~/.ssh/key``), and not a name that is meant at any depth: that lies below everything."""
    shown = outline.rstrip("/") or "/"
    parts = segments_of(folded(shown))
    inside = relative_to(folded(shown), folded(root)) is not None
    for pattern in split(patterns)[0]:
        meant = alternatives(folded(pattern))
        if not meant:
            return True
        for one in meant:
            below = outline != shown and _is_anchored(one, inside)
            if overlap((*_full_segments(one, root if inside else None, home), None), (*parts, None) if below else parts,
                       segments_meet):
                return True
    return False


def _is_anchored(pattern: str, inside: bool) -> bool:
    """Whether a pattern says from the top where something lies."""
    if pattern.startswith(("/", "~/")):
        return True
    return inside and "/" in pattern.rstrip("/") and not pattern.startswith("**")


def text_matches(pattern: str, text: str, *, fold: bool = False) -> bool:
    """``*`` is any run of characters, ``?`` one of them, a backslash takes the next one as it is. Nothing else is special."""
    if fold:
        pattern, text = folded(pattern), folded(text)
    exactly = literal_text(pattern)
    return text == exactly if exactly is not None else run(text_tokens(pattern), text)


def split(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """What a list includes and, written with ``!``, what it excludes; the order does not count."""
    return [one for one in patterns if not one.startswith("!")], [one[1:] for one in patterns if one.startswith("!")]


@remembered
def literal(pattern: str) -> str | None:
    """The only text that a pattern matches, or None where it has a wildcard."""
    tokens = path_tokens(pattern) if not has_brace(pattern) else (STAR,)
    return "".join(map(str, tokens)) if all(isinstance(token, str) and token for token in tokens) else None


@remembered
def literal_text(pattern: str) -> str | None:
    """The same for a pattern of text."""
    tokens = text_tokens(pattern)
    return "".join(map(str, tokens)) if all(isinstance(token, str) and token for token in tokens) else None


def escape(text: str) -> str:
    """A pattern that matches exactly this text, as a path and as a line of text."""
    quoted = re.sub(r"([*?\[\]{}\\])", r"\\\1", text)
    return "\\" + quoted if quoted.startswith("!") else quoted


def check(pattern: str, exactly: Callable[[str], str | None] = literal_text) -> None:
    """Refuse a pattern that could never mean what its author wants."""
    bare = pattern.removeprefix("!")
    if not bare or len(pattern) > EXACT_CHARS or (len(pattern) > PATTERN_CHARS and exactly(bare) is None):
        raise Invalid(f"expected a pattern of 1 to {PATTERN_CHARS} characters, or up to {EXACT_CHARS} without wildcards")
    if not _is_everyday(pattern) and any(unicodedata.category(char) == "Cs" or char == "\0" for char in pattern):
        raise Invalid(f"{pattern!r} has characters that no path and no command has")


def check_path_pattern(pattern: str) -> None:
    """The same for a pattern of paths."""
    check(pattern, literal)
    bare = pattern.removeprefix("!")
    if ".." in bare.split("/"):
        raise Invalid(f"{pattern!r}: no pattern leaves the root, so `..` matches nothing")
    if not alternatives(bare):
        raise Invalid(f"{pattern!r} stands for more than {ALTERNATIVES} patterns")


@remembered
def folded(text: str) -> str:
    """The text without its case and without different spellings of one character, as some file systems see it."""
    return unicodedata.normalize("NFC", text.casefold())


def _narrow(pattern: str, where: Place) -> bool:
    assert where.relative is not None
    for one in alternatives(pattern):
        subject = where.absolute if one.startswith("/") else where.relative
        segments = segments_of(one)
        if segments[-1:] == (None,):
            segments = (*segments, (STAR,))  # `src/**` is what is in the folder, not the folder
        if path_matches(segments, parts_of(subject), hidden=False):
            return True
    return False


class _Form(NamedTuple):
    """A restricting pattern, ready to be compared: with which path, by which parts, and names that must be among them."""

    absolute: bool
    segments: tuple[Segment, ...]
    names: frozenset[str]


def _broad(pattern: str, where: Place, home: str | None) -> bool:
    forms = _forms(pattern, where.relative is not None, home)
    for form in forms:
        subject = where.relative if where.relative is not None and not form.absolute else where.absolute
        parts, names = _folded_parts(subject)
        if form.names <= names and path_matches(form.segments, parts, hidden=True):
            return True
    return not forms


@remembered
def _forms(pattern: str, inside: bool, home: str | None) -> tuple[_Form, ...]:
    """What a pattern finds: the path itself and whatever lies in it, hence ``**`` at the end; a bare name at any depth, and
    outside the root every relative pattern: `.env` or `secrets/**` are meant wherever they lie."""
    forms = []
    for one in alternatives(folded(pattern)):
        if one.startswith("~/") and home is not None:
            one = folded(escape(clean(home))) + one[1:]
        absolute = one.startswith("/")
        anywhere = not absolute and (not inside or "/" not in one.rstrip("/"))
        segments = segments_of(one)
        names = frozenset(name for name in map(_literal_name, segments) if name)
        forms.append(_Form(absolute, (*((None,) if anywhere else ()), *segments, None), names))
    return tuple(forms)


def _literal_name(segment: Segment) -> str:
    """The name that a part of a pattern is, or nothing where it has a wildcard."""
    return "".join(map(str, segment)) if segment and all(isinstance(token, str) and token for token in segment) else ""


@remembered
def _folded_parts(path: str) -> tuple[tuple[str, ...], frozenset[str]]:
    parts = tuple(parts_of(folded(path)))
    return parts, frozenset(parts)


@remembered
def _full_segments(pattern: str, root: str | None, home: str | None) -> tuple[Segment, ...]:
    """A folded pattern from the top of the file system; without a root a relative one may begin anywhere."""
    if pattern.startswith("~/") and home is not None:
        return (*segments_of(folded(escape(clean(home)))), *segments_of(pattern[2:]))
    if pattern.startswith("/"):
        return segments_of(pattern)
    if root is None:
        return (None, *segments_of(pattern))
    bare = "/" not in pattern.rstrip("/")
    return (*segments_of(folded(escape(clean(root)))), *((None,) if bare else ()), *segments_of(pattern))
