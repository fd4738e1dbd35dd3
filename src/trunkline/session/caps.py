"""Caps: how much a session may spend, and the moments when it comes near its limit or reaches it.

Rule 1: pure. What was spent arrives with the call.
Rule 2: a crossing is told once: it lies between two states, so who compares neighbours hears each of them once.
"""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

CapName = Literal["tokens", "cost", "minutes", "turns"]
CAP_NAMES: tuple[CapName, ...] = ("tokens", "cost", "minutes", "turns")
SHARES: tuple[float, ...] = (0.8, 1.0)
"""At 80 % somebody is told; at 100 % the session pauses and asks."""


class Caps(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """The limits of a session; what is absent has none. ``cost`` is in the currency that the agent reports."""

    tokens: int | None = None
    cost: float | None = None
    minutes: float | None = None
    turns: int | None = None

    def __post_init__(self) -> None:
        for name in CAP_NAMES:
            limit: float | None = getattr(self, name)
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise ValueError(f"{name}: a cap is a number above zero, or absent for none")

    def crossed(self, before: Spent, after: Spent) -> list[Crossing]:
        """The shares that were reached between two states, in the order of the caps; of one cap only the higher share."""
        found = []
        for name in CAP_NAMES:
            limit: float | None = getattr(self, name)
            if limit is not None:
                found += _crossings(name, limit, getattr(before, name), getattr(after, name))[-1:]
        return found

    def reached(self, spent: Spent) -> list[Crossing]:
        """The caps that are used up."""
        return [one for one in self.crossed(Spent(), spent) if one.share == 1.0]


class Spent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a session has used so far."""

    tokens: int = 0
    cost: float = 0.0
    minutes: float = 0.0
    turns: int = 0


class Crossing(Struct, frozen=True, rename="camel"):
    """A cap of which a share was reached."""

    cap: CapName
    share: float
    spent: float
    limit: float

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.spent:g} of {self.limit:g} {self.cap} ({self.share:.0%} of the cap)"


def crossed(caps: Caps, before: Spent, after: Spent) -> list[Crossing]:
    """``Caps.crossed`` as a function."""
    return caps.crossed(before, after)


def _crossings(name: CapName, limit: float, before: float, after: float) -> list[Crossing]:
    return [Crossing(name, share, after, limit) for share in SHARES if before < share * limit <= after]
