"""Where a shell computes, and whether what it computes can be more than numbers.

bash evaluates every name in arithmetic, in an index and behind ``-v`` again and again, sets what an assignment in a value says,
and runs what stands in an index there. So the value of a name is as good as a command in these places.

Rule 1: sure is only what is made of numbers and signs, and of names that the line itself sets, to nothing but numbers.
Rule 2: what is not sure is a command of its own in the reading, so that nobody who allows another program allows it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_PART: Final = re.compile(
    r"0[xX][0-9a-fA-F]+|\d+|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}|\$\{#\}|\$[#?$]|\$\{([A-Za-z_]\w*)\}|\$?([A-Za-z_]\w*)"
    r"|[-+*/%()<>=!&|^~?:,;\s]+", re.ASCII)
"""What an expression is made of: numbers, lengths, names, signs. Nothing else is sure."""
_NUMBER: Final = re.compile(r"-?\d+|\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}", re.ASCII)
_COUNTED: Final = re.compile(
    r"\$\(seq(?: -?\d+){1,3}\)|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}|\$[#?]|\$\(\([^()'\"\\`\[\]]*\)\)"
    r"|\$\((?:[^()'\"\\`$;&|\n]+\|)+ ?wc -[lcw]\)|\$\(wc -[lcw] ?< ?[\w./-]+\)", re.ASCII)
"""Values that only the run knows and that are numbers all the same."""
COUNTERS: Final = frozenset(("seq", "wc"))
"""The programs by which they are known to be."""
_SETS_NUMBER: Final = re.compile(r"(?<![\w$\[])([A-Za-z_]\w*)\s{0,9}=\s{0,9}-?\d+\s{0,9}(?=[,;)]|$)", re.ASCII)
_INDIRECT: Final = re.compile(r"\$\{!([A-Za-z_]\w*|[0-9@*#]+)(.?)", re.ASCII | re.DOTALL)
_PART_OF: Final = re.compile(r"\$\{#?(?:\w+|[@*#?$!-])(?:\[[^\]]*\])?:(?![-=?+])(.*)\}", re.ASCII | re.DOTALL)
_UNREAD: Final = re.compile(r"\$\[|\$\{(?:!|#?\w+\[(?![@*]\])|(?:\w+|[@*#?$!-]):(?![-=?+]))|@P\}", re.ASCII)
"""In a text that the grammar gives as one piece: what is computed."""
_TOKEN: Final = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s\"'\\])+|[\"'\\]", re.DOTALL)
_JOINTS: Final = re.compile(r"&&|\|\||[()]")
_TRUTHS: Final = re.compile(r"-(?:eq|ne|lt|le|gt|ge)")
_OPERAND: Final = re.compile(
    r"\"?(?:-?\d+|\$[#?]|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}|\$?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})\"?", re.ASCII)
_TESTED_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?|\d+", re.ASCII)
_BETWEEN: Final = re.compile(r"!?==?|[<>]|-[a-z]{1,2}|\]")
_QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.", re.DOTALL)
_EXPANDED: Final = re.compile(
    r"\$(?:\{([A-Za-z_]\w*)[}%#:/^,-]|([A-Za-z_]\w*)|[#?$]|\{#[A-Za-z_]\w*(?:\[[@*]\])?\})|\$|`", re.ASCII)
_INDEX: Final = re.compile(r"[A-Za-z_]\w*\[(.*)\]", re.ASCII | re.DOTALL)
_INDEXES: Final = re.compile(r"(?<!\S)\[([^\]]*)\]\+?=")
_GIVEN: Final = re.compile(r"REPLY|MAPFILE|OPTARG|COPROC|BASH_\w+|[0-9]+", re.ASCII)
"""Names that get a value without being named."""


class Needs(NamedTuple):
    """What has to hold of names for an expression to be sure."""

    numbers: frozenset[str] = frozenset()
    """These have to be set by the line before, to nothing but numbers."""
    plain: frozenset[str] = frozenset()
    """No value that the line gives to these may have an index in it."""
    is_open: bool = False


NOTHING: Final = Needs()
SURELY_OPEN: Final = Needs(is_open=True)
"""Whatever the names are: it may run something."""


class NameValues:
    """What the names of a line may hold, as far as that decides what computing them does."""

    def __init__(self) -> None:
        self._set: set[str] = set()
        self._texts: set[str] = set()
        self._indexed: set[str] = set()
        self.is_open = False
        """Whether any name may have got any value."""

    def put(self, name: str, value: str | None, sketch: str) -> None:
        """A name gets a value; None: one that only the run knows, written like ``sketch``."""
        name = name.partition("[")[0].removesuffix("+")
        if not name.isidentifier():
            self.is_open = True
            return
        self._set.add(name)
        if (_NUMBER if value is not None else _COUNTED).fullmatch(sketch) is None:
            self._texts.add(name)
            if value is None or "[" in value or "*" in value or "?" in value:
                self._indexed.add(name)

    def count(self, names: Iterable[str]) -> None:
        """Names that arithmetic sets: to a number, always."""
        self._set.update(names)

    def settles(self, needs: Needs) -> bool:
        """Whether the names are set already: what they hold in the end is asked later."""
        return not needs.is_open and needs.numbers <= self._set

    def meets(self, needs: Needs) -> bool:
        """Whether, after the whole line, the names hold only what an expression needs."""
        if needs == NOTHING:
            return True
        if self.is_open or needs.is_open or not needs.numbers.isdisjoint(self._texts):
            return False
        return needs.plain.isdisjoint(self._indexed) and not any(_GIVEN.fullmatch(name) for name in needs.plain | needs.numbers)


def of_expression(text: str) -> Needs:
    """What an arithmetic expression needs."""
    at, names = 0, []
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            return SURELY_OPEN
        at = found.end()
        if name := found[1] or found[2]:
            names.append(name)
    return Needs(frozenset(names)) if names else NOTHING


def set_to_numbers(text: str) -> list[str]:
    """The names that an expression sets to a number that stands there."""
    return [found[1] for found in _SETS_NUMBER.finditer(text)]


def of_arithmetic(text: str) -> Needs:
    """``$((…))``, ``$[…]``."""
    return of_expression(text[3:-2] if text.startswith("$((") else text[2:-1])


def of_index(text: str) -> Needs:
    """``name[index]``."""
    found = _INDEX.fullmatch(text)
    return NOTHING if found is None or found[1] in ("@", "*") else of_expression(found[1])


def of_indexes(array: str) -> Needs:
    """``([index]=value …)``."""
    return all_of(of_expression(found[1]) for found in _INDEXES.finditer(array[1:]))


def of_expansion(text: str) -> Needs:
    """``${…}`` itself, without what stands in it: a part of a value, a name behind a name, a value read as a prompt."""
    if text.endswith("@P}"):
        return SURELY_OPEN
    indirect = _INDIRECT.match(text)
    if indirect is not None and indirect[2] not in ("*", "@", "["):
        return Needs(plain=frozenset((indirect[1],))) if indirect[2] == "}" else SURELY_OPEN
    part = _PART_OF.fullmatch(text)
    return of_expression(part[1]) if part is not None else NOTHING


def is_unread(text: str) -> bool:
    """Whether a text that the grammar has not taken apart has something in it that is computed."""
    return "$" in text and _UNREAD.search(text) is not None


def of_test(text: str) -> Needs:
    """``[[ … ]]``: what it compares as numbers, and the names that it looks for."""
    words = _TOKEN.findall(_JOINTS.sub(" ", text.replace("\\\n", "")[2:-2]))
    found = [_looked_for(words[at + 1:at + 2]) for at, word in enumerate(words) if word in ("-v", "-R")]
    for at, word in enumerate(words):
        if _TRUTHS.fullmatch(word):
            found += [_compared(operand) for operand in (*words[at - 1:at], *words[at + 1:at + 2])]
    return all_of(found)


def of_bracket(text: str) -> Needs:
    """``[ … ]`` and ``test …``: an operator may come out of a name there, and one name may become several words."""
    if "$'" in text or "$\"" in text:
        return SURELY_OPEN
    words = _TOKEN.findall(text.replace("\\\n", ""))[1:]
    found: list[Needs] = []
    for at, word in enumerate(words):
        behind = " ".join(words[at + 1:at + 2])
        if word.translate(_UNQUOTED) in ("-v", "-R"):
            found.append(_looked_for([behind]))
        if "$" not in word and "`" not in word:
            continue
        found.append(_split(_QUOTED.sub("", word)))
        if behind and _BETWEEN.fullmatch(behind) is None and ("$" in behind or "`" in behind or "[" in behind):
            found.append(SURELY_OPEN)
    return all_of(found)


_UNQUOTED: Final = str.maketrans("", "", "'\"\\")


def _split(unquoted: str) -> Needs:
    """What may become several words: names that stand without quotes."""
    names: list[str] = []
    for found in _EXPANDED.finditer(unquoted):
        name = found[1] or found[2]
        if name is None and found[0] in ("$", "`"):
            return SURELY_OPEN
        names += [name] if name else []
    return Needs(plain=frozenset(names)) if names else NOTHING


def _looked_for(words: list[str]) -> Needs:
    return NOTHING if not words or _TESTED_NAME.fullmatch(words[0].translate(_UNQUOTED)) else SURELY_OPEN


def _compared(word: str) -> Needs:
    found = _OPERAND.fullmatch(word)
    if found is None:
        return SURELY_OPEN
    name = found[1] or found[2]
    return Needs(frozenset((name,))) if name else NOTHING


def all_of(found: Iterable[Needs]) -> Needs:
    """What several need together."""
    numbers: set[str] = set()
    plain: set[str] = set()
    for one in found:
        if one.is_open:
            return SURELY_OPEN
        numbers |= one.numbers
        plain |= one.plain
    return Needs(frozenset(numbers), frozenset(plain)) if numbers or plain else NOTHING
