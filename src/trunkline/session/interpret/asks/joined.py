"""Permissions under an id that is no call's: some agents ask under one and report under another, or report nothing.

Rule: what was asked is joined to the call that it was about for people to see, no more. A join grants nothing and denies nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from trunkline.session.fold import OpenCall
from trunkline.session.interpret.calls.facts import Facts
from trunkline.session.interpret.effects.changes import CHANGING

NEAR_CALLS = 64
"""Calls that are looked back through for the one that was asked about."""


def joined_to(asked: OpenCall, newest_first: Iterable[OpenCall], facts_of: Callable[[OpenCall], Facts]) -> OpenCall | None:
    """The agent's own call that a permission was about: of the same input, command or file; None where none is."""
    about = facts_of(asked)
    for call in islice(newest_first, NEAR_CALLS):
        if call is not asked and call.counted and _is_same(about, facts_of(call)):
            return call
    return None


def _is_same(asked: Facts, made: Facts) -> bool:
    if asked.state.raw_input is not None and asked.state.raw_input == made.state.raw_input:
        return True
    if asked.command or made.command:
        return asked.command == made.command
    changes = asked.role == made.role or {asked.role, made.role} <= CHANGING
    return changes and bool(set(_paths(asked)) & set(_paths(made)))


def _paths(facts: Facts) -> list[str]:
    return facts.paths or [facts.absolute(diff.path) for diff in facts.evidence.diffs]
