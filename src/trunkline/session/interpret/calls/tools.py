"""Tool calls: from the first sign of one to its result, in whatever order the agent reports them.

``ToolInterpreter`` writes the entries of calls. What it needs to know of them is in its parts: ``calls`` (which are followed, and
what is known of each), ``terminals`` (what the hub's own terminals print for them), ``disk`` (looks at the files that
they change).

Rule 1: an update carries what changed, a packet carries everything: packets come from the merged state.
Rule 2: every call that starts also ends, at the latest with its turn.
Rule 3: calls that are not followed are written down as they come, and one warning says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate
from trunkline.dialects.calls import ToolNames, reading_meta
from trunkline.dialects.calls.describe import told_of
from trunkline.dialects.context.events import (
    NotificationEvent,
    ToolCallArgsDeltaEvent,
    ToolCallExecutingEvent,
    ToolCallStartEvent,
)
from trunkline.dialects.packets.derive import plan_of_todos, start_packet
from trunkline.session.fold import OpenCall, SeenFile
from trunkline.session.interpret.asks.denied import denial_of
from trunkline.session.interpret.asks.subjects import has_input, says_nothing
from trunkline.session.interpret.calls.endings import Ending, Endings, waits
from trunkline.session.interpret.calls.event_meta import cut_input, risk_meta, shown_input
from trunkline.session.interpret.calls.facts import name_of, shown_text
from trunkline.session.interpret.calls.followed import ID_CHARS, OPEN_CALLS, FollowedCalls
from trunkline.session.interpret.calls.leftover import leftover_of
from trunkline.session.interpret.calls.long_outputs import long_text
from trunkline.session.interpret.calls.output import news_of, title_news
from trunkline.session.interpret.calls.packets import CallPackets
from trunkline.session.interpret.calls.terminals import CallTerminals
from trunkline.session.interpret.effects import subagents
from trunkline.session.interpret.effects.changes import CHANGING
from trunkline.session.interpret.effects.disk import DiskLooks
from trunkline.session.interpret.plans import write_plan
from trunkline.session.interpret.text import TextInterpreter
from trunkline.session.interpret.writer import NOTHING_CARRIED, Carried, Writer

__all__ = ["ToolInterpreter", "ToolNames", "name_of"]

_SHOWS: Final = frozenset({"raw_input", "content", "locations"})
"""What shows a text that will be written, and where."""

PROGRESS_GAP_US: Final = 250_000


class ToolInterpreter:
    """Writes what happens to calls. ``names`` are the agent's own names for its tools; ``home`` and ``roots`` judge paths."""

    def __init__(self, writer: Writer, text: TextInterpreter, names: ToolNames | None = None, *, home: str | None = None,
                 roots: Sequence[str] = (), raw_as_sent: bool = False) -> None:
        self._writer = writer
        self._text = text
        self.calls = FollowedCalls(writer, names, home=home, roots=roots)
        self.terminals = CallTerminals(writer)
        self.disk = DiskLooks(self.calls, CHANGING)
        self._packets = CallPackets(writer, self.calls, self.terminals, as_sent=raw_as_sent)
        self._endings = Endings(writer, self.calls.facts)

    def on_update(self, update: ToolCall | ToolCallUpdate, wire: bytes, raw: bytes | None, *, input_cut: bool = False) -> None:
        """The agent reported something of a call. ``input_cut``: not all of its input is in the update."""
        call = self.calls.get(update.tool_call_id)
        if call is None and not self.calls.may_follow(update.tool_call_id):
            self._leave_untracked(update.tool_call_id, Carried(wire, None, raw))
            return
        if call is None:
            self._on_first_update(update, wire, raw, input_cut=input_cut)
            return
        changed = self.calls.merge(call, update)
        call.input_cut = call.input_cut or input_cut
        self.calls.count(call)
        self._text.close()
        self._continue(call, changed, wire, raw)

    def announced(self, update: ToolCallUpdate, *, is_act: bool = False) -> OpenCall:
        """The call that a permission is asked for, made known first where the agent did not. ``is_act``: it is what the hub is to
        do, so that what updates showed before counts no more."""
        call = self.calls.get(update.tool_call_id)
        if call is None and not self.calls.may_follow(update.tool_call_id):
            call = self.calls.untracked(update)
            self._leave_untracked(update.tool_call_id, NOTHING_CARRIED)
            return call
        if call is None:
            self._text.close()
            return self._open(update, None, None, asks=True)
        if call.finished or not call.counted:
            self.calls.clear(call)
        self.calls.merge(call, update, asks=True)
        if is_act:
            self.calls.forget_claims(call)
        return call

    def _on_first_update(self, update: ToolCall | ToolCallUpdate, wire: bytes, raw: bytes | None, *, input_cut: bool) -> None:
        self._text.close()
        self._writer.thinking(False)
        call = self._open(update, wire, raw)
        call.input_cut = call.input_cut or input_cut
        self.calls.count(call)
        if call.state.status != "pending" or has_input(call.state):
            self._continue(call, frozenset({"raw_input"}), None, None)

    def _open(self, update: ToolCall | ToolCallUpdate, wire: bytes | None, raw: bytes | None, *,
              asks: bool = False) -> OpenCall:
        writer, call = self._writer, self.calls.begin(update, asks=asks)
        state = call.state
        self._packets.forget(state.tool_call_id)  # agents use ids again
        if writer.fold.turn is not None:
            writer.fold.turn.showed_work = True
        name, call.sent_title, reading = name_of(state), state.title, self.calls.reading(call)
        meta = {"parentToolCallId": call.parent} if call.parent else {}
        description = told_of(reading, state.title)
        if state.title and state.title != description:
            meta["title"] = state.title
        event = ToolCallStartEvent(
            tool_call_id=state.tool_call_id, name=name, category=reading.category,
            description=description or msgspec.UNSET, meta=meta or msgspec.UNSET,
        )
        writer.add(event, update=wire, packet=start_packet(state, writer.at), raw=raw)
        if call.parent is not None:
            parent = writer.fold.calls.get(call.parent)
            call.in_background = parent is not None and parent.finished  # who begins something now goes on without its call
            subagents.progress(writer, call.parent, state.title or name)
        return call

    def _leave_untracked(self, tool_call_id: str, carried: Carried) -> None:
        """Write down what is reported of a call that is not followed; the first time, that it is not."""
        fold, writer = self._writer.fold, self._writer
        self._text.close()
        if not fold.calls_untracked:
            fold.calls_untracked = True
            writer.add(NotificationEvent(
                level="warning", title="Not all tool calls are followed",
                message=f"More than {OPEN_CALLS} tool calls are open, or one has an id of over {ID_CHARS} characters. These are "
                "only written down, and whatever the agent asks for until it is done is taken for dangerous and left to a "
                "person."))
        if carried.update is not None:
            writer.custom("tool_call_untracked", {"toolCallId": tool_call_id[:ID_CHARS]}, update=carried.update, raw=carried.raw)

    def args_delta(self, tool_call_id: str, delta: str) -> None:
        """The next piece of a call's arguments, while the model writes them."""
        call = self.calls.get(tool_call_id)
        if call is None or call.finished:
            self._writer.custom("args_delta", {"toolCallId": tool_call_id, "delta": delta}, namespace="agent")
            return
        self._writer.add(ToolCallArgsDeltaEvent(tool_call_id=tool_call_id, delta=delta))

    def executing(self, call: OpenCall, *, requires_approval: bool, wire: bytes | None = None, raw: bytes | None = None,
                  packet: bytes | None = None) -> None:
        """The input is known and the tool runs, or waits to be let run."""
        call.executing = True
        if requires_approval:
            call.asked, call.denied, call.denial = True, False, None
        state = call.state
        if requires_approval and says_nothing(state, self.calls.reading(call)):
            self.calls.judge_unknown(call)
        level, reason = self.calls.risk(call)
        event = ToolCallExecutingEvent(
            tool_call_id=state.tool_call_id, name=name_of(state), input=shown_input(state), risk_level=level,
            requires_approval=requires_approval,
            meta={"risk": risk_meta(reason, self.calls.doubts(call)), "reading": reading_meta(self.calls.reading(call)),
                  **cut_input(state), **title_news(call)},
        )
        self._writer.add(event, update=wire, packet=packet, raw=raw)

    def _continue(self, call: OpenCall, changed: frozenset[str], wire: bytes | None, raw: bytes | None) -> None:
        """Emit what is new about a known call, on one entry that carries its update and packet."""
        state = call.state
        finished = state.status in ("completed", "failed") and not call.finished
        if finished and self.disk.looks and self.disk.must_wait(call, changed, wire, raw):
            return
        if self.disk.looks and not call.finished and not finished and changed & _SHOWS:
            self.disk.foresee(call)
        runs = not call.executing and (finished or state.status == "in_progress" or has_input(state))
        token = long_text(state, wire) if "content" in changed else None
        packet = self._packets.progress(call, token, finished=finished) if changed or finished or runs else None
        if finished:
            if runs:
                self.executing(call, requires_approval=False)
            self._finish(call, Carried(wire, packet, raw), token)
        elif runs or ("raw_input" in changed and wire is not None and not call.finished and not call.asked):
            # The input of a running call grows while the model writes it: what its risk was judged by no longer holds.
            self.executing(call, requires_approval=False, wire=wire, raw=raw, packet=packet)
        else:
            self._emit_update(call, changed, Carried(wire, packet, raw))
            if call.spawned and "content" in changed:
                self._emit_sub_agent_progress(call)
        if not call.finished and not waits(self._writer.fold, call):
            subagents.spawn(self._writer, self.calls.facts(call))
        if "raw_input" in changed:
            self._emit_todos(state)

    def seen(self, files: Mapping[str, SeenFile]) -> None:
        """Go on with the result that waited for a look at the disk; no files: nothing is known."""
        wanted = self.disk.take_wanted(files)
        if wanted is not None:
            self._continue(wanted.call, wanted.changed, wanted.wire, wanted.raw)

    def _emit_update(self, call: OpenCall, changed: frozenset[str], carried: Carried) -> None:
        """Emit what is new in an update that no other event carries."""
        received = carried.raw or carried.update or b""
        update, whole = leftover_of(call, changed, received)
        data = {"toolCallId": call.state.tool_call_id, "changed": sorted(changed), **self._printed_since(call),
                **({"update": update} if update else {})}
        cut = {} if whole else self._writer.truncated(len(received), has_packet=carried.packet is not None)
        self._writer.custom("tool_call_update", data, namespace="acp", update=carried.update, packet=carried.packet,
                            raw=carried.raw, meta={**title_news(call), **cut})

    def _printed_since(self, call: OpenCall) -> dict[str, Any]:
        """What a running call has printed since that was last emitted."""
        if call.finished or call.shows_ask or call.spawned:
            return {}
        return news_of(call, shown_text(call.state) or (call.evidence.printed if call.evidence else ""))

    def _emit_sub_agent_progress(self, call: OpenCall) -> None:
        if self._writer.at - call.progress_at >= PROGRESS_GAP_US:
            call.progress_at = self._writer.at
            lines = self.calls.facts(call).text.rstrip()[-2 * subagents.PROGRESS_CHARS:].split("\n")
            subagents.progress(self._writer, call.state.tool_call_id, lines[-1].strip())

    def ruled_out(self, tool_call_id: str, reason: str) -> None:
        """A rule did not let a call run that its agent would not have asked about."""
        call = self.calls.get(tool_call_id)
        if call is not None:
            call.denied, call.denial = True, denial_of("hub", "policy", reason)

    def close_all(self, *, cancelled: bool) -> None:
        """End every call that is still open: nobody else will."""
        for call in list(self._writer.fold.calls.values()):
            self.end(call, cancelled=cancelled)

    def agent_gone(self) -> None:
        """The agent has ended: nothing goes on in the background any more."""
        for call in self.calls.in_background().values():
            self.end(call, cancelled=False)
        subagents.on_agent_gone(self._writer)

    def close_turn(self, *, cancelled: bool) -> None:
        """The turn is over: end its calls."""
        if self._writer.fold.calls:
            for call in self.calls.of_turn(cancelled=cancelled):
                self.end(call, cancelled=cancelled)

    def end(self, call: OpenCall, *, cancelled: bool) -> None:
        """End a call that nobody else will."""
        if not call.finished:
            self._end_open(call, "denied" if call.denied else "cancelled" if cancelled else "abandoned")

    def forget_turn(self) -> None:
        """A turn begins: of the calls before it, only those that go on in the background are remembered."""
        self.close_turn(cancelled=False)
        self.calls.forget_turn()

    def _finish(self, call: OpenCall, carried: Carried, token: memoryview | None) -> None:
        self.calls.mark_ended(call)
        self.terminals.hand_over(call)
        self._endings.finish(call, carried, token)

    def _end_open(self, call: OpenCall, ending: Ending) -> None:
        self._writer.fold.calls[call.state.tool_call_id] = call
        self.calls.mark_ended(call)
        self._endings.end_open(call, ending, lambda: self._packets.progress(call, None, finished=True))

    def _emit_todos(self, state: CallState) -> None:
        """A todo write is a plan too."""
        plan = plan_of_todos(state.raw_input)
        if plan is not None:
            write_plan(self._writer, plan, None, None)
