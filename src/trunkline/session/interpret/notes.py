"""What the Agent Client Protocol has no word for and a dialect or an agent reports all the same: rate limits, tokens, progress …

Rule: a note that we understand becomes the event that it means; any other becomes a ``custom`` event, whole.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from trunkline.dialects.context.events import ProgressEvent, RateLimitEvent
from trunkline.dialects.context.types import CostBreakdown, EnvironmentModel, Number, TokenUsage, as_object
from trunkline.dialects.notes import (
    AgentNote,
    ArgsDelta,
    CostSpent,
    CustomNote,
    HookRan,
    ModelUsed,
    OwnTurn,
    Progressed,
    RateLimited,
    RedactedThinking,
    Retried,
    RuledOut,
    SessionIdChanged,
    SubAgentReport,
    TokensSpent,
)
from trunkline.session.interpret.calls.tools import ToolInterpreter
from trunkline.session.interpret.effects import subagents
from trunkline.session.interpret.lifecycle import LifecycleInterpreter
from trunkline.session.interpret.text import TextInterpreter
from trunkline.session.interpret.usage import UsageInterpreter
from trunkline.session.interpret.writer import Writer


class NoteInterpreter:
    """Notes, emitted as what they mean."""

    def __init__(self, writer: Writer, text: TextInterpreter, tools: ToolInterpreter,
                 usage: UsageInterpreter, lifecycle: LifecycleInterpreter) -> None:
        self._writer = writer
        self._text = text
        self._tools = tools
        self._usage = usage
        self._lifecycle = lifecycle

    def custom(self, note: CustomNote) -> None:
        """A note that we do not understand."""
        self._writer.custom(note.kind, as_object(note.to_json()), namespace="agent")

    def on_note(self, note: AgentNote) -> None:
        """A note that we understand."""
        match note.body:
            case ArgsDelta(tool_call_id, delta):
                self._tools.args_delta(tool_call_id, delta)
            case TokensSpent() as spent:
                self._usage.tokens(_usage_of(spent), message_id=self._message_of(spent.message_id))
            case CostSpent() as cost:
                self._cost(cost)
            case ModelUsed(model_id, display_name, provider):
                self._lifecycle.model(EnvironmentModel(
                    id=model_id, display_name=display_name or UNSET, provider=provider or UNSET))
            case RateLimited(retry_after, limit, message):
                self._writer.add(RateLimitEvent(
                    retry_after=_number(retry_after), limit=limit, message=message or UNSET))
            case Retried() as retried:
                self._lifecycle.notify("warning", "The agent tries again", _trying(retried), note=msgspec.Raw(note.to_json()))
            case HookRan(name, level, message) if message:
                self._lifecycle.notify(level, name, message, note=msgspec.Raw(note.to_json()))
            case Progressed() as progress:
                self._progress(progress)
            case SubAgentReport() as report:
                subagents.on_report(self._writer, report)
            case RuledOut(tool_call_id, _, reason):
                self._tools.ruled_out(tool_call_id, reason)
                self._writer.custom(note.kind, as_object(note.to_json()))
            case OwnTurn(state):
                if state == "ended":
                    self._lifecycle.own_turn_ended()
                self._writer.custom(note.kind, as_object(note.to_json()), namespace="agent")
            case SessionIdChanged(session_id):
                # What comes back after a restart is the conversation that the agent has now.
                self._writer.fold.agent_session_id = session_id
                self._writer.custom("agent_session_changed", as_object(note.to_json()), namespace="agent")
            case RedactedThinking():
                self._text.redacted()
            case HookRan():
                self._writer.custom(note.kind, as_object(note.to_json()), namespace="agent")

    def _cost(self, cost: CostSpent) -> None:
        if cost.is_total:
            self._usage.cost_so_far(cost.total, cost.currency)
            return
        is_split = bool(cost.input or cost.output)
        self._usage.spent(CostBreakdown(
            total=cost.total, input=cost.input if is_split else UNSET, output=cost.output if is_split else UNSET,
            currency=cost.currency))

    def _progress(self, note: Progressed) -> None:
        current, total = note.current, note.total
        share = round(100 * current / total, 1) if current is not None and total else None
        self._writer.add(ProgressEvent(
            label=note.label, current=UNSET if current is None else _number(current),
            total=UNSET if total is None else _number(total), percentage=UNSET if share is None else _number(share)))

    def _message_of(self, agent_message_id: str | None) -> str | None:
        """Our id of the message that the agent means: the one that is open, or the newest."""
        fold = self._writer.fold
        if agent_message_id is None:
            return None
        text = fold.text
        if text is not None and text.agent_message_id == agent_message_id:
            return text.message_id
        ours, theirs = fold.last_message
        return ours if theirs == agent_message_id else None


def _usage_of(spent: TokensSpent) -> TokenUsage:
    return TokenUsage(input_tokens=spent.input, output_tokens=spent.output,
                      cache_read_tokens=spent.cache_read or UNSET, cache_write_tokens=spent.cache_write or UNSET)


def _trying(retried: Retried) -> str:
    """What happens, in words."""
    count = f"attempt {retried.attempt}" + (f" of {retried.most}" if retried.most is not None else "")
    when = f" in {_number(retried.delay)} s" if retried.delay else ""
    return f"{retried.message}: {count}{when}" if retried.message else f"{count[0].upper()}{count[1:]}{when}"


def _number(value: float) -> Number:
    """A whole number is written as one."""
    return int(value) if float(value).is_integer() else value
