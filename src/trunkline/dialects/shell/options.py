"""Options as programs read them: long ones may be cut short, short ones stand in bundles, values are joined or apart.

Rule: GNU's programs, git and many others take every beginning of a long option that leaves no doubt. So a word that begins one
which somebody looks for is that one; where it begins several, a program would refuse it, and it does not matter which is taken.
"""

from __future__ import annotations

from collections.abc import Collection

Words = tuple[str | None, ...]


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
