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

from trunkline.dialects.shell.engine import READS_POSSESSIVE
from trunkline.dialects.shell.syntax import Redirect
from trunkline.dialects.shell.words import Word

_VARIABLE: Final = r"\$[A-Za-z_]\w*+"
_ANY_WORD: Final = rf"(?>(?:[\w./=:,@%+~^-]|{_VARIABLE})++|'[^']*+'|\"(?:[^\"$`\\]|{_VARIABLE})*+\")"
_WORD: Final = rf"(?!=|-(?:\s|$)){_ANY_WORD}"
_NAME: Final = r"(?=[\w./])[\w./+-]++"
_END: Final = r"(?=[\s;|&]|$)"
_VALUE: Final = rf"(?>{_VARIABLE}|[\w./=:,@%+~^-]++|'[^']*+'|\"(?:[^\"$`\\]|{_VARIABLE})*+\")"
_ASSIGNMENT: Final = rf"[A-Za-z_]\w*+=(?:{_VALUE}{_END}|(?=[\s;]|$))[ \t]*+"
_REDIRECT: Final = rf"[0-9]?(?:>>?+[ \t]*+{_WORD}|<[ \t]*+{_WORD}|>&[0-9]){_END}"
_COMMAND: Final = re.compile(
    rf"[ \t\n]*+((?:{_ASSIGNMENT})*+)((?:{_NAME}{_END}(?:[ \t]++{_WORD}{_END})*+)?+)((?:[ \t]++{_REDIRECT})*+)"
    r"[ \t]*+(&&|\|\||[;|&\n]|$)", re.ASCII)  # fmt: skip
_WORDS: Final = re.compile(_ANY_WORD, re.ASCII)
_ONE_REDIRECT: Final = re.compile(rf"([0-9]?)(>>|>&|[<>])[ \t]*+({_WORD})", re.ASCII)
_ONE_ASSIGNMENT: Final = re.compile(rf"([A-Za-z_]\w*+=)((?:{_VALUE})?+)", re.ASCII)
_GRAMMATICAL: Final = frozenset(
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
        return [_word(word) for word in _WORDS.findall(self.text)]


def plain_line(text: str) -> list[PlainCommand] | None:
    """The commands of a line that needs no grammar; None: it does."""
    if not READS_POSSESSIVE or not text.isascii() or "IFS" in text or "\\" in text or "`" in text:
        return None
    quoted = "'" in text or '"' in text or "$" in text
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
        if quoted and ("'" in written or '"' in written or "$" in written):
            written, values, sketch = _read(written)
        else:
            sketch = tuple(written.split())
            written, values = " ".join(sketch), sketch
        if values and values[0] in _GRAMMATICAL:
            return None
        if redirected and ended_by == "|" and before == "|":
            return None  # the grammar makes a pipeline in a pipeline of it
        commands.append(PlainCommand(written, values, sketch, _redirects(redirected) if redirected else (),
                                     _assignments(assigned) if assigned else (), ended_by))
        at, before = found.end(), ended_by
    return None if ended_by in _JOINERS else commands


_Read = tuple[str, tuple[str | None, ...], tuple[str, ...]]
"""The words of a command: as written, without quotes (None where they are dynamic), and as they can be shown."""


def _read(written: str) -> _Read:
    parts = _WORDS.findall(written)
    words = [_word(part) for part in parts]
    return " ".join(parts), tuple([word.value for word in words]), tuple([word.sketch for word in words])


@lru_cache(maxsize=4096)
def _word(written: str) -> Word:
    bare = written[1:-1] if written[0] in "'\"" else written
    return Word(None if "$" in bare and written[0] != "'" else bare, bare, written)


def _redirects(written: str) -> tuple[Redirect, ...]:
    return tuple([Redirect(operator, word.value, word.sketch, descriptor)
                  for descriptor, operator, target in _ONE_REDIRECT.findall(written) for word in (_word(target),)])


def _assignments(written: str) -> tuple[str, ...]:
    return tuple([name + (_word(value).sketch if value else "") for name, value in _ONE_ASSIGNMENT.findall(written)])
