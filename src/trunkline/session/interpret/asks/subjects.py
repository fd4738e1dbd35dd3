"""Which calls an ask is about: the one that it describes or, where it says nothing of its own, every call that waits to run.

Some agents put one question for all that they are about to do ("Confirm Agent Actions"), under an id that no call has, or the
same id each time. Whoever answers that answers for all of it.

Rule 1: an ask says something by an input, a path, a change, a command, or as a tool that the agent itself names and that needs
none of these. A title, a kind and a text without a command say nothing.
Rule 2: what waits to run is what the agent announced in this turn and what is neither over nor decided. What works in the
background is asked about by itself.
Rule 3: where nothing waits, it is not known what the ask would do. That is high, and no rule allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.calls import CallReading, ToolRole
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.outside import BROKEN
from trunkline.session.fold import AskedCall, OpenCall
from trunkline.session.policy.decide import PolicyAsk

NOT_KNOWN: Final = "not known what this does"

ASKED_CALLS: Final = 50
"""Calls that one ask may be about: more nobody looks through, and the busiest real turns have some dozens in all."""

SHOWN_PATHS: Final = 20
"""Paths of each of them that a card shows."""

EMPTY_BYTES: Final = 64 << 10
"""An input that is longer has something in it."""

_TAKES_SOMETHING: Final[frozenset[ToolRole]] = frozenset({
    "read", "search", "write", "edit", "patch", "delete", "move", "terminal", "fetch", "web_search", "task"})
"""Roles that do nothing without being given what with: without that, their name says nothing."""
_LEVELS: Final[tuple[RiskLevel, ...]] = ("low", "medium", "high", "critical")


def has_input(state: CallState) -> bool:
    """Whether a call has an input with something in it: records and lists of nothing are none, however they are spelled."""
    raw = state.raw_input
    if raw is None or raw == b"{}":
        return False
    if len(raw) > EMPTY_BYTES:
        return True
    try:
        return is_something(msgspec.json.decode(raw))
    except BROKEN:
        return True


def is_something(value: object) -> bool:
    """Whether there is anything in a value: what has nothing but empty texts, lists and records in it is nothing."""
    if isinstance(value, dict | list):
        return any(map(is_something, value.values() if isinstance(value, dict) else value))
    return bool(value.strip()) if isinstance(value, str) else value is not None


def says_nothing(state: CallState, reading: CallReading) -> bool:
    """Whether nothing is known of what the call would do."""
    if has_input(state) or reading.command is not None or reading.paths or reading.globs or reading.queries or reading.cut:
        return False
    if state.kind == "switch_mode":
        return False
    named = reading.named_by in ("name", "catalog", "meta") or reading.tool.startswith("mcp__")
    return not named or reading.role in _TAKES_SOMETHING


def waiting_calls(calls: Iterable[OpenCall], reading_of: Callable[[OpenCall], CallReading], *,
                  in_background: bool = False) -> list[OpenCall]:
    """The calls that an ask which says nothing is about. One that started another agent runs already, but for a command that it
    brings itself."""
    return [call for call in calls if call.counted and not call.finished and not call.approved and not call.denied
            and (not call.spawned or reading_of(call).command is not None) and call.in_background is in_background]


def worst_of(abouts: Sequence[PolicyAsk]) -> PolicyAsk:
    """The one that decides the level: the first of the worst."""
    return max(abouts, key=lambda about: _LEVELS.index(about.risk))


def asked_call(call: OpenCall, about: PolicyAsk, description: str, most_chars: int) -> AskedCall:
    """One of the calls that an ask is about, as a card shows it; a long command by its first ``most_chars``."""
    paths = list(about.paths[:SHOWN_PATHS])
    if len(about.paths) > SHOWN_PATHS:
        paths.append(f"… and {len(about.paths) - SHOWN_PATHS} more")
    command = about.command
    if command is not None and len(command) > most_chars:
        command = f"{command[:most_chars]}\n… and {len(command) - most_chars} more characters"
    return AskedCall(tool_call_id=call.state.tool_call_id, tool_name=about.tool, description=description, command=command,
                     paths=paths, risk_level=about.risk, risk_reason=about.risk_reason, doubts=list(about.doubts), about=about)


def calls_in_words(calls: Sequence[AskedCall], facts: Sequence[Sequence[str]]) -> str:
    """All of them in words, for whoever is shown a text; below each what is to be told of its input besides."""
    lines: list[str] = []
    for number, (call, besides) in enumerate(zip(calls, facts, strict=True), 1):
        lines.append(f"{number}. {call.description} ({call.risk_level}: {call.risk_reason})")
        lines += [f"   {fact}" for fact in besides]
    return "\n".join(lines)
