"""The calls that are followed: which they are, and what is known of each.

Rule 1: calls are keyed by toolCallId within a turn; agents use ids again in the next.
Rule 2: at most OPEN_CALLS are followed. Of more nothing is kept, and until the turn has ended nothing that it asks for
counts as known.
Rule 3: a call is read once for each change of what its reading is made from, and judged once for each reading.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

import msgspec

from trunkline.dialects.acp.calls import CallState, merge_call, names_too_much
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate
from trunkline.dialects.calls import CallReading, ToolNames
from trunkline.dialects.context.types import RiskLevel
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.asks.subjects import NOT_KNOWN, waiting_calls
from trunkline.session.interpret.calls.bodies import Bodies
from trunkline.session.interpret.calls.evidence import keep_claims, observe
from trunkline.session.interpret.calls.facts import Facts, ReadingSources, read_sources, sources_of
from trunkline.session.interpret.writer import Writer

_READ: Final = frozenset({"raw_input", "kind", "name", "title", "locations"})
"""What a call's reading is made from, beside changes of files that it shows and the words of an ask."""

OPEN_CALLS: Final = 2000
"""Calls that are open at once in one session. The busiest real turns have some dozens."""

KEPT_CALLS: Final = 2000
"""Calls that have ended and are still known by their ids, so that what comes late finds them."""

ID_CHARS: Final = 1024
"""Characters of a call's id; a longer one is not followed. The longest seen in agents has 90."""

UNTRACKED: Final = "more tool calls are open than are followed, so that what this belongs to is not known"

INPUT_CUT: Final = "its input is too large to be looked at"


class FollowedCalls:
    """The calls of the fold. ``names`` are the agent's own names for its tools; ``home`` and ``roots`` judge paths."""

    def __init__(self, writer: Writer, names: ToolNames | None = None, *, home: str | None = None,
                 roots: Sequence[str] = ()) -> None:
        self._writer = writer
        self._names = names or ToolNames()
        self._home = home
        self._roots = tuple(roots)
        self._ended: deque[str] = deque()
        """The ids of those calls of the fold that have ended, oldest first."""
        self.ended_at: dict[str, int] = {}
        """When each of those did, for whoever asks what ran at a time; not for long enough to be stored."""
        self._bodies = Bodies()
        self._readings: dict[str, CallReading] = {}
        self._unannounced: tuple[ReadingSources, CallReading] | None = None
        """The last reading of a call that is not followed, and what it was made from."""
        self.changed: set[str] = set()
        """Calls of which an update brought something else than was read before, for whoever shows them to a person."""

    def get(self, tool_call_id: str) -> OpenCall | None:
        """The call of this id, open or ended; None where it is not followed."""
        return self._writer.fold.calls.get(tool_call_id)

    def begin(self, update: ToolCall | ToolCallUpdate, *, asks: bool = False) -> OpenCall:
        """Follow a call from now on."""
        writer = self._writer
        call = writer.fold.calls[update.tool_call_id] = OpenCall(CallState(tool_call_id=update.tool_call_id), writer.at)
        self.merge(call, update, asks=asks)
        return call

    def untracked(self, update: ToolCallUpdate) -> OpenCall:
        """A call that an ask is about and that cannot be followed."""
        call = OpenCall(CallState(tool_call_id=update.tool_call_id), self._writer.at)
        self.merge(call, update, asks=True)
        self._bodies.forget(update.tool_call_id)
        return call

    def merge(self, call: OpenCall, update: ToolCall | ToolCallUpdate, *, asks: bool = False) -> frozenset[str]:
        """Put an update, or what an ask shows of its call, into what is known; returns the members that have other values now."""
        kind, claimed, before = call.state.kind, call.claims, self._readings.get(update.tool_call_id)
        changed = merge_call(call.state, update)
        keep_claims(call, changed, kind, before, self._writer.fold.cwd)
        call.input_cut = call.input_cut or names_too_much(update)
        if "content" in changed:
            call.shows_ask = asks
        known = call.evidence.arguments if call.evidence else ""
        observe(call, update, self._names, self._writer.fold.cwd)
        self._bodies.weigh(call)
        has_arguments = call.evidence is not None and call.evidence.arguments != known
        shows = update.content and (asks or any(isinstance(item, Diff) for item in update.content))
        if changed & _READ or has_arguments or call.claims != claimed or shows:
            self._readings.pop(update.tool_call_id, None)
            call.risk_level = None
            if not asks and not call.finished and self._writer.fold.approvals:
                self.changed.add(update.tool_call_id)
        return changed

    def weigh(self, call: OpenCall) -> None:
        """More is kept of a call: others may have to give up their bodies for it."""
        self._bodies.weigh(call)

    def clear(self, call: OpenCall) -> None:
        """Agents use one id for all their asks: what an earlier one had, or a call that is over, is no part of the next."""
        old = call.state
        call.state = CallState(tool_call_id=old.tool_call_id, status=old.status)
        call.evidence, call.claims, call.input_cut, call.risk_level = None, None, False, None
        self._readings.pop(old.tool_call_id, None)

    def forget_claims(self, call: OpenCall) -> None:
        """What updates showed of a call before counts no more: it is decided, or known what will be done."""
        if call.claims is not None:
            call.claims, call.risk_level = None, None
            self._readings.pop(call.state.tool_call_id, None)

    def count(self, call: OpenCall) -> None:
        """The agent itself announced the call, so that it counts as one."""
        if not call.counted:
            call.counted = True
            self._writer.fold.tool_calls += 1

    def may_follow(self, tool_call_id: str) -> bool:
        """Whether one more call can be followed, by this id."""
        return len(self._writer.fold.calls) - len(self._ended) < OPEN_CALLS and len(tool_call_id) <= ID_CHARS

    def mark_ended(self, call: OpenCall) -> None:
        """The call is over; of those that are, the oldest are forgotten."""
        call.finished = True
        self._ended.append(call.state.tool_call_id)
        self.ended_at[call.state.tool_call_id] = self._writer.at
        if len(self._ended) > KEPT_CALLS:
            self._forget(self._ended.popleft())

    def forget_turn(self) -> None:
        """A turn begins: of the calls before it, only those that go on in the background are remembered."""
        if self._writer.fold.calls:
            going_on = self.in_background()
            for key in [key for key in self._writer.fold.calls if key not in going_on]:
                self._forget(key)
        self._ended.clear()
        self._unannounced = None
        self._writer.fold.calls_untracked = False

    def forget_all(self) -> None:
        """Nothing more will be reported of any call."""
        for key in list(self._writer.fold.calls):
            self._forget(key)
        self._ended.clear()

    def _forget(self, tool_call_id: str) -> None:
        self._writer.fold.calls.pop(tool_call_id, None)
        self._readings.pop(tool_call_id, None)
        self.ended_at.pop(tool_call_id, None)
        self._bodies.forget(tool_call_id)

    def known_call(self, tool_call_id: str) -> OpenCall | None:
        """The agent's own open call of this id; None where only asks have it, or it is over."""
        call = self._writer.fold.calls.get(tool_call_id)
        return call if call is not None and call.counted and not call.finished else None

    def waiting(self, *, in_background: bool) -> list[OpenCall]:
        """The calls that an ask which names none is about."""
        if self._writer.fold.sub_agents:
            self.in_background()
        return waiting_calls(self._writer.fold.calls.values(), self.reading, in_background=in_background)

    def in_background(self) -> dict[str, OpenCall]:
        """Open calls of sub-agents that were sent off to work by themselves."""
        fold = self._writer.fold
        for key, call in fold.calls.items():
            if not call.in_background and call.parent in fold.sub_agents:
                call.in_background = True
                fold.calls[key] = call
        return {key: call for key, call in fold.calls.items() if call.in_background and not call.finished}

    def of_turn(self, *, cancelled: bool) -> list[OpenCall]:
        """The open calls that end with their turn: all but those that go on in the background."""
        going_on = {} if cancelled else self.in_background()
        return [call for key, call in self._writer.fold.calls.items() if not call.finished and key not in going_on]

    def reading(self, call: OpenCall) -> CallReading:
        """The one reading of a call, made once for each change of what it is made from. A call that is not followed is mostly an
        ask: it is followed next, and the reading that showed what it is about is that call's reading, too."""
        key = call.state.tool_call_id
        is_followed = self._writer.fold.calls.get(key) is call
        if is_followed and (known := self._readings.get(key)) is not None:
            return known
        sources = sources_of(call)
        if self._unannounced is None or self._unannounced[0] != sources:
            self._unannounced = sources, read_sources(sources, self._names)
        reading = self._unannounced[1]
        if is_followed:
            self._readings[key], self._unannounced = reading, None
        return reading

    def facts(self, call: OpenCall) -> Facts:
        """What is known of a call, whatever form the agent sent it in."""
        return Facts(call, self.reading(call), self._writer.fold.cwd)

    def risk(self, call: OpenCall) -> tuple[RiskLevel, str]:
        """How much harm a call can do, and why; judged once for each input."""
        if self._writer.fold.calls_untracked:
            return "high", UNTRACKED
        if call.input_cut:
            return "high", INPUT_CUT
        if call.risk_level is None:
            from trunkline.dialects.risk import Places, judge  # a hub without tool calls needs none of it

            cwd = self._writer.fold.cwd
            judged = judge(self.reading(call), Places.of(cwd, self._roots or (cwd,), self._home), at_once=True)
            call.risk_level, call.risk_reason = judged.level, judged.reason
        return call.risk_level, call.risk_reason

    def judge_unknown(self, call: OpenCall) -> None:
        """It is not known what this call does: that is high, or worse where its title claims worse."""
        if self.risk(call)[0] != "critical":
            call.risk_level, call.risk_reason = "high", NOT_KNOWN

    def doubts(self, call: OpenCall) -> tuple[str, ...]:
        """What is not sure about a call, for people."""
        if self._writer.fold.calls_untracked:
            return (UNTRACKED,)
        known = self.reading(call).doubts
        unknown = [NOT_KNOWN] if call.risk_level is not None and call.risk_reason == NOT_KNOWN else []
        return tuple(dict.fromkeys((*unknown, *([INPUT_CUT] if call.input_cut else []), *known)))

    def unannounced_call(self, update: ToolCallUpdate) -> OpenCall:
        """A call that an ask is about, and of which no event is written (yet)."""
        call = OpenCall(CallState(tool_call_id=update.tool_call_id), self._writer.at, input_cut=names_too_much(update))
        call.shows_ask = "content" in merge_call(call.state, update)
        observe(call, update, self._names, self._writer.fold.cwd)
        return call

    def call_with_ask(self, update: ToolCallUpdate) -> OpenCall:
        """The call that an ask is about as it would be with what the ask shows; no event is written of it."""
        known = self.known_call(update.tool_call_id)
        if known is None:
            return self.unannounced_call(update)
        call = msgspec.structs.replace(known, state=msgspec.structs.replace(known.state), evidence=known.evidence and
                                       msgspec.structs.replace(known.evidence, terminals=[*known.evidence.terminals]))
        call.shows_ask = call.shows_ask or bool(update.content)
        merge_call(call.state, update)
        observe(call, update, self._names, self._writer.fold.cwd)
        return call

    def about_to_run(self, name: str, given: bytes) -> OpenCall:
        """A call by its tool and input alone; no event is written of it."""
        call = OpenCall(CallState(tool_call_id="", name=name, raw_input=given), self._writer.at)
        observe(call, ToolCallUpdate(tool_call_id=""), self._names, self._writer.fold.cwd)
        return call
