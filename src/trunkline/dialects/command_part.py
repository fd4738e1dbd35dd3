"""A part of a command line, as it is kept and shown.

Apart from the judging in ``dialects/risk``: a hub keeps parts without ever loading what finds them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trunkline.dialects.context.types import RiskLevel

PartKind = Literal["program", "flag", "path", "argument", "operator", "redirect", "string", "variable", "substitution"]


class CommandPart(Struct, frozen=True, gc=False, omit_defaults=True):
    """A part of a line, in characters; a part inside another comes after it. ``risk``: this is what makes it dangerous."""

    start: int
    end: int
    kind: PartKind
    risk: RiskLevel | UnsetType = UNSET
