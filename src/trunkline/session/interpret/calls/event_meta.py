"""A call's input and risk as its events carry them, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.context.types import as_object
from trunkline.session.interpret.writer import TEXT_LIMIT


def shown_input(state: CallState) -> msgspec.Raw:
    """A call's input as events carry it; one that no event could carry is left out (``cut_input`` says so)."""
    return as_object(None if cut_input(state) else state.raw_input)


def cut_input(state: CallState) -> dict[str, Any]:
    """What ``_meta`` says where the input is too long for an event; the whole is in the update."""
    size = len(state.raw_input or b"")
    return {"truncated": {"bytes": size}} if size > TEXT_LIMIT else {}


def risk_meta(reason: str, doubts: Sequence[str]) -> dict[str, Any]:
    """What ``_meta.risk`` says beside the level."""
    return {"reason": reason, **({"sure": False, "doubts": list(doubts)} if doubts else {})}
