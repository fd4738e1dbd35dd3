"""Options as programs read them: long ones may be cut short, short ones stand in bundles, values are joined or apart.

Rule 1: GNU's programs, git and many others take every beginning of a long option that leaves no doubt. So a word that begins one
which somebody looks for is that one; where it begins several, a program would refuse it, and it does not matter which is taken.
Rule 2: what makes a call milder must be there as an option: not as the value of another one, not behind ``--``, and beside no
option that is not known, which may take it for its value or take it back (``--no-dry-run``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

Words = tuple[str | None, ...]


class Milder(NamedTuple):
    """Options by which a call of a program does less, and the others of that program: a letter with its dash, or a long one."""

    wanted: frozenset[str]
    """Any of these; empty: it does less by having no option but those below."""
    flags: frozenset[str]
    """These take nothing, or only what is joined to them by ``=``."""
    takes: frozenset[str]
    """These take what is joined to them, else the next word."""
    joined: frozenset[str]
    """Letters that take what is joined to them, and never the next word."""
    dashed: bool
    """A value never begins with a dash: a long option that is not known takes none of the others for its value."""


def milder(wanted: str, letters: str = "", taking: str = "", words: str = "", valued: str = "", joined: str = "", *,
           dashed: bool = False) -> Milder:
    """A row: letters run together, other options with blanks between them."""
    return Milder(frozenset(wanted.split()), frozenset([f"-{letter}" for letter in letters] + words.split() + wanted.split()),
                  frozenset([f"-{letter}" for letter in taking] + valued.split()), frozenset([f"-{letter}" for letter in joined]),
                  dashed)


def is_milder(words: Sequence[str], row: Milder) -> bool:
    """Whether one of the wanted options is there as an option, and none beside it leaves a doubt about that. ``words`` are those
    behind the program."""
    is_given, at = not row.wanted, 0
    while at < len(words) and words[at] != "--":
        word = words[at]
        at += 1
        if word[:1] in ("$", "`"):
            return is_given  # it may be an option that takes the next word
        if not _is_option(word):
            continue
        names = _names(word, row)
        if not names and not (row.dashed and word[:2] == "--"):
            return False
        is_given = is_given or not row.wanted.isdisjoint(names)
        at += bool(names) and names[-1] in row.takes and _is_apart(word, names)
    return is_given


def _is_apart(word: str, names: Sequence[str]) -> bool:
    """Whether the last option of a word has its value, if it takes one, in the next word."""
    return "=" not in word if word[:2] == "--" or word.partition("=")[0] in names else len(word) == len(names) + 1


def _names(word: str, row: Milder) -> list[str]:
    """The options of one word, up to the first that takes the rest of it; none where one of them is not known."""
    given, equal, _ = word.partition("=")
    known = row.flags | row.takes
    full = [given] if given in known else [option for option in known if word[:2] == "--" and option.startswith(given)]
    if word in known or (len(full) == 1 and len(given) > 2):
        return full if not equal or full[0] not in row.wanted - row.takes else []  # ``--dry-run=false``
    found: list[str] = []
    for letter in word[1:] if word[:2] != "--" else "":
        found.append(f"-{letter}")
        if found[-1] not in row.flags:
            return found if found[-1] in row.takes or found[-1] in row.joined else []
    return found


def in_full(given: str, options: Collection[str]) -> str:
    """Which of these options a word is, without its value: as it is, or cut short; empty: none of them."""
    if given in options:
        return given
    if given[:2] != "--" or len(given) < 3:
        return ""
    return min([option for option in options if option.startswith(given)], default="")


def given_value(words: Words, wanted: Collection[str], taking: Collection[str] = (), *, leading: bool = False,
                ) -> tuple[str | None, int] | None:
    """The value of the first of these options, wherever it stands in a bundle, and where the words behind it begin; None: none
    is given. A value of None is one that only the run knows. ``taking`` are others that take a value; ``leading``: the program
    takes no more options behind its first operand."""
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--" or (leading and not _is_option(word)):
            return None
        step = 1
        if word is not None and _is_option(word):
            name, place = _which(word, wanted, taking)
            joined = word[place:].removeprefix("=") if place < len(word) else None
            if name in wanted:
                return (joined, at + 1) if joined is not None else (words[at + 1] if at + 1 < len(words) else "", at + 2)
            step += bool(name) and joined is None
        at += step
    return None


def _is_option(word: str | None) -> bool:
    return word is not None and word[:1] == "-" and len(word) > 1


def _which(word: str, wanted: Collection[str], taking: Collection[str]) -> tuple[str, int]:
    """The option of a word that takes a value, and where in the word that would begin; empty: it has none that is known."""
    if word[:2] == "--":
        given = word.partition("=")[0]
        return in_full(given, wanted) or in_full(given, taking), len(given)
    for place, letter in enumerate(word[1:], 1):
        if f"-{letter}" in wanted or f"-{letter}" in taking:
            return f"-{letter}", place + 1
    return "", len(word)
