"""What a text with variables in it may be: every value that its line gives them, and what nearly everybody's environment has.

Rule 1: pure. Which value a name has at a place is not asked: a loop, a condition and a shell of its own decide that.
Rule 2: what stays open is seen to be open: a variable that nobody knows stands as it is written, and one that may also have
another value than those that are known as OPEN.
Rule 3: bounded: VALUES of one name, STEPS in all; a text with more stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trunkline.dialects.shell.bindings import UNKNOWN_VALUE
from trunkline.dialects.shell.syntax import Binding

OPEN: Final = "$\N{HORIZONTAL ELLIPSIS}"
"""A value that only the run knows."""
VALUES: Final = 8
"""Values of one name that are looked at; one with more may have any."""
STEPS: Final = 64
"""Variables of one text, and of the values in it, that are put in their places."""

_VARIABLE: Final = re.compile(r"\$(?:\{(\w{1,80})(?::?[-=+]([^{}$`]{0,200}))?\}|(\w{1,80}))(?!\w)")
_OPEN_SIGNS: Final = ("$(", "`", UNKNOWN_VALUE)
_ENVIRONMENT: Final[dict[str, tuple[str, ...]]] = {
    "HOME": ("~",),
    "PWD": (".",),
    "OLDPWD": ("~-",),
    **dict.fromkeys(("RANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "UID", "EUID", "PPID", "SHLVL"), ("0",)),
    "XDG_DATA_HOME": ("~/.local/share", OPEN),
    "XDG_CONFIG_HOME": ("~/.config", OPEN),
    "XDG_STATE_HOME": ("~/.local/state", OPEN),
    "XDG_CACHE_HOME": ("~/.cache", OPEN),
    "XDG_BIN_HOME": ("~/.local/bin", OPEN),
}
"""What a name has that the line does not set."""
_PRINTED: Final = re.compile(
    r"(?:\$\(|`)\s?(?:(?P<mktemp>mktemp(?: -d)?)|(?P<pwd>pwd)|(?P<git>git rev-parse --git-(?:common-)?dir)"
    r"|(?P<date>date(?: -u)?(?: [\"']?\+[\w%:+-]*[\"']?)?))\s?[)`]")
"""Substitutions of which everybody knows what they print."""
_STANDS_FOR: Final = {"mktemp": "/tmp/made", "pwd": ".", "git": ".git", "date": "0"}


class Values:
    """The values of the names of one line."""

    def __init__(self, bound: Sequence[Binding] = (), user: str = "") -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._user = user
        self._told = {one.name for one in bound}
        for one in bound:
            value = one.value if one.value is not None else self._written(one.sketch)
            before = self._known.get(one.name) or (("~",) if one.name == "HOME" else ())
            self._known[one.name] = before if value in before else (*before, value)

    @property
    def are_bound(self) -> bool:
        """Whether the line sets a name at all."""
        return bool(self._told)

    def possible(self, text: str) -> list[str]:
        """What a text may be, the text itself where nothing is known of it."""
        if "$" not in text and "`" not in text:
            return [text]
        found: dict[str, None] = {}
        waiting, steps = [self._printed(text)], 0
        while waiting:
            one = waiting.pop()
            steps += 1
            more = self._replaced(one) if steps <= STEPS else [OPEN]
            if steps <= STEPS and more:
                waiting += reversed(more)
            else:
                found[one if steps <= STEPS else text] = None
        return list(found)

    def _replaced(self, text: str) -> list[str]:
        """A text with each value of the first variable in it that has any."""
        for one in _VARIABLE.finditer(text):
            values = self._of(one[1] or one[3], one[2])
            if values:
                return [f"{text[:one.start()]}{value}{text[one.end():]}" for value in values]
        return []

    def _of(self, name: str, default: str | None) -> tuple[str, ...]:
        values = self._known.get(name) or _ENVIRONMENT.get(name, ())
        if not values and self._user and name in ("USER", "LOGNAME"):
            values = (self._user,)
        if default is not None:
            values = (*(values or (OPEN,)), default)
        return values if len(values) <= VALUES else (*values[:VALUES], OPEN)

    def _printed(self, text: str) -> str:
        """A text with what is printed in the place of the substitutions that everybody knows."""
        text = text.replace("$$", "0")
        if "$(" not in text and "`" not in text:
            return text
        return _PRINTED.sub(self._prints, text)

    def _prints(self, found: re.Match[str]) -> str:
        name = found.lastgroup or ""
        is_other = any(one == f"{name}()" or one.startswith(("GIT_", "TMP", "PATH")) for one in self._told)
        return found[0] if is_other else _STANDS_FOR[name]

    def _written(self, sketch: str) -> str:
        """A value as it is written, where its variables may be known; else OPEN."""
        value = self._printed(sketch)
        return value if value and not any(sign in value for sign in _OPEN_SIGNS) else OPEN
