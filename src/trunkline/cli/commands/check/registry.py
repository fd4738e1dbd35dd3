"""Cases in the order in which they are written: ``@case("INIT-001", "must", "…")`` puts a function on the list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from trunkline.cli.commands.check.examinee import Examinee, Failed

Tier = Literal["must", "offered", "advice"]
"""What every agent must do; what it must do if it offers it; what is good to do."""

Run = Callable[[Examinee], Awaitable[None]]


class Case(NamedTuple):
    """One thing that an agent must do."""

    id: str
    tier: Tier
    what: str
    run: Run


CASES: list[Case] = []


def case(id: str, tier: Tier, what: str) -> Callable[[Run], Run]:
    """Put a function on the list."""

    def add(run: Run) -> Run:
        CASES.append(Case(id, tier, what, run))
        return run

    return add


def need(fact: object, why: str) -> None:
    """Failed, unless it is so."""
    if not fact:
        raise Failed(why)
