"""Tool calls: from the first sign of one to its result, whatever order the agent tells it in.

Rule 1: calls are keyed by toolCallId within a turn; agents use ids again in the next.
Rule 2: an update carries what changed, a packet carries everything: packets come from the merged state.
Rule 3: every call that starts also ends, at the latest with its turn.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.dialects import acp, context, packets
from trunkline.dialects.acp.calls import CallState, merge
from trunkline.session.fold import OpenCall, Todo
from trunkline.session.interpret.text import TextStory
from trunkline.session.interpret.writer import Writer

Ending = Literal["denied", "cancelled", "abandoned"]

_ENDINGS: dict[Ending, str] = {
    "denied": "The tool call was not allowed.",
    "cancelled": "The turn was cancelled before the tool call ended.",
    "abandoned": "The turn ended and the agent never said how this tool call went.",
}

_RISK_OF_KIND: dict[str, context.RiskLevel] = {
    "read": "low", "search": "low", "think": "low", "fetch": "low", "switch_mode": "low",
    "delete": "high",
}


def risk_of(state: CallState) -> context.RiskLevel:
    """How much harm a call of this kind can do: a first guess, by kind alone."""
    return _RISK_OF_KIND.get(state.kind, "medium")


def name_of(state: CallState) -> str:
    """What the tool is called: by the agent, else by the shape of its input, else by its title."""
    return packets.call_tool(state, packets.input_view(state.raw_input))


class ToolStory:
    """The calls of the current turn."""

    def __init__(self, writer: Writer, text: TextStory) -> None:
        self._writer = writer
        self._text = text

    def told(self, update: acp.ToolCall | acp.ToolCallUpdate, wire: bytes, raw: bytes | None) -> None:
        """The agent said something about a call."""
        call = self._writer.fold.calls.get(update.tool_call_id)
        if call is None:
            self._first_told(update, wire, raw)
            return
        changed = merge(call.state, update)
        self._text.close()
        self._go_on(call, changed, wire, raw)

    def announced(self, update: acp.ToolCallUpdate) -> OpenCall:
        """The call that a permission is asked for, made known first where the agent did not."""
        call = self._writer.fold.calls.get(update.tool_call_id)
        if call is None:
            self._text.close()
            return self._open(update, None, None)
        merge(call.state, update)
        return call

    def executing(self, call: OpenCall, *, requires_approval: bool, wire: bytes | None = None, raw: bytes | None = None,
                  packet: bytes | None = None) -> None:
        """The input is known and the tool runs, or waits to be let run."""
        call.executing = True
        state = call.state
        event = context.ToolCallExecutingEvent(
            tool_call_id=state.tool_call_id, name=name_of(state), input=context.as_object(state.raw_input),
            risk_level=risk_of(state), requires_approval=requires_approval,
        )
        self._writer.add(event, update=wire, packet=packet, raw=raw)

    def close_all(self, *, cancelled: bool) -> None:
        """End every call that is still open: the turn is over and nobody else will."""
        for call in self._writer.fold.calls.values():
            if not call.finished:
                ending: Ending = "denied" if call.denied else "cancelled" if cancelled else "abandoned"
                self._end_open(call, ending)

    def _first_told(self, update: acp.ToolCall | acp.ToolCallUpdate, wire: bytes, raw: bytes | None) -> None:
        self._text.close()
        self._writer.thinking(False)
        call = self._open(update, wire, raw)
        if call.state.status != "pending" or _has_input(call.state):
            self._go_on(call, frozenset({"raw_input"}), None, None)

    def _open(self, update: acp.ToolCall | acp.ToolCallUpdate, wire: bytes | None, raw: bytes | None) -> OpenCall:
        writer = self._writer
        state = CallState(tool_call_id=update.tool_call_id)
        merge(state, update)
        call = writer.fold.calls[state.tool_call_id] = OpenCall(state, writer.at)
        if writer.fold.turn is not None:
            writer.fold.turn.said_something = True
        name = name_of(state)
        event = context.ToolCallStartEvent(
            tool_call_id=state.tool_call_id, name=name, category=context.categorize_tool(name, state.kind),
            description=state.title or msgspec.UNSET,
        )
        writer.add(event, update=wire, packet=packets.start_packet(state, writer.at), raw=raw)
        return call

    def _go_on(self, call: OpenCall, changed: frozenset[str], wire: bytes | None, raw: bytes | None) -> None:
        """Tell what is new about a known call, on one entry that carries its update and packet."""
        state = call.state
        finished = state.status in ("completed", "failed") and not call.finished
        runs = not call.executing and (finished or state.status == "in_progress" or _has_input(state))
        packet = packets.progress_packet(state, self._writer.at) if changed or finished or runs else None
        if finished:
            if runs:
                self.executing(call, requires_approval=False)
            self._finish(call, wire, raw, packet)
        elif runs:
            self.executing(call, requires_approval=False, wire=wire, raw=raw, packet=packet)
        else:
            data = {"toolCallId": state.tool_call_id, "changed": sorted(changed)}
            self._writer.custom("tool_call_update", data, namespace="acp", update=wire, raw=raw, packet=packet)
        if "raw_input" in changed:
            self._todos(state)

    def _finish(self, call: OpenCall, wire: bytes | None, raw: bytes | None, packet: bytes | None) -> None:
        call.finished = True
        state = call.state
        name = name_of(state)
        took_ms = (self._writer.at - call.since) // 1000
        output, meta = self._writer.cut(output_text(state))
        event: context.Event
        if state.status == "completed":
            event = context.ToolCallResultEvent(
                tool_call_id=state.tool_call_id, name=name, output=output, duration=took_ms, meta=meta or msgspec.UNSET,
            )
        else:
            code = "denied" if call.denied else "tool_failed"
            error = context.ErrorInfo(code=code, message=output or "The tool failed.", recoverable=True)
            event = context.ToolCallErrorEvent(
                tool_call_id=state.tool_call_id, name=name, error=error, duration=took_ms, meta=meta or msgspec.UNSET,
            )
        self._writer.add(event, update=wire, packet=packet, raw=raw)

    def _end_open(self, call: OpenCall, ending: Ending) -> None:
        call.finished = True
        state = call.state
        message = _ENDINGS[ending]
        state.status = "failed"
        if state.raw_output is None:
            state.raw_output = bytes(context.to_raw({"error": message}))
        error = context.ErrorInfo(code=ending, message=message, recoverable=True)
        took_ms = (self._writer.at - call.since) // 1000
        event = context.ToolCallErrorEvent(
            tool_call_id=state.tool_call_id, name=name_of(state), error=error, duration=took_ms)
        self._writer.add(event, packet=packets.progress_packet(state, self._writer.at))

    def _todos(self, state: CallState) -> None:
        """A todo write is a plan too."""
        plan = packets.plan_of_todos(state.raw_input)
        if plan is not None:
            write_plan(self._writer, plan, None, None)


def write_plan(writer: Writer, plan: list[acp.PlanEntry], wire: bytes | None, raw: bytes | None) -> None:
    """A new plan replaces the old one; the same one again is told only where the agent itself said it."""
    todos = [Todo(entry.content, entry.status, entry.priority) for entry in plan]
    if todos == writer.fold.todos and wire is None:
        return
    writer.fold.todos = todos
    listed = [context.Todo(content=todo.content, status=todo.status) for todo in todos]  # type: ignore[arg-type]
    packet = packets.plan_packet(plan, writer.at)
    writer.add(context.TodoUpdateEvent(todos=listed), update=wire, packet=packet, raw=raw)


def output_text(state: CallState) -> str:
    """What the tool printed or answered, as people would read it."""
    texts = [item.content.text for item in state.content or []
             if isinstance(item, acp.Content) and isinstance(item.content, acp.TextContent)]
    if texts:
        return "\n".join(texts)
    if state.raw_output is None:
        return ""
    value = msgspec.json.decode(state.raw_output)
    if isinstance(value, dict):
        value = next((value[key] for key in ("output", "error", "message") if isinstance(value.get(key), str)), value)
    return value if isinstance(value, str) else state.raw_output.decode("utf-8", errors="replace")


def _has_input(state: CallState) -> bool:
    return state.raw_input is not None and state.raw_input.strip() not in (b"{}", b"null", b"[]", b'""')
