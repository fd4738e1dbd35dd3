"""What the rules look at in an ask: which tool, what it runs, which paths, in which folders."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trunkline.dialects.acp.calls import LOCATIONS, CallState
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.fold import ApprovalView, OpenCall
from trunkline.session.interpret.asks.waiting import asked_for
from trunkline.session.interpret.calls.facts import decoded, shown_text
from trunkline.session.interpret.calls.followed import FollowedCalls
from trunkline.session.interpret.writer import Writer
from trunkline.session.policy.asks import BEYOND_RULES, INPUT_BYTES, PATHS, Where, policy_ask_of
from trunkline.session.policy.decide import PolicyAsk


class PolicyAsks:
    """Makes them for one session."""

    def __init__(self, writer: Writer, calls: FollowedCalls, *, roots: Sequence[str] = (), home: str | None = None,
                 guarded: Sequence[str] = ()) -> None:
        self._writer = writer
        self._calls = calls
        self._roots = roots
        self._home = home
        self._guarded = guarded

    def of(self, ask: PermissionAsk) -> PolicyAsk:
        """What the rules look at in an ask that is not (yet) announced."""
        asked = msgspec.structs.replace(asked_for(ask), tool_call_id=ask.request_id)
        return self.of_call(self._calls.unannounced_call(asked))

    def of_tool(self, name: str, given: bytes) -> PolicyAsk:
        """What the rules look at in a tool that is about to run."""
        return self.of_call(self._calls.about_to_run(name, given))

    def of_edited(self, view: ApprovalView, given: bytes) -> PolicyAsk:
        """What the rules look at in an open ask, with another input than it was asked with."""
        return self.of_call(self.edited(view, given))

    def edited(self, view: ApprovalView, given: bytes) -> OpenCall:
        """The call of an ask with another input: that is what will run."""
        call = self._writer.fold.calls.get(view.tool_call_id)
        asked = call.state if call is not None else CallState(tool_call_id=view.tool_call_id, name=view.tool_name)
        state = CallState(tool_call_id=asked.tool_call_id, name=asked.name, kind=asked.kind, tool=asked.tool,
                          named_by=asked.named_by, raw_input=given)
        return OpenCall(state, self._writer.at)

    def of_call(self, call: OpenCall) -> PolicyAsk:
        """What the rules look at: the input in whatever form it came, and the paths that the agent named beside it."""
        fold = self._writer.fold
        where = Where(agent=fold.agent, cwd=fold.cwd, roots=tuple(self._roots) or (fold.cwd,), home=self._home,
                      session_id=fold.session_id, turn_id=fold.turn.turn_id if fold.turn else None, guarded=tuple(self._guarded))
        reading = self._calls.reading(call)
        level, reason = self._calls.risk(call)
        about = policy_ask_of(reading, level, reason, where, given=_given(call))
        paths = (*about.paths, BEYOND_RULES) if call.input_cut else about.paths
        return msgspec.structs.replace(about, paths=paths, doubts=self._calls.doubts(call))


def places_of(call: OpenCall, about: PolicyAsk) -> tuple[str, ...]:
    """The paths of a call, and the folder its command runs in."""
    return (*about.paths, *paths_of(call.state)[:PATHS], *((about.cwd,) if about.cwd is not None else ()))


def paths_of(state: CallState) -> tuple[str, ...]:
    """The files that a call says it touches, beside its input; the first of very many."""
    changed = [item.path for item in state.content or [] if isinstance(item, Diff)]
    located = [location.path for location in state.locations or []]
    return tuple(dict.fromkeys([*changed[:LOCATIONS], *located]))


def _given(call: OpenCall) -> object:
    """What a call is made with; what has no input of its own is what it says in words. Of a huge one no rule is made."""
    raw = call.state.raw_input
    if raw is None:
        return [call.evidence.arguments if call.evidence is not None else "", shown_text(call.state)]
    return decoded(raw) if len(raw) <= 2 * INPUT_BYTES else "x" * (INPUT_BYTES + 1)
