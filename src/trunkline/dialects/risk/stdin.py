"""What a command reads on its input, as far as the line has it: a here-doc, a here-string, or what echo, printf and cat print.

Rule 1: where any of it comes from elsewhere (a file, another program, a variable), it is not known what it says.
Rule 2: what is given to a function, or to a shell, is given to the commands in it, and what ``exec`` gives to a shell to all that
follow.
Rule 3: shells differ in what echo makes of a backslash, so both count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from trunkline.dialects.risk.call import FEEDERS, ProgramCall, Trait
from trunkline.dialects.shell import SimpleCommand

_FLAGS: Final = re.compile(r"-[neE]{1,3}")
_OCTAL: Final = r"\\(?:(%s)|x([0-9a-fA-F]{1,2})|[uU]([0-9a-fA-F]{1,6})|([abefnrtv\\\"']))"
_IN_FORMAT: Final = re.compile(_OCTAL % "[0-7]{1,3}")
_IN_TEXT: Final = re.compile(_OCTAL % "0[0-7]{0,3}|[1-7][0-7]{0,2}")
"""Escapes of printf's format, and those of echo and ``%b``: only the latter have a nought before an octal number."""
_SIGNS: Final = dict(zip("abefnrtv", "\a\b\x1b\f\n\r\t\v", strict=True))
_PLACE: Final = re.compile(r"%(?:(%)|[-+ #0]{0,5}\d{0,3}([sbcdiouxXeEfFgGq]))")
"""Where printf puts a word; what is not like this (a part of a word, a width among the words, a date) is not read here."""
_STRAY: Final = re.compile(r"%(?![-+ #0]{0,5}\d{0,3}[sbcdiouxXeEfFgGq]|%)")
_CODE_MOST: Final = 0x10FFFF
_PRINTED: Final = 1 << 16
"""Characters of what printf prints; of more it is not known."""


_SUBSTITUTED: Final = frozenset(("$(…)", "<(…)", ">(…)"))
_OWN_INPUT: Final = ("xargs", "parallel")
"""What they start does not read their input."""


class Given(NamedTuple):
    """The input of a command."""

    texts: tuple[str, ...]
    is_known: bool
    """Whether the texts are all of it."""


_NOT_KNOWN: Final = Given((), False)


def given(call: ProgramCall) -> Given | None:
    """What a call reads on its input; None where nothing feeds it."""
    own = _redirected(call.command)
    if own is not None:
        return own
    if call.command.stdin_from >= 0:
        found = [_of_feeder(feeder) for feeder in call.feeders]
        return Given(_joined(found), bool(found) and len(found) < FEEDERS and all([one.is_known for one in found]))
    if not call.lenders:
        return None
    lent = [_redirected(command) or _NOT_KNOWN for command in call.lenders]
    return Given(tuple([text for one in lent for text in one.texts]), all([one.is_known for one in lent]))


def lenders(commands: Sequence[SimpleCommand]) -> dict[int, tuple[SimpleCommand, ...]]:
    """By its place: the commands whose input one has as well: those that start it or its function, or an ``exec``."""
    functions = {command.inside[:-2] for command in commands if command.inside[-2:] == "()"}
    gives = [command for command in commands if command.redirects and command.name == "exec" and _redirected(command) is not None]
    started = any([command.parent >= 0 and command.inside not in _SUBSTITUTED for command in commands])
    if not functions and not gives and not started:
        return {}  # as mostly
    by_function = _by_function(commands, functions)
    found: dict[int, tuple[SimpleCommand, ...]] = {}
    latest: dict[tuple[int, ...], SimpleCommand] = {}
    for at, command in enumerate(commands):
        around = _function_around(commands, command)
        shells = [command.scope[:depth] for depth in range(len(command.scope) + 1)] if latest else []
        lent = gives if around else [latest[shell] for shell in shells if shell in latest][-1:]
        starter = _starter(commands, command) if started else None
        if starter is not None:
            found[at] = (starter,)
        elif lent or by_function.get(around):
            found[at] = (*lent, *by_function.get(around, ()))
        if command.name == "exec" and _redirected(command) is not None:
            latest[command.scope] = command
    return found


def _by_function(commands: Sequence[SimpleCommand], functions: set[str]) -> dict[str, tuple[SimpleCommand, ...]]:
    """The calls of each function that have an input, also those of a function around its calls."""
    called_in: dict[str, set[str]] = {}
    fed: dict[str, list[SimpleCommand]] = {}
    for command in commands if functions else ():
        if command.name in functions:
            if command.stdin_from >= 0 or _redirected(command) is not None:
                fed.setdefault(command.name, []).append(command)
            elif around := _function_around(commands, command):
                called_in.setdefault(command.name, set()).add(around)
    found: dict[str, tuple[SimpleCommand, ...]] = {}
    for name in functions if fed else ():
        seen, waiting = {name}, [name]
        while waiting:
            more = called_in.get(waiting.pop(), set()) - seen
            seen |= more
            waiting += more
        found[name] = tuple([command for one in sorted(seen) for command in fed.get(one, ())])
    return found


def _starter(commands: Sequence[SimpleCommand], command: SimpleCommand) -> SimpleCommand | None:
    """The command around one (``bash -c``) that has an input, which is then its own; None where there is none."""
    while command.parent >= 0 and command.inside not in _SUBSTITUTED and not command.inside.startswith(_OWN_INPUT):
        command = commands[command.parent]
        if command.name == "coproc" or command.stdin_from >= 0 or _redirected(command) is not None:
            return command
    return None


def _function_around(commands: Sequence[SimpleCommand], command: SimpleCommand) -> str:
    """The function in which a command stands, also behind a wrapper; empty: none."""
    while command.inside[-2:] != "()":
        if command.parent < 0:
            return ""
        command = commands[command.parent]
    return command.inside[:-2]


def printed(call: ProgramCall) -> str | None:
    """The literal text that echo, printf or a here-doc behind cat prints."""
    if call.name == "cat" or not call.traits & Trait.PRINTS:
        return call.command.stdin_text
    return _printed_texts(call)[-1].rstrip("\n") or None


def _joined(found: Sequence[Given]) -> tuple[str, ...]:
    """What several commands print one behind the other, once for each way in which a shell may read it."""
    ways = {"".join([one.texts[min(way, len(one.texts) - 1)] for one in found if one.texts]): None for way in (0, 1)}
    return tuple([text for text in ways if text])


def _redirected(command: SimpleCommand) -> Given | None:
    """What a redirection of its own gives to a command; the last one counts."""
    for redirect in reversed(command.redirects):
        if redirect.operator[:1] == "<" and redirect.descriptor in ("", "0"):
            if redirect.operator == "<&" and redirect.target == "0":
                continue
            if redirect.operator[:2] != "<<":
                return Given((), redirect.target == ("-" if redirect.operator == "<&" else "/dev/null"))
            return Given((redirect.sketch if redirect.body is None else redirect.body,), redirect.body is not None)
    return None


def _of_feeder(feeder: ProgramCall) -> Given:
    """What one command of those that feed another adds to its input."""
    if not feeder.command.words or (feeder.name == "cat" and not feeder.operands):
        return _redirected(feeder.command) or Given((), not feeder.command.words)
    if not feeder.traits & Trait.PRINTS:
        return _NOT_KNOWN
    texts = _printed_texts(feeder)
    return Given(texts, None not in feeder.command.words and (feeder.name != "printf" or _is_read(feeder.command)))


def _printed_texts(call: ProgramCall) -> tuple[str, ...]:
    """What echo or printf prints of its literal words: as they are, and with its escapes read."""
    words = [word for word in call.command.words[1:] if word is not None]
    if call.name == "printf":
        words = words[1:] if words[:1] == ["--"] else words
        if words and None not in call.command.words and _is_read(call.command):
            return (_formatted(words[0], words[1:]),)
        return (_unescaped(" ".join(words), _IN_FORMAT),)
    flags = ""
    while words and _FLAGS.fullmatch(words[0]) is not None:
        flags += words.pop(0)
    text = " ".join(words) + ("" if "n" in flags else "\n")
    read = _unescaped(text, _IN_TEXT) if "\\" in text else text
    return (text, read) if read != text else (text,)


def _is_read(command: SimpleCommand) -> bool:
    """Whether a printf is one whose format is understood here, and that prints no more than so much."""
    words = [word or "" for word in command.words[1:]]
    words = words[1:] if words[:1] == ["--"] else words
    return bool(words) and words[0][:1] != "-" and _STRAY.search(words[0].replace("%%", "")) is None and (
        len(words[0]) * len(words) + sum(map(len, words)) < _PRINTED)


def _formatted(form: str, words: Sequence[str]) -> str:
    """What printf prints: its format once, and again while there are words left."""
    rest = list(reversed(words))

    def put(found: re.Match[str]) -> str:
        if found[1]:
            return "%"
        word = rest.pop() if rest else ""
        return word[:1] if found[2] == "c" else _unescaped(word, _IN_TEXT) if found[2] == "b" else word

    text = ""
    while True:
        left = len(rest)
        text += "".join([_PLACE.sub(put, part) if at % 2 == 0 else part for at, part in enumerate(_with_escapes(form))])
        if not rest or len(rest) == left:
            return text


def _with_escapes(form: str) -> list[str]:
    """A format in pieces: every second is an escape, as what it stands for."""
    pieces: list[str] = []
    end = 0
    for found in _IN_FORMAT.finditer(form):
        pieces += [form[end:found.start()], _sign(found)]
        end = found.end()
    return [*pieces, form[end:]]


def _unescaped(text: str, escapes: re.Pattern[str]) -> str:
    return escapes.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    octal, byte, code, letter = found.groups()
    if letter is not None:
        return _SIGNS.get(letter, letter)
    number = int(octal, 8) & 0xFF if octal is not None else int(byte or code, 16)
    return chr(number) if number <= _CODE_MOST else ""
