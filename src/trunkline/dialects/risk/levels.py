"""How dangerous something is, and why: the values that everything here deals in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from trunkline.dialects.context.types import RiskLevel

LEVELS: Final[tuple[RiskLevel, ...]] = ("low", "medium", "high", "critical")
_RANK: Final = {level: rank for rank, level in enumerate(LEVELS)}
_MAX_PARTS: Final = 8


class Finding(Struct, frozen=True, gc=False):
    """One thing that was noticed."""

    level: RiskLevel
    reason: str
    unsure: bool = False
    """It may be worse: where it changes something, or what its code does, is known only when it runs."""


class Risk(Struct, frozen=True):
    """The level of a tool call, the worst thing about it, and everything else that was noticed."""

    level: RiskLevel
    reason: str
    parts: tuple[str, ...] = ()
    unsure: str = ""
    """What of it is known only when it runs: no allow rule covers that but one that names the command."""


def rank(level: RiskLevel) -> int:
    """0 for low to 3 for critical, to compare levels."""
    return _RANK[level]


def worst(findings: Iterable[Finding], otherwise: str) -> Risk:
    """The risk of all findings together; ``otherwise`` is the reason when there are none."""
    unique = list(dict.fromkeys(findings))
    if not unique:
        return Risk(level="low", reason=otherwise)
    listed: list[Finding] = []
    for level in reversed(LEVELS):
        listed.extend([finding for finding in unique if finding.level == level])
        if len(listed) >= _MAX_PARTS:
            break
    unsure = next((finding.reason for finding in unique if finding.unsure), "")
    return Risk(listed[0].level, listed[0].reason, tuple([finding.reason for finding in listed[:_MAX_PARTS]]), unsure)
