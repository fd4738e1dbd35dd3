"""The options of python, read as python reads them: short ones in bundles, values joined (``-Bmpip``) or apart (``-W error``).

Rule: one reading for everybody. Whoever looks for a module or for code asks here, or looks at words that were taken apart here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import structs

from trunkline.dialects.shell.syntax import SimpleCommand

_PYTHON: Final = re.compile(r"(?:i?python|pypy)w?[\d.]{0,12}t?(?:-[\w.]{1,20})?(?:\.exe)?|pyw?(?:\.exe)?", re.IGNORECASE)
_TAKING: Final = "mcWXQ"
"""Letters whose value is the rest of the word, or the next one."""
_ENDING: Final = "mc"
"""Of these: behind their value, the words are the program's own."""
_LONG_TAKING: Final = ("--check-hash-based-pycs",)
_WORDS: Final = 64
"""Options that are looked at."""


@lru_cache(maxsize=512)
def is_python(name: str | None) -> bool:
    """Whether a program is a python, of whatever version."""
    return name is not None and name[:1] in ("p", "P", "i", "I") and _PYTHON.fullmatch(name) is not None


def apart(command: SimpleCommand) -> SimpleCommand:
    """A python with the option that says what it runs in a word of its own: ``-Bmpip`` is ``-B -m pip``; others as they are."""
    if len(command.words) < 2 or not is_python(command.name):
        return command
    at, cut = _deciding(command.sketch)
    word = command.sketch[at] if at else ""
    if not at or len(word) == 2:
        return command
    value = word[cut + 1:]
    split = [*([word[:cut]] if cut > 1 else []), f"-{word[cut]}"]
    ends: list[str] = [value] if value else []
    known: list[str | None] = [value if command.words[at] is not None else None] if value else []
    return structs.replace(command, words=(*command.words[:at], *split, *known, *command.words[at + 1:]),
                           sketch=(*command.sketch[:at], *split, *ends, *command.sketch[at + 1:]))


def module_at(command: SimpleCommand) -> int:
    """Where the module's name is in the words of a python that were taken apart; 0: it runs none."""
    if len(command.words) < 3 or not is_python(command.name):
        return 0
    at, cut = _deciding(command.sketch)
    return at + 1 if at and command.sketch[at][cut] == "m" and at + 1 < len(command.words) else 0


def _deciding(words: tuple[str, ...]) -> tuple[int, int]:
    """The word with ``-m`` or ``-c``, and the letter's place in it; noughts where a script, or the input, is what is run."""
    at = 1
    while at < min(len(words), _WORDS):
        word = words[at]
        if word[:1] != "-" or word in ("-", "--"):
            break
        at += 1
        if word[:2] == "--":
            at += word in _LONG_TAKING
            continue
        cut = next((place for place, letter in enumerate(word) if letter in _TAKING), 0)
        if cut and word[cut] in _ENDING:
            return at - 1, cut
        at += cut > 0 and cut == len(word) - 1
    return 0, 0
