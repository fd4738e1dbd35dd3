"""How much harm a call can do, by its kind; takes the place of ``dialects.risk`` until that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trunkline.dialects import context

_RISK_OF_KIND: dict[str, context.RiskLevel] = {
    "read": "low", "search": "low", "think": "low", "fetch": "low", "switch_mode": "low", "delete": "high",
}


class Risk(msgspec.Struct, frozen=True):
    """A level and its reason."""

    level: context.RiskLevel
    reason: str


def explain_risk(name: str, input: Mapping[str, Any] | None, *, cwd: str | None = None, roots: Sequence[str] = (),
                 home: str | None = None, kind: str | None = None) -> Risk:
    """A first guess, by kind alone."""
    return Risk(_RISK_OF_KIND.get(kind or "", "medium"), f"a call of kind {kind}")
