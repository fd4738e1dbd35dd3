"""Permission: what the agent offers, what a person answers, and which offer fits a plain yes or no.

Rule 1: an answer names an option by its id. Options are distinguished by kind and id, never by position or name.
Rule 2: an option of a kind that the schema does not have is kept: a person may choose it by its name, but it is never what a yes
means. The schema has no word for it, so it is read as a rejection that says in ``_meta`` what it was; to us it is OTHER.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeVar

import msgspec

from trunkline.dialects import signals
from trunkline.dialects.acp.shape import Meta, Shape
from trunkline.dialects.visible import one_revealed_line

PermissionOptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
OTHER: Final = "other"
UNKNOWN_KIND: Final = "trunkline.unknownKind"
"""In ``_meta`` of an option: the kind that it came with."""
QUOTED_CHARS: Final = 60
"""Characters of an option's id that a message quotes; the ids of all known agents are shorter."""

AnyOption = TypeVar("AnyOption", bound=signals.PermissionOption)


class PermissionOption(signals.PermissionOption, frozen=True, kw_only=True):
    """One answer that the agent offers."""

    kind: PermissionOptionKind
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class SelectedOutcome(Shape, frozen=True, kw_only=True, tag_field="outcome", tag="selected"):
    """The person chose an option."""

    option_id: str


class CancelledOutcome(Shape, frozen=True, kw_only=True, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled before anybody chose."""


RequestPermissionOutcome = SelectedOutcome | CancelledOutcome

_PREFERENCE: dict[bool, tuple[str, str]] = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}

_ABORTING = ("cancel", "abort")
"""Ids of rejections that end the whole turn; where a milder one of the same kind is offered, that is meant by "no"."""


def offered_kind(option: PermissionOption) -> str:
    """The kind that an option counts as."""
    return OTHER if UNKNOWN_KIND in (option.meta or {}) else option.kind


def quoted_id(option_id: str) -> str:
    """An option's id in a message of ours: in a line, and no longer than an id is, for it is the agent's text and might be made
    to read like ours."""
    line = one_revealed_line(option_id)
    return line if len(line) <= QUOTED_CHARS else f"{line[:QUOTED_CHARS]}…"


def is_other(options: Sequence[signals.PermissionOption], option_id: object) -> bool:
    """Whether an offer is of a kind that we do not know: what it lets the agent do is the agent's own."""
    return any(option.kind == OTHER for option in options if option.option_id == option_id)


def option_ends_turn(options: Sequence[signals.PermissionOption], option_id: object) -> bool:
    """Whether an offer is more than a no: it ends the whole turn, where a milder one is offered."""
    chosen = next((option for option in options if option.option_id == option_id), None)
    return (chosen is not None and chosen.option_id in _ABORTING and chosen.kind.startswith("reject")
            and chosen != choose_option(options, allow=False))


def choose_option(options: Sequence[AnyOption], *, allow: bool) -> AnyOption | None:
    """The offer that a plain yes or no means: once rather than always; None when nothing fits, then cancel."""
    for kind in _PREFERENCE[allow]:
        fitting = [option for option in options if option.kind == kind]
        if fitting:
            return next((option for option in fitting if option.option_id not in _ABORTING), fitting[0])
    return None
