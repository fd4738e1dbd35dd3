"""What a text with variables in it may be: every value that its line gives them, and what nearly everybody's environment has.

Rule 1: pure. Which value a name has at a place is not asked: a loop, a condition and a shell of its own decide that.
Rule 2: what stays open is seen to be open: a variable that nobody knows stands as it is written, and one that may also have
another value than those that are known as OPEN.
Rule 3: bounded: VALUES of one name, STEPS in all; a text with more stays as it is written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from trunkline.dialects.shell.bindings import UNKNOWN_VALUE
from trunkline.dialects.shell.syntax import Binding, SimpleCommand

MOVING: Final = frozenset(("cd", "pushd", "popd", "chdir"))
"""What takes the line to another folder."""
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


_HERE: Final = re.compile(r"\$\{?(?:OLD)?PWD\b|(?:\$\(|`)\s{0,9}pwd\b|^~[-+]")
"""What stands for the folder that a line is in where it is written."""
_ELEMENT: Final = re.compile(r"\[[^\[\]]{0,200}\]\+?=")
_WILD: Final = frozenset("{*?[")


def goes_elsewhere(commands: Sequence[SimpleCommand]) -> bool:
    """Whether a line goes to another folder anywhere."""
    return any(one.name in MOVING for one in commands)


class Values:
    """The values of the names of one line. ``moves``: it goes to other folders, so that what it keeps of where it is may be
    another folder where it is used."""

    def __init__(self, bound: Sequence[Binding] = (), user: str = "", *, moves: bool = False) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._user = user
        self._moves = moves
        self._told = {one.name for one in bound}
        for one in bound:
            name, index, _ = one.name.partition("[")
            before = self._known.get(name) or (("~",) if name == "HOME" else ())
            values = [*self._given(one), *([OPEN] if index else ())]
            self._known[name] = (*before, *(value for value in dict.fromkeys(values) if value not in before))

    def _given(self, one: Binding) -> list[str]:
        """What a name is given. Of a list the first is meant by the name alone, and which that is others may decide."""
        text = one.value if one.value is not None else one.sketch
        if text[:1] == "(":
            return self._listed(text)
        if self._moves and _HERE.search(text):
            return [OPEN]
        return [one.value if one.value is not None else self._written(one.sketch)]

    def _listed(self, text: str) -> list[str]:
        if any(sign in text for sign in _OPEN_SIGNS):
            return [OPEN]
        try:
            words = shlex.split(text.removeprefix("(").removesuffix(")"))
        except ValueError:
            return [OPEN]
        values = [self._written(_ELEMENT.sub("", word, count=1)) for word in words[:VALUES]]
        is_open = len(words) > VALUES or any(not _WILD.isdisjoint(word) or _HERE.search(word) for word in values)
        return [*values, OPEN] if is_open or not values else values

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

    def spelled(self, text: str) -> list[str]:
        """The same; where a value is open, the text as it is written, for who knows what its variable usually is. A line that
        sets the folder for temporary files itself may mean any by it."""
        found = self.possible(text)
        is_own = "TMPDIR" in self._told and text.lstrip("\"").startswith(("$TMPDIR", "${TMPDIR"))
        return [text if OPEN in one and not is_own else one for one in found]

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
