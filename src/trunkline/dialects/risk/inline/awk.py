"""What an awk script runs, writes and reads, by its tokens: pipes, redirections of ``print``, ``getline``, ``@include``.

Rule 1: pure, and linear in the script.
Rule 2: a target is known where it is a string, or a variable that has one value, a string, and no other use. What is put together
otherwise is only known when it runs.
Rule 3: where it is not sure what is a pattern and what divides, the script is ``odd``: it may run something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

AWKS: Final = frozenset("awk gawk mawk nawk original-awk".split())
_TOKEN: Final = re.compile(
    r"[ \t\r]++|\\\r?\n|#[^\n]*+"
    r"|(?P<string>\"(?>(?:[^\"\\\n]|\\[\s\S])*)\")"
    r"|(?P<name>[A-Za-z_]\w*+)|(?P<number>\d[\w.]*+|\.\d[\w.]*+)"
    r"|(?P<sign>\|\||&&|>>|\|&|[=!<>+*/%^-]=|\+\+|--|\n|[\s\S])")
_PATTERN: Final = re.compile(r"/(?>(?:[^/\\\n]|\\[\s\S])*)/")
_WITH_BRACKETS: Final = re.compile(
    r"/(?>(?:[^/\\\n\[]|\\[\s\S]|\[\^?\]?(?>(?:\[:\w{1,10}:\]|\\[^\n]|[^\]\\\n])*)\])*)/")
_CLOSED: Final = re.compile(r"/(?>(?:[^\\\n\[]|\\[^\n]|\[\^?\]?(?>(?:\[:\w{1,10}:\]|[^\]\n])*)\])*)/")
"""A pattern whose brackets have an end; another one every awk refuses."""
_BEFORE_PATTERN: Final = frozenset("print printf return in getline case exit else do".split())
"""Names behind which a slash begins a pattern; behind others it divides."""
_VALUE_ENDS: Final = (")", "]", "++", "--")
_SETS: Final = ("=", "+=", "-=", "*=", "/=", "%=", "^=")
_GIVEN: Final = re.compile(r"(?:-v)?([A-Za-z_]\w{0,80})=(.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|([\s\S]))")
_SIGNS: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
Token = tuple[str, str]
"""A kind (``string``, ``name``, ``number``, ``pattern``, ``sign``), and what it is: of a string, what it says."""


class AwkScript(NamedTuple):
    """What a script does beside computing and printing."""

    runs: bool = False
    """It starts commands, or calls what only the run knows."""
    texts: tuple[str, ...] = ()
    """Its strings: commands among them, where it runs some."""
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    """Files with more of it."""
    opens: bool = False
    """It writes a file whose name only the run knows."""
    looks: bool = False
    """It reads such a file."""
    odd: bool = False


def given_values(words: Sequence[str]) -> dict[str, list[str]]:
    """The variables that the words of a call give a value: ``-v x=y``, ``x=y`` among its files."""
    found: dict[str, list[str]] = {}
    for word in words:
        given = _GIVEN.fullmatch(word.removeprefix("--assign="))
        if given is not None:
            found.setdefault(given[1], []).append(_unescaped(given[2]))
    return found


def read_awk(script: str, values: dict[str, list[str]] | None = None) -> AwkScript:
    """Read a script; ``values`` are those that its variables have from outside. Programs differ in where brackets end,
    so what either of them does counts."""
    found = _read(script, values or {}, True)
    if "[" not in script or "/" not in script:
        return found
    other = _read(script, values or {}, False)
    if found.odd or other.odd:
        return found if other.odd else other
    return AwkScript(found.runs or other.runs, _both(found.texts, other.texts), _both(found.writes, other.writes),
                     _both(found.reads, other.reads), _both(found.includes, other.includes), found.opens or other.opens,
                     found.looks or other.looks)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _read(script: str, values: dict[str, list[str]], brackets: bool) -> AwkScript:
    tokens, odd = _tokens(script, brackets)
    known = _constants(tokens, values)
    names = {text for kind, text in tokens if kind == "name"}
    signs = {text for kind, text in tokens if kind == "sign"}
    texts = tuple([text for kind, text in tokens if kind == "string"])
    runs = "system" in names or not signs.isdisjoint(("|", "|&")) or _calls_by_name(tokens)
    writes, opens = _targets(tokens, known)
    reads, looks = _sources(tokens, known)
    if "ARGV" in names:
        reads, looks = (*reads, *texts), True
    return AwkScript(runs, texts, writes, reads, _included(tokens), opens, looks, odd)


def _tokens(script: str, brackets: bool) -> tuple[list[Token], bool]:
    """The tokens of a script, and whether they are not sure. ``brackets``: a slash in brackets does not end a pattern."""
    found: list[Token] = []
    conditions: list[bool] = []
    """Of the open parentheses, whether each is around a condition: what follows its end is a statement."""
    at, is_value = 0, False
    while at < len(script):
        if script[at] == "/" and not is_value:
            pattern = (_WITH_BRACKETS if brackets else _PATTERN).match(script, at)
            if pattern is None or not (brackets or _CLOSED.fullmatch(pattern[0])):
                return found, True
            found.append(("pattern", pattern[0]))
            at, is_value = pattern.end(), True
            continue
        token = _TOKEN.match(script, at)
        if token is None or token[0] == '"':  # a string without an end
            return found, True
        at = token.end()
        if token.lastgroup is None:
            continue
        text = token[0]
        if text == "(":
            conditions.append(found[-1:] != [] and found[-1][0] == "name" and found[-1][1] in ("if", "while", "for"))
        is_value = _is_value(token.lastgroup, text) and not (text == ")" and conditions and conditions.pop())
        found.append((token.lastgroup, _unescaped(text[1:-1]) if token.lastgroup == "string" else text))
    return found, False


def _is_value(kind: str, text: str) -> bool:
    """Whether a token ends a value, which a slash behind it divides."""
    return kind in ("number", "string") or (kind == "name" and text not in _BEFORE_PATTERN) or (
        kind == "sign" and text in _VALUE_ENDS)


def _calls_by_name(tokens: Sequence[Token]) -> bool:
    """``@load``, ``@f()``: what is called, only the run knows."""
    return any(token == ("sign", "@") and tokens[at + 1:at + 2] != [("name", "include")] for at, token in enumerate(tokens)) or (
        ("name", "eval") in tokens)


def _included(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple([tokens[at + 1][1] for at, token in enumerate(tokens[:-1]) if token == ("name", "include")
                  and tokens[at - 1] == ("sign", "@") and tokens[at + 1][0] == "string"])


def _constants(tokens: Sequence[Token], values: dict[str, list[str]]) -> dict[str, list[str]]:
    """The variables that can only be these texts: they are set to strings, and used for nothing but as a target."""
    found = {name: list(texts) for name, texts in values.items()}
    used: set[str] = set()
    for at, (kind, name) in enumerate(tokens):
        if kind != "name":
            continue
        if tokens[at + 1:at + 2] == [("sign", "=")]:
            text, end = _strings(tokens, at + 2)
            if text is not None and _ends_statement(tokens, end):
                found.setdefault(name, []).append(text)
                continue
            used.add(name)
        elif not (at and tokens[at - 1] in _TARGET_SIGNS and _ends_target(tokens, at + 1)) and not _is_closed(tokens, at):
            used.add(name)
    return {name: texts for name, texts in found.items() if name not in used}


_TARGET_SIGNS: Final = (("sign", ">"), ("sign", ">>"), ("sign", "<"))


def _strings(tokens: Sequence[Token], at: int) -> tuple[str | None, int]:
    """The strings from here on as one, and where they end; None: there is none."""
    end = at
    while end < len(tokens) and tokens[end][0] == "string":
        end += 1
    return ("".join([text for _, text in tokens[at:end]]) if end > at else None), end


def _ends_statement(tokens: Sequence[Token], at: int) -> bool:
    return at >= len(tokens) or tokens[at] in (("sign", ";"), ("sign", "}"), ("sign", "\n"))


def _ends_target(tokens: Sequence[Token], at: int) -> bool:
    return _ends_statement(tokens, at) or tokens[at] == ("sign", ")")


def _is_closed(tokens: Sequence[Token], at: int) -> bool:
    """``close(x)``."""
    return at > 1 and list(tokens[at - 2:at]) == [("name", "close"), ("sign", "(")]


def _targets(tokens: Sequence[Token], known: dict[str, list[str]]) -> tuple[tuple[str, ...], bool]:
    """What ``print`` and ``printf`` write to, and whether a target is one that only the run knows."""
    found: list[str] = []
    opens, depth, printing = False, 0, -1
    for at, (kind, text) in enumerate(tokens):
        if kind == "name" and text in ("print", "printf"):
            printing = depth
        elif kind != "sign":
            continue
        elif text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            printing = printing if depth >= printing else -1
        elif text in (";", "\n"):
            printing = -1
        elif text in (">", ">>") and depth == printing:
            named = _named(tokens, at + 1, known)
            found += named
            opens = opens or not named
            printing = -1
    return tuple(found), opens


def _sources(tokens: Sequence[Token], known: dict[str, list[str]]) -> tuple[tuple[str, ...], bool]:
    """What ``getline`` reads from, and whether that is something that only the run knows."""
    found: list[str] = []
    looks = False
    for at, token in enumerate(tokens):
        if token != ("name", "getline"):
            continue
        for place in range(at + 1, min(at + 8, len(tokens))):
            if tokens[place] in (("sign", ";"), ("sign", ")"), ("sign", "}"), ("sign", "\n")):
                break
            if tokens[place] == ("sign", "<"):
                named = _named(tokens, place + 1, known)
                found += named
                looks = looks or not named
                break
    return tuple(found), looks


def _named(tokens: Sequence[Token], at: int, known: dict[str, list[str]]) -> list[str]:
    """The files that an expression may be; none where only the run knows."""
    text, end = _strings(tokens, at)
    if text is not None:
        return [text] if _ends_target(tokens, end) else []
    if tokens[at:at + 1] and tokens[at][0] == "name" and _ends_target(tokens, at + 1):
        return known.get(tokens[at][1], [])
    return []


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_sign, text) if "\\" in text else text


def _sign(found: re.Match[str]) -> str:
    octal, byte, letter = found.groups()
    if letter is not None:
        return _SIGNS.get(letter, letter)
    return chr(int(octal, 8) & 0xFF if octal is not None else int(byte, 16))
