"""An ask in words: how it is described, what "always" would mean, and its event.

Rule: what is offered can be kept. A rule that could not be written, or shown in full, is not offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.calls import DOUBTS
from trunkline.dialects.calls.beside import facts_of, members_beside
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

_encode = msgspec.json.Encoder().encode

OPTION_CHARS: Final = 200
"""Characters of its name that are shown: it is a button."""

ALWAYS_PATHS: Final = 40
"""Paths of an ask that "always" is offered for: each is held against each pattern of the rule, on the loop."""

TOO_LONG: Final = "it is too long"
WHY_CHARS: Final = 200
"""Characters of why there is no "always": a line on a card."""

DESCRIPTION_CHARS: Final = 500
"""Characters of the line that describes several calls: it is a note on a phone, too."""

BESIDE_BYTES: Final = 64 << 10
"""JSON of the members of an input that a packet has beside the acts."""

SAME_IDS: Final = "answers that the agent offers cannot be told apart by their ids, and are left out"


def told_apart(options: Sequence[PermissionOption]) -> tuple[list[PermissionOption], tuple[str, ...]]:
    """The answers that are offered, their names no longer than can be shown, and the doubt where some are left out.

    The agent is answered by an id. Where two answers have the same one and mean something else, nobody knows which of them it
    would take: a no could be its yes. So neither is offered, and who denies cancels. One that is only offered twice counts once.
    """
    kinds: dict[str, set[str]] = {}
    for option in options:
        kinds.setdefault(option.option_id, set()).add(option.kind)
    shown: dict[str, PermissionOption] = {}
    for option in options:
        if len(kinds[option.option_id]) == 1:
            shown.setdefault(option.option_id, PermissionOption(option.option_id, option.name[:OPTION_CHARS], option.kind))
    return list(shown.values()), () if len(shown) == len(kinds) else (SAME_IDS,)


def offered_rule(about: PolicyAsk) -> tuple[Rule | None, str]:
    """The rule that "always" would write; None, and why, where no rule could be about it or be written, or it is more than can be
    shown."""
    if len(about.paths) > ALWAYS_PATHS or BEYOND_RULES in about.paths:
        return None, "it names too many paths"
    if len(about.command or "") + sum(map(len, about.paths)) > TEXT_MOST:
        return None, TOO_LONG  # before a rule is made of it and tried on it: that takes seconds for some megabytes
    try:
        rule = check_rule(always_rule(about, allow=True, scope="always", session_id=about.session_id, turn_id=about.turn_id,
                                      reason=None))
    except Invalid as error:
        return None, _why_none(error, about)
    return (rule, "") if sum(map(len, (*rule.command, *rule.path))) <= TEXT_MOST else (None, TOO_LONG)


def _why_none(error: Invalid, about: PolicyAsk) -> str:
    """In few words, and without where the hub's own files are: whoever may watch reads it."""
    why = str((error.details or {}).get("why") or error.message)
    for folder in sorted(about.guarded, key=len, reverse=True):
        why = why.replace(folder, "files")
    return why[:WHY_CHARS]


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
    if view.no_rule:
        meta["noRule"] = view.no_rule
    if view.editable:
        meta["editable"] = True
    if view.answer_there:
        meta["answerThere"] = True
    return meta


def beside_of(tool_input: Mapping[str, Any], shown: CallPreview, description: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The members of an input that no act shows, and the doubt where not all of them can be shown: then they are given by their
    size, the largest first."""
    members = members_beside(tool_input, msgspec.to_builtins(shown.acts), description)
    sizes = {name: len(_encode(value)) + len(name) for name, value in members.items()}
    too_much = sum(sizes.values()) - BESIDE_BYTES
    for name in sorted(sizes, key=lambda name: -sizes[name]) if too_much > 0 else ():
        members[name] = f"({sizes[name]} bytes, which are not shown)"
        too_much -= sizes[name]
        if too_much <= 0:
            return members, (NOT_ALL,)
    return members, ()


def list_shown(calls: Sequence[AskedCall], inputs: Sequence[Any]) -> CallPreview:
    """Several calls as a list, each with what its line does not say of its input."""
    facts = [_facts_beside(call, given) for call, given in zip(calls, inputs, strict=True)]
    room = TEXT_MOST // 2 // max(len(calls), 1)  # what one of them brings leaves room for the others
    told = [_within(lines, room) for lines in facts]
    text = calls_in_words(calls, told)
    is_cut = (len(text) > TEXT_MOST or told != facts
              or any(call.about is not None and call.command != call.about.command for call in calls))
    return CallPreview((DescriptionPreview(text=text[:TEXT_MOST]),), doubts=(NOT_ALL,) if is_cut else ())


def _facts_beside(call: AskedCall, tool_input: Any) -> list[str]:
    is_told = call.command is not None and call.description.endswith(f": {call.command}")
    return facts_of(members_beside(tool_input, [{"command": call.command}] if is_told else [], call.description))


def _within(lines: list[str], room: int) -> list[str]:
    """As many of the lines as there is room for."""
    for number, line in enumerate(lines):
        room -= len(line)
        if room < 0:
            return [*lines[:number], f"… and {len(lines) - number} more lines of its input"]
    return lines


def describe_all(calls: Sequence[AskedCall]) -> str:
    """Several calls in a line."""
    return f"{len(calls)} calls: {'; '.join(call.description for call in calls)}"[:DESCRIPTION_CHARS]


def doubts_of(abouts: Sequence[PolicyAsk]) -> list[str]:
    return list(dict.fromkeys(doubt for about in abouts for doubt in about.doubts))[:DOUBTS]
