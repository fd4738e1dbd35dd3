"""An ask in words: how it is described, what "always" would mean, and its event.

Rule: what is offered can be kept. A rule that could not be written, or shown in full, is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.calls import DOUBTS, CallReading
from trunkline.dialects.context.events import ApprovalRequestedEvent
from trunkline.dialects.context.unions import DescriptionPreview
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import Invalid
from trunkline.session.fold import ApprovalView, AskedCall
from trunkline.session.interpret.asks.preview import NOT_ALL, TEXT_MOST, CallPreview
from trunkline.session.interpret.asks.subjects import calls_in_words
from trunkline.session.interpret.calls.event_meta import risk_meta
from trunkline.session.policy.asks import BEYOND_RULES
from trunkline.session.policy.decide import PolicyAsk, Rule, always_rule
from trunkline.session.policy.text import check_rule

OPTION_CHARS: Final = 200
"""Characters of its name that are shown: it is a button."""

ALWAYS_PATHS: Final = 40
"""Paths of an ask that "always" is offered for: each is held against each pattern of the rule, on the loop."""

DESCRIPTION_CHARS: Final = 500
"""Characters of the line that describes several calls: it is a note on a phone, too."""


def shown_options(options: Sequence[PermissionOption]) -> list[PermissionOption]:
    """The answers that are offered, their names no longer than can be shown."""
    return [option if len(option.name) <= OPTION_CHARS else PermissionOption(
        option.option_id, option.name[:OPTION_CHARS], option.kind) for option in options]


def offered_rule(about: PolicyAsk) -> Rule | None:
    """The rule that "always" would write; None where no rule could be about it or be written, or it is more than can be shown."""
    if len(about.paths) > ALWAYS_PATHS or BEYOND_RULES in about.paths:
        return None
    if len(about.command or "") + sum(map(len, about.paths)) > TEXT_MOST:
        return None  # before a rule is made of it and tried on it: that takes seconds for some megabytes
    try:
        rule = check_rule(always_rule(about, allow=True, scope="always", session_id=about.session_id, turn_id=about.turn_id,
                                      reason=None))
    except Invalid:
        return None
    return rule if sum(map(len, (*rule.command, *rule.path))) <= TEXT_MOST else None


def requested_event(view: ApprovalView, beside: dict[str, Any]) -> ApprovalRequestedEvent:
    return ApprovalRequestedEvent(
        request_id=view.request_id, tool_call_id=view.tool_call_id, tool_name=view.tool_name, tool_input=view.tool_input,
        description=view.description, risk_level=view.risk_level,
        expires_at=view.expires_at, preview=view.preview or msgspec.UNSET, meta={**_requested_meta(view), **beside},
    )


def _requested_meta(view: ApprovalView) -> dict[str, Any]:
    meta: dict[str, Any] = {"options": view.options, "title": view.title, "risk": risk_meta(view.risk_reason, view.doubts)}
    if view.calls:
        meta["calls"] = [msgspec.structs.replace(call, about=None) for call in view.calls]
    if view.acts:
        meta["acts"] = view.acts
    if view.in_words:
        meta["inWords"] = True
    if view.disk is not None:
        meta["disk"] = view.disk
    if view.parts:
        meta["parts"] = view.parts
    if view.always is not None:
        meta["always"] = view.always
    if view.editable:
        meta["editable"] = True
    return meta


def describe(reading: CallReading, state: CallState) -> str:
    """The call's line; its title where that has more to say than a tool's name."""
    return reading.description if reading.description != reading.tool else state.title or reading.tool


def list_shown(calls: Sequence[AskedCall]) -> CallPreview:
    """Several calls as a list."""
    text = calls_in_words(calls)
    is_cut = len(text) > TEXT_MOST or any(call.about is not None and call.command != call.about.command for call in calls)
    return CallPreview((DescriptionPreview(text=text[:TEXT_MOST]),), doubts=(NOT_ALL,) if is_cut else ())


def describe_all(calls: Sequence[AskedCall]) -> str:
    """Several calls in a line."""
    return f"{len(calls)} calls: {'; '.join(call.description for call in calls)}"[:DESCRIPTION_CHARS]


def doubts_of(abouts: Sequence[PolicyAsk]) -> list[str]:
    return list(dict.fromkeys(doubt for about in abouts for doubt in about.doubts))[:DOUBTS]
