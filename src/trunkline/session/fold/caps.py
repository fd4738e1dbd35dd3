"""Caps: how much a session may spend, and the moments when it comes near its limit or reaches it.

Rule 1: pure. What was spent arrives with the call.
Rule 2: a crossing is reported once: it lies between two states, so who compares neighbours finds each of them once.
"""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from trunkline.dialects.outside import Whole

CapName = Literal["tokens", "cost", "minutes", "turns"]
CAP_NAMES: tuple[CapName, ...] = ("tokens", "cost", "minutes", "turns")
SHARES: tuple[float, ...] = (0.8, 1.0)
"""At 80 % somebody is warned; at 100 % the session pauses and asks."""

_SPOKEN: dict[CapName, tuple[str, str, str]] = {
    "tokens": ("used", "token", "tokens"), "cost": ("spent", "", ""), "minutes": ("worked for", "minute", "minutes"),
    "turns": ("taken", "turn", "turns")}
"""What is done with a cap, and the names of one and of many of what it counts; money has its currency."""


class Caps(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """The limits of a session; what is absent has none. ``cost`` is in the currency that the agent reports."""

    tokens: Whole | None = None
    cost: float | None = None
    minutes: float | None = None
    turns: Whole | None = None

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

    def in_words(self, currency: str = "") -> str:
        """What the session did with its cap, for people, after "the session has"."""
        done, one, many = _SPOKEN[self.cap]
        spent = _number(self.spent)
        unit = currency if self.cap == "cost" else one if spent == "1" else many
        return " ".join(filter(None, (done, spent, unit, f"(the limit is {_number(self.limit)})")))


def _crossings(name: CapName, limit: float, before: float, after: float) -> list[Crossing]:
    return [Crossing(name, share, after, limit) for share in SHARES if before < share * limit <= after]


def _number(value: float) -> str:
    """As people write it: no exponent, and no digits that say nothing."""
    return f"{value:.4f}".rstrip("0").rstrip(".")
