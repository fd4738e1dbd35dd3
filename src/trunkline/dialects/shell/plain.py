"""Lines that need no grammar: bare words and simple strings, with ``;``, ``&&``, ``||``, ``|``, ``&`` and newlines between them.

Most lines that agents run are such lines, and asking a syntax tree for its nodes costs more than all else.

Rule 1: what is read here is exactly what the grammar would give, number for number. A test holds the two together.
Rule 2: whatever is not plainly one of these forms is not read here at all.
Words that the grammar drops or takes for operators (``==``, ``-``) are left to it, and so to its doubts.
Rule 3: linear. Every repetition in the patterns is possessive.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from trunkline.dialects.shell.engine import compiled
from trunkline.dialects.shell.syntax import Redirect
from trunkline.dialects.shell.words import Word, expanded

_VARIABLE: Final = r"\$[A-Za-z_]\w*+"
_STRING: Final = rf"'[^']*+'|\"(?:[^\"$`\\]|{_VARIABLE})*+\""
_CHARACTERS: Final = r"[\w./=:,@%+~^*?-]"
_BRACED: Final = rf"(?:{_CHARACTERS}*+\{{{_CHARACTERS}*+\}})++{_CHARACTERS}*+"
_ANY_WORD: Final = rf"(?>(?:{_CHARACTERS}|{_VARIABLE})++(?!\{{)|{_BRACED}|{_STRING})"
_WORD: Final = rf"(?!=|-(?:\s|$)){_ANY_WORD}"
_TARGET: Final = rf"(?!=|-(?:\s|$))(?>(?:[\w./=:,@%+~^-]|{_VARIABLE})++|{_STRING})"
_END: Final = r"(?=[\s;|&]|$)"
_TIGHT: Final = r"(?=[A-Za-z_./])[\w./]++(?=[<>])"
"""A redirection follows without a blank. Of other words before it, the grammar takes a part for a descriptor."""
_NAME: Final = rf"(?:(?=[\w./])[\w./+-]++{_END}|{_TIGHT})"
_VALUE: Final = rf"(?>{_VARIABLE}|[\w./=:,@%+~^-]++|{_STRING})"
_ASSIGNMENT: Final = rf"[A-Za-z_]\w*+=(?:{_VALUE}{_END}|(?=[\s;]|$))[ \t]*+"
_REDIRECT: Final = rf"(?:(?:[0-9]?[<>]|&>|[0-9]?>>|&>>)[ \t]*+{_TARGET}|[0-9]?>&[0-9]){_END}"
_COMMAND: Final = compiled(
    rf"[ \t\n]*+((?:{_ASSIGNMENT})*+)((?:{_NAME}(?:[ \t]++(?:{_WORD}{_END}|{_TIGHT}))*+)?+)((?:[ \t]*+{_REDIRECT})*+)"
    r"[ \t]*+(&&|\|\||[;|&\n]|$)", re.ASCII)  # fmt: skip
_WORDS: Final = compiled(_ANY_WORD, re.ASCII)
_ONE_REDIRECT: Final = compiled(rf"([0-9]?)(>>|>&|&>>?|[<>])[ \t]*+({_TARGET})", re.ASCII)
_ONE_ASSIGNMENT: Final = compiled(rf"([A-Za-z_]\w*+=)((?:{_VALUE})?+)", re.ASCII)
GRAMMATICAL: Final = frozenset(
    "if then else elif fi case esac for select while until do done in function time coproc "
    "declare typeset export readonly local unset unsetenv".split()
)
"""First words that make something else of a line than a simple command."""
_JOINERS: Final = frozenset({"&&", "||", "|"})


class PlainCommand(Struct, frozen=True, gc=False):
    """One command of a plain line, and what stands behind it."""

    text: str
    """Its words as they are written, with one blank between them."""
    values: tuple[str | None, ...]
    sketch: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    assignments: tuple[str, ...]
    ended_by: str
    """``;``, a newline, ``&``, ``&&``, ``||``, ``|``, or nothing at the end."""

    def words(self) -> list[Word]:
        """Each word with how it is written."""
        return _words(self.text)


def plain_line(text: str) -> list[PlainCommand] | None:
    """The commands of a line that needs no grammar; None: it does."""
    if not text.isascii() or "IFS" in text or "\\" in text or "`" in text:
        return None
    bare = "'" not in text and '"' not in text and "$" not in text and "{" not in text
    commands: list[PlainCommand] = []
    at, end = 0, len(text)
    before = ended_by = ";"
    while at < end:
        found = _COMMAND.match(text, at)
        if found is None:
            return None
        assigned, written, redirected, ended_by = found.groups()
        if not written and (not assigned or redirected or ended_by == "|" or before == "|"):
            nothing = not (assigned or redirected or ended_by) and commands and before not in _JOINERS
            return commands if nothing else None
        if bare or ("'" not in written and '"' not in written and "$" not in written and "{" not in written):
            sketch = tuple(written.split())
            written, values = " ".join(sketch), sketch
        else:
            written, values, sketch = _read(written)
        if values and values[0] in GRAMMATICAL:
            return None
        if redirected and ended_by == "|" and before in _JOINERS:
            return None  # the grammar makes a pipeline of all before it
        commands.append(PlainCommand(written, values, sketch, _redirects(redirected) if redirected else (),
                                     _assignments(assigned) if assigned else (), ended_by))
        at, before = found.end(), ended_by
    return None if ended_by in _JOINERS else commands


_Read = tuple[str, tuple[str | None, ...], tuple[str, ...]]
"""The words of a command: as written, without quotes (None where they are dynamic), and as they can be shown."""


def _read(written: str) -> _Read:
    words = _words(written)
    return (" ".join([word.written for word in words]), tuple([word.value for word in words]),
            tuple([word.sketch for word in words]))


def _words(written: str) -> list[Word]:
    parts = _WORDS.findall(written)
    if "{" not in written:
        return [_word(part) for part in parts]
    return [word for part in parts for word in
            (expanded(part, False, part) if "{" in part and part[0] not in "'\"" else (_word(part),))]


@lru_cache(maxsize=4096)
def _word(written: str) -> Word:
    quoted = written[0] in "'\""
    bare = written[1:-1] if quoted else written
    return Word(None if "$" in bare and written[0] != "'" else bare, bare, written, not quoted and ("*" in bare or "?" in bare))


def _redirects(written: str) -> tuple[Redirect, ...]:
    return tuple([Redirect(operator, word.value, word.sketch, descriptor)
                  for descriptor, operator, target in _ONE_REDIRECT.findall(written) for word in (_word(target),)])


def _assignments(written: str) -> tuple[str, ...]:
    return tuple([name + (_word(value).sketch if value else "") for name, value in _ONE_ASSIGNMENT.findall(written)])
