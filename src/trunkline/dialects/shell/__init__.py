"""What a shell line would run, without running it.

    syntax.py    the values: SimpleCommand, Redirect, ParsedLine, Span
    grammar.py   tree-sitter's bash grammar, loaded on first use, and its bounds
    doubts.py    where that grammar and bash differ
    words.py     one word: quotes, escapes, braces
    redirects.py one redirection, one here-doc
    simple.py    one simple command
    bindings.py  every way in which a name gets a value
    settling.py  what a text with variables may be
    computing.py where a shell computes the value of a name, and what that may run
    reader.py    a tree to the simple commands in it
    prefixes.py  the table of programs that start the command behind them
    wrappers.py  sudo, env, xargs, sh -c, find -exec …: commands that run commands
    managers.py  volta, mise, pnpm exec …: managers that run a command
    pythons.py   the options of python: the module, or the code, that it runs
    options.py   one option: cut short, in a bundle, its value joined or apart
    verbs.py     options before the sub-command of a program
    spans.py     which part of a line is what, for highlighting
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from trunkline.dialects.answer_cache import AnswerCache
from trunkline.dialects.shell.bindings import UNKNOWN_VALUE
from trunkline.dialects.shell.grammar import MAX_LINE_BYTES
from trunkline.dialects.shell.options import in_full
from trunkline.dialects.shell.prefixes import WRAPPERS
from trunkline.dialects.shell.pythons import apart, is_python, module_at
from trunkline.dialects.shell.reader import LineReader
from trunkline.dialects.shell.settling import MOVING, OPEN, Values, goes_elsewhere
from trunkline.dialects.shell.simple import ShellPlace
from trunkline.dialects.shell.spans import spans
from trunkline.dialects.shell.syntax import Binding, ParsedLine, Redirect, SimpleCommand, Span, SpanRole
from trunkline.dialects.shell.verbs import has_more_readings, readings
from trunkline.dialects.shell.wrappers import SHELLS, STDIN_NAMES, shell_script

__all__ = [
    "MOVING",
    "OPEN",
    "READ_AT_ONCE_CHARS",
    "SHELLS",
    "STDIN_NAMES",
    "UNKNOWN_VALUE",
    "WRAPPERS",
    "Binding",
    "ParsedLine",
    "Redirect",
    "SimpleCommand",
    "Span",
    "SpanRole",
    "Values",
    "apart",
    "goes_elsewhere",
    "has_more_readings",
    "in_full",
    "is_long",
    "is_python",
    "known_line",
    "module_at",
    "parse_shell",
    "readings",
    "shell_script",
    "spans",
]

READ_AT_ONCE_CHARS: Final = 4096
"""Up to here a line is read wherever somebody wants to know. Reading and judging a longer one can take tens of milliseconds, so a
hub reads it in a thread first; from ``MAX_LINE_BYTES`` on it is not read at all."""
_RECENT: Final = 64
"""Lines kept parsed. A call is announced, judged, asked for and decided within moments, each time with the same line; and one ask
may be about fifty of them."""


def is_long(line: str) -> bool:
    """Whether a line is to be read ahead."""
    return READ_AT_ONCE_CHARS < len(line) <= MAX_LINE_BYTES


def parse_shell(line: str) -> ParsedLine:
    """Every simple command that ``line`` would run, also those inside ``sh -c``, ``sudo``, ``$(…)`` and their like."""
    if not is_long(line):
        return _recent(line) if len(line) <= MAX_LINE_BYTES else _TOO_LONG
    return _read_ahead.get(line) or _read_ahead.put(line, _parsed(line))


def known_line(line: str) -> ParsedLine | None:
    """The same for who must not wait: None where the line is long and ``parse_shell`` has not read it lately."""
    return _read_ahead.get(line) if is_long(line) else parse_shell(line)


def _parsed(line: str) -> ParsedLine:
    reader = LineReader()
    reader.read(line, ShellPlace())
    return reader.line()


_recent: Final = lru_cache(maxsize=_RECENT)(_parsed)
_read_ahead: Final[AnswerCache[str, ParsedLine]] = AnswerCache(_RECENT)
_TOO_LONG: Final = ParsedLine(commands=(), complete=False, problem=f"longer than {MAX_LINE_BYTES} bytes")
