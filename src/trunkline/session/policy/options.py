"""Options that change what is run, held against the pattern that allows the rest of a command.

A pattern with ``*`` covers further words. It does not cover an option that names other code to run (``pytest -p x``,
``make -f x``): who writes ``pytest*`` has the project's tests in mind. A pattern that has the option in it covers it, as often as
it has it.

Rule 1: pure. Which options those are says ``risk/runners/table.py``.
Rule 2: an option that only says which folder or file of the project is worked in is covered where that is inside the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trunkline.session.policy import globs
from trunkline.session.policy.hidden import code_of_unknown

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand


def changing(command: SimpleCommand, root: str, base: str, home: str | None) -> tuple[str, ...]:
    """The options of a command that change what is run, each as often as it is given."""
    from trunkline.dialects.risk.runners.changing import changing_options  # as heavy as the parser

    named = (one.name for one in changing_options(command)
             if one.folder is None or not _is_inside(one.folder, root, base, home))
    return (*named, *(one.option for one in code_of_unknown(command)))


def _is_inside(folder: str, root: str, base: str, home: str | None) -> bool:
    """Whether a value is beyond doubt a place inside the root."""
    return bool(folder) and not any(sign in folder for sign in "$`*?[") and globs.place(folder, root, home, base).inside


def unnamed(pattern: str, options: Iterable[str]) -> str:
    """The first of these options that a pattern does not have in it, or nothing. One without wildcards has all that it says."""
    wanted = Counter(options)
    if not wanted or globs.literal_text(pattern) is not None:
        return ""
    words = pattern.split()
    return next((option for option, times in wanted.items() if sum(_names(word, option) for word in words) < times), "")


def _names(word: str, option: str) -> bool:
    """Whether a word of a pattern is this option: ``--config``, ``--config=x``, ``-px``, ``SHELL=x``."""
    if option.endswith("="):
        return word.startswith(option)
    if word.rstrip("*") == option or word.startswith((f"{option}=", f"{option}:")):
        return True
    return len(option) == 2 and option[0] == "-" and word.startswith(option)
