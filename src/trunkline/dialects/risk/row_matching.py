"""What is known of programs, as rows: program, sub-command, options, effect, level, reason.

Rule 1: of the rows of a program the first that fits is noted, and no other. A row of level low fits and notes nothing.
Rule 2: every row has an example, and a test judges it: a row that another one hides is found there.
Rule 3: what a row cannot say is code, beside the rows of that program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.risk.call import ProgramCall, Trait

_EFFECTS: Final = {"secret": Trait.SECRET, "sends": Trait.SENDS, "fetches": Trait.FETCHES, "decodes": Trait.DECODES,
                   "executes": Trait.EXECUTES}


class Row(NamedTuple):
    """One thing that a program does."""

    verbs: frozenset[str]
    """Its sub-commands; empty: any."""
    level: RiskLevel
    reason: str
    example: str
    given: tuple[str, ...] = ()
    """Any of these options; empty: with any or none."""
    unless: tuple[str, ...] = ()
    """None of these options."""
    then: frozenset[str] | None = None
    """The word behind the sub-command is one of these; an empty text stands for none; None: whatever it is."""
    word: re.Pattern[str] | None = None
    """Any further word is like this."""
    traits: int = Trait.NONE

    def fits(self, verb: str, words: Sequence[str], has: Callable[..., bool]) -> bool:
        """Whether this row is about a call: its sub-command, the words behind that, and how to ask for its options."""
        if self.verbs and verb not in self.verbs:
            return False
        if self.then is not None and next((word for word in words if word[:1] != "-"), "") not in self.then:
            return False
        if self.given and not _has(has, self.given):
            return False
        if self.unless and _has(has, self.unless):
            return False
        return self.word is None or any([self.word.search(word) for word in words])


def row(verbs: str, level: RiskLevel, reason: str, example: str, given: str = "", unless: str = "", then: str | None = None,
        word: str = "", effect: str = "") -> Row:
    """A row of a table; lists are words with blanks between them."""
    traits = 0
    for name in effect.split():
        traits |= _EFFECTS[name]
    behind = None if then is None else frozenset(then.split()) or frozenset({""})
    return Row(frozenset(verbs.split()), level, reason, example, tuple(given.split()), tuple(unless.split()), behind,
               re.compile(word) if word else None, traits)


def by_verb(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows by sub-command, in their order; those for any sub-command are under an empty one."""
    found: dict[str, list[Row]] = {}
    for one in rows:
        for verb in one.verbs or ("",):
            found.setdefault(verb, []).append(one)
    return found


def note_row(call: ProgramCall, rows: Iterable[Row], verb: str, words: Sequence[str], has: Callable[..., bool]) -> bool:
    """Note the first row that fits; whether there was one."""
    for one in rows:
        if one.fits(verb, words, has):
            call.traits |= one.traits
            if one.level != "low":
                call.note(one.level, one.reason, call.command.text)
            return True
    return False


def judge_of(rows: Sequence[Row]) -> Callable[[ProgramCall], None]:
    """A judge that goes by rows alone: the first operand is the sub-command."""

    def judge(call: ProgramCall) -> None:
        verb = call.operands[0] if call.operands else ""
        note_row(call, rows, verb, (*call.operands[1:], *call.args), call.has)

    return judge


def _has(has: Callable[..., bool], options: tuple[str, ...]) -> bool:
    letters = "".join([option[1:] for option in options if option[1:2] != "-"])
    return has(letters, *[option for option in options if option[1:2] == "-"])
