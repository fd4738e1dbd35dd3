"""Every way in which a name gets a value beside ``NAME=value``: loops, arithmetic, expansions, and the builtins that set names.

Rule 1: a value that stands in the line is given as it is; any other is ``UNKNOWN_VALUE``, and so is a name that the line does
not spell out.
Rule 2: a name that is a shell's own (``for f in …``) says nothing about what programs do: no program reads it, because nobody
exports it. It is not given, so that an ordinary loop stays a loop. Which names are that is decided by their spelling.
Rule 3: what is known of builtins is data: which of their options take a value, and where the names stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from trunkline.dialects.shell.syntax import SimpleCommand

UNKNOWN_VALUE: Final = "…"
"""The value of a name that gets one which only the run knows."""
VALUES: Final = 8
"""Values of one loop that are given, each as an assignment; behind those comes one that is not known."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OWN: Final = re.compile(r"(?:[a-z_][a-z0-9_]*|[A-Z])", re.ASCII)
_NOT_OWN: Final = re.compile(
    r"path|cdpath|fpath|manpath|mailpath|module_path|prompt|psvar|aliases|galiases|saliases|functions|commands|[a-z]+_functions"
    r"|term|home|shell|npm_.*|.*_proxy")
"""Names in small letters that a shell (zsh, csh) ties to another, or that programs read."""
_SETS: Final = re.compile(
    r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^\[\]]*\])?\s{0,9}(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
    r"|(?:\+\+|--)\s{0,9}([A-Za-z_]\w*)", re.ASCII)
"""Where an arithmetic expression sets a name."""
_DESCRIPTOR: Final = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)


class _Binder(NamedTuple):
    """Where the names stand in the words of a builtin."""

    takes: frozenset[str] = frozenset()
    """Letters of options that take a value which is no name."""
    named_by: str = ""
    """Letters of options whose value is a name."""
    operands: slice = slice(0, 0)
    """The operands that are names."""
    pairs: bool = False
    """Operands are ``NAME=value``."""
    follows: bool = False
    """The operand behind the first, which is a name, is its value."""
    computes: bool = False
    """Operands are arithmetic."""


def _binder(takes: str = "", named_by: str = "", operands: slice = slice(0, 0), *, pairs: bool = False, follows: bool = False,
            computes: bool = False) -> _Binder:
    return _Binder(frozenset(takes), named_by, operands, pairs, follows, computes)


_ALL: Final = slice(0, None)
_LIST: Final = _binder("dnOsuCc", operands=_ALL)
BINDERS: Final[dict[str, _Binder]] = {
    "read": _binder("dinNptu", "aA", _ALL),
    "mapfile": _LIST,
    "readarray": _LIST,
    "printf": _binder(named_by="v"),
    "print": _binder("uf", "v"),
    "strftime": _binder(named_by="s"),
    "getopts": _binder(operands=slice(1, 2)),
    "wait": _binder(named_by="p"),
    "let": _binder(computes=True),
    "vared": _binder("pPrMmtf", operands=_ALL),
    "setenv": _binder(operands=slice(0, 1), follows=True),
    "unset": _binder("", operands=_ALL),
    "set": _binder("o", "A", slice(0, 1), pairs=True, follows=True),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly", "integer", "float"), _binder(pairs=True)),
}
"""The builtins of bash, zsh, ksh, csh and fish that give a value to a name."""


def is_own_name(name: str) -> bool:
    """Whether a name can only be a variable of the shell's own, which no program reads."""
    return _OWN.fullmatch(name) is not None and _NOT_OWN.fullmatch(name) is None


def arithmetic(text: str) -> list[str]:
    """What an arithmetic expression sets, as ``NAME=…``; names of the shell's own left out."""
    names = dict.fromkeys(found[1] or found[2] for found in _SETS.finditer(text))
    return [f"{name}={UNKNOWN_VALUE}" for name in names if not is_own_name(name)]


def assigned_in(text: str) -> list[str]:
    """The names that an arithmetic expression sets, those of the shell's own included."""
    return [found[1] or found[2] for found in _SETS.finditer(text)]


def looped(name: str, values: Sequence[tuple[str | None, str]]) -> list[str]:
    """What a loop makes of its variable, one assignment per value. A value with a command in it is one whatever the name is:
    arithmetic and tests run it."""
    hides = any("$(" in value or "`" in value for value, _ in values if value is not None)
    if is_own_name(name) and not hides:
        return []
    found = [f"{name}={sketch}" for _, sketch in values[:VALUES]]
    return [*found, f"{name}={UNKNOWN_VALUE}"] if len(values) > VALUES or not values else found


def names_descriptor(command: SimpleCommand) -> bool:
    """Whether a redirection of a command may give a name the number of its descriptor: ``{name}>file``."""
    return any([word[:1] == "{" for word in command.sketch]) or any([one.descriptor[:1] == "{" for one in command.redirects])


def bound_by(command: SimpleCommand) -> tuple[str, ...]:
    """What a command itself gives a value to, as ``NAME=value``: its words say it, no assignment in front of it does."""
    name = command.name
    found = list(_bound(command, BINDERS[name])) if name in BINDERS else []
    if command.redirects:
        words = (*command.sketch, *[redirect.descriptor for redirect in command.redirects])
        found += [f"{one[1]}={UNKNOWN_VALUE}" for word in words if word[:1] == "{" and (one := _DESCRIPTOR.fullmatch(word))]
    if name == "coproc" and command.sketch[2:3] in (("{",), ("(",)):
        found.append(f"{command.sketch[1]}={UNKNOWN_VALUE}")
    return tuple(found)


def _bound(command: SimpleCommand, binder: _Binder) -> Iterator[str]:
    named, operands = _sorted(command.sketch[1:], binder)
    letters = "".join([word[1:] for word in command.sketch[1:] if word[:1] == "-"]) if binder.pairs else ""
    if binder.computes:
        yield from (one for operand in operands for one in arithmetic(operand))
    if binder.pairs:
        for operand in operands:
            target, equal, value = operand.partition("=")
            if equal and "i" in letters:
                yield from arithmetic(value)
            if equal and "n" in letters:
                yield f"{_settled(value)}={UNKNOWN_VALUE}"
            elif equal:
                yield f"{_settled(target.removesuffix('+'))}={value}"
            elif "n" in letters or (operand[:1] == "$" and operand[1:2] != "("):
                yield f"{UNKNOWN_VALUE}={UNKNOWN_VALUE}"
    values = _values_of(command, operands, binder)
    for name in (*named, *operands[binder.operands]):
        if "=" not in name and (_NAME.match(name) or _settled(name) == UNKNOWN_VALUE):
            yield f"{_settled(name)}={values}"


def _settled(name: str) -> str:
    """A name as it is; one that only the run knows has the sign of that."""
    return UNKNOWN_VALUE if "$" in name.partition("[")[0] or "`" in name else name


def _values_of(command: SimpleCommand, operands: Sequence[str], binder: _Binder) -> str:
    """The value of the names, where there is one and the line has it."""
    if command.name == "unset":
        return ""
    if binder.follows:
        return " ".join(operands[1:]) or UNKNOWN_VALUE
    if command.name == "read" and len(operands) == 1 and command.stdin_text is not None:
        return command.stdin_text.partition("\n")[0]
    if command.name in ("printf", "print") and len(operands) == 1 and "%" not in operands[0] and "\\" not in operands[0]:
        return operands[0]
    return UNKNOWN_VALUE


def _sorted(words: Sequence[str], binder: _Binder) -> tuple[list[str], list[str]]:
    """The names that options give, and the operands."""
    named: list[str] = []
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if word[:1] != "-" or len(word) == 1 or operands:
            operands.append(word)
            continue
        for place, letter in enumerate(word[1:], 2):
            if letter in binder.takes or letter in binder.named_by:
                value = word[place:] or " ".join(words[at:at + 1])
                named += [value] if letter in binder.named_by else []
                at += 0 if word[place:] else 1
                break
    return named, operands
