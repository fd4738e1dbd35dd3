"""Code that stands in the words of a program of which nobody here knows how it reads them: behind ``--eval``, ``-e`` or ``-c``,
or where a word looks like code.

Rule 1: which program it is does not count, only how it is called: new interpreters come every year, and all of them take code by
one of these options.
Rule 2: an option that is for nothing but code brings code, whatever stands behind it. One letter may be anything (``-e prod``),
so there a name, a path or a glob is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from trunkline.dialects.risk.inline.plain_code import NOT_READ
from trunkline.dialects.risk.runners.table import ROWS
from trunkline.dialects.shell import SimpleCommand


class Given(NamedTuple):
    """A piece of code, and the option that gave it."""

    option: str
    code: str | None
    """None: one that only the run knows."""
    is_sure: bool = False
    """Whether the option is for nothing else."""


IN_WORDS: Final = "its code"
"""What stands for the option where a word looks like code by itself."""
WORDS: Final = 64
"""Of one command that are looked at."""
_FOR_CODE: Final = frozenset(
    "--eval -eval --evaluate --eval-string --exec -exec --execute --code -code --expr --command -command --cmd --shell-command "
    "--do --python-expr --python-code --lua-code --run-command --batch-string --lisp --rpc-eval".split())
"""Options whose value is code, or a command, in whatever program has them."""
_STOPS_AT_ERRORS: Final = frozenset("xonsh osh ysh ion murex nu rails django-admin flask artisan drush wp jupyter".split())
"""Of the programs that run code: those whose ``-e`` is something else."""
_MAYBE_CODE: Final = frozenset("-e -E -c -x --expression --run --script --print".split())
"""The same, where the value is more than a name."""
_BUNDLE: Final = re.compile(r"-[A-Za-z]{1,2}[eEc]")
_LIKE: Final = re.compile(
    r"--?[\w.-]{0,40}(?:eval|exec|command|cmd)[\w.-]{0,20}|--(?:eva?|exec?|cod|comm?a?n?)", re.IGNORECASE)
"""The same by what they are called: ``--post-command``; and cut short."""
_VERBS: Final = frozenset(("eval", "evaluate"))
_BARE: Final = re.compile(r"[\w./:@=+,%*?\[\]{}^~#-]*")
"""A name, a path, a number, a setting, a glob."""
_LOOKS: Final = re.compile(
    r"^\s{0,9}\([^()\s]{1,60}\s{1,9}[(\"':]"
    r"|\b(?:system|popen|exec(?:[lv]p?e?|Sync|File|ute)?|spawn(?:Sync)?|shell(?:_exec|-command)?|subprocess|run-program|Run|Exec"
    r"|unlink|rmtree|delete-file|os:cmd|passthru|proc_open)\*?(?:\(|\s{0,2}[\[{\"'<])")
"""How code looks that runs or deletes something, and an expression in brackets with more than names in it."""
_CHARS: Final = 4096


def given_code(command: SimpleCommand) -> Iterator[Given]:
    """The code that the words of a command bring, as far as their options and their looks say."""
    words, sketch = command.words, command.sketch
    sure, letters = _options(command.name or "")
    taken = verb = 0
    for at in range(1, min(len(sketch), WORDS)):
        word = sketch[at]
        option, equal, value = word.partition("=")
        if at == taken:
            continue
        maybe = word[:1] == "-" and (
            option in letters or _LIKE.fullmatch(option) is not None or _BUNDLE.fullmatch(word) is not None)
        if equal and (option in sure or maybe):
            if option in sure or not _BARE.fullmatch(value):
                yield Given(option, None if words[at] is None else value, option in sure)
        elif (word in sure or maybe) and at + 1 < len(sketch):
            following = sketch[at + 1]
            if following[:1] != "-" and (word in sure or not _BARE.fullmatch(following)):
                taken = at + 1
                yield Given(word, words[at + 1], word in sure)
        elif word[:1] == "-" and word[:2] in letters and not _BARE.fullmatch(word):
            yield Given(word[:2], None if words[at] is None else word[2:])
        elif word in _VERBS and at < 4:
            verb = at
        elif (verb and word[:1] != "-" and not _BARE.fullmatch(word)) or _LOOKS.search(word[:_CHARS]):
            yield Given(sketch[verb] if verb else IN_WORDS, words[at])
    if command.redirects:
        yield from _fed(command)


def _fed(command: SimpleCommand) -> Iterator[Given]:
    """What stands on the input and looks like code."""
    for redirect in command.redirects:
        if redirect.body is not None and _LOOKS.search(redirect.body[:_CHARS]) is not None:
            yield Given(IN_WORDS, redirect.body)


def _options(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The options of a program that are for code, and those that may be: with its row's, where it has one."""
    row = ROWS.get(name)
    if row is None or not row.code:
        runs_code = row is None and name in NOT_READ and name not in _STOPS_AT_ERRORS
        return (_FOR_CODE | {"-e"} if runs_code else _FOR_CODE), _MAYBE_CODE
    letters = frozenset([option for option in row.code if len(option) == 2])
    return _FOR_CODE | (row.code - letters), _MAYBE_CODE | letters
