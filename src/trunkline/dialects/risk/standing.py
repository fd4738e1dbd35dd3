"""Where each command of a line stands: ``cd`` moves what follows in the same shell, and no other.

Rule 1: a variable that the line itself sets is followed, however it sets it. Which of its values it has at a place is not asked:
a loop, a condition and a shell of its own decide that, so the worst of them counts. What only the run knows is nowhere in
particular.
Rule 2: bounded: so many folders are kept to go back to, and so many values of a name are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.places import Places
from trunkline.dialects.shell import MOVING, OPEN, Binding, SimpleCommand, Values
from trunkline.dialects.shell.bindings import BINDERS

_BACK: Final = 16
_OF_PROJECT: Final = frozenset(("$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`"))
"""The project, whatever folder of it the session has."""

Scope = tuple[int, ...]


class Standing:
    """Goes through a line, command by command."""

    def __init__(self, places: Places, bound: Sequence[Binding] = (), *, moves: bool = False) -> None:
        self._where: dict[Scope, Places] = {(): places}
        self._before: dict[Scope, Places] = {}
        self._pushed: dict[Scope, list[Places]] = {}
        self.values = Values(bound, moves=moves)
        self._trusts_git = not any(one.name == "git()" or one.name.startswith("GIT_") for one in bound)

    def at(self, scope: Scope) -> Places:
        """Where a command in this shell stands: where its own shell went, else where the shell around it was."""
        found = self._where.get(scope)
        if found is not None:
            return found
        outer = scope[:-1]
        while outer not in self._where:
            outer = outer[:-1]
        found = self._where[scope] = self._where[outer]
        return found

    def begin(self, scope: Scope, places: Places) -> None:
        """What runs in this shell was started elsewhere, unless the shell has gone somewhere already."""
        self._where.setdefault(scope, places)

    def follow(self, call: ProgramCall) -> None:
        """Take in what a command does to those behind it."""
        if call.name in MOVING:
            self._move(call)

    def possible(self, path: str) -> list[str]:
        """What a path with a variable in it may be: once for each value that the line gives it, and as it is written where it may
        have another."""
        return self.values.spelled(path)

    def settled(self, command: SimpleCommand) -> SimpleCommand:
        """A command with the paths outside that the line puts into its words by variables. Other values are left as they are
        written: who does not know them judges no milder."""
        if not self.values.are_bound or None not in command.words[1:] or command.name in MOVING or command.name in BINDERS:
            return command
        here = self.at(command.scope)
        words = (*command.sketch[:1], *[self._foreign(here, word) or word for word in command.sketch[1:]])
        return command if words == command.sketch else structs.replace(command, sketch=words)

    def _foreign(self, here: Places, word: str) -> str | None:
        """The first path outside that a word with a variable may be."""
        found = self.possible(word) if "$" in word else ()
        return next((one for one in found if one != word and (here.is_foreign(one) or OPEN in one)), None)

    def _move(self, call: ProgramCall) -> None:
        scope, here = call.command.scope, call.places
        stack = self._pushed.setdefault(scope, [])
        operand = call.operands[0] if call.operands else "~"
        stays = "-n" in call.options
        if call.name == "popd":
            there = stack.pop() if stack else here
        elif operand == "-":
            there = self._before.get(scope) or here.moved(None)
        else:
            there = self._gone(here, operand, is_known=call.command.words[-1] is not None)
        if call.name == "pushd":
            stack.append(there if stays else here)
            del stack[:-_BACK]
        if not (stays and call.name in ("pushd", "popd")):
            self._before[scope], self._where[scope] = here, there

    def _gone(self, here: Places, operand: str, *, is_known: bool) -> Places:
        if operand.strip("\"'") in _OF_PROJECT and self._trusts_git:
            return here
        folders = self.possible(operand)
        foreign = self._foreign(here, operand)
        if foreign is not None or operand not in folders:
            return here.moved(foreign if foreign is not None else folders[-1])
        return here.moved(operand if is_known or operand.startswith(("$HOME", "${HOME}", "~")) else None)
