"""Agents that the agent started: from the call that gives the task to its answer, and what they do in between.

Rule 1: a sub-agent has the id of the call that started it: unique within its turn, and known from the beginning.
Rule 2: every one that is reported as started is reported as ended, whatever came of it.
Rule 3: one that was sent off into the background ends when its agent says so, or with its agent; not with its call.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects.context.events import SubAgentCompletedEvent, SubAgentProgressEvent, SubAgentSpawnedEvent
from trunkline.dialects.context.types import Number, TokenUsage
from trunkline.dialects.notes import SubAgentReport
from trunkline.session.fold import remember
from trunkline.session.interpret.calls.facts import Facts, unfenced
from trunkline.session.interpret.writer import Writer

TASK_CHARS: Final = 4000
RESULT_CHARS: Final = 32 << 10
PROGRESS_CHARS: Final = 200
SENT_OFF: Final = 200
"""How many that work in the background are remembered."""

LOST: Final = "It ended with its agent."

_TASK_KEYS: Final = ("prompt", "task", "instructions", "message", "description", "query")
_TYPE_KEYS: Final = ("subagent_type", "subagentType", "agent", "agent_type", "agentType")
_TRAILER = "<task_metadata>"
_IN_KEYS: Final = ("input_tokens", "inputTokens", "input")
_OUT_KEYS: Final = ("output_tokens", "outputTokens", "output")


def spawn(writer: Writer, facts: Facts) -> None:
    """A task call runs: a sub-agent has started. Told once, and not before the task is known."""
    call = facts.call
    if call.spawned or facts.role != "task":
        return
    task = facts.look_in(facts.input, _TASK_KEYS)
    if not task and not call.finished:
        return
    call.spawned = True
    about = {"description": facts.look_in(facts.input, ("description",)), "type": facts.look_in(facts.input, _TYPE_KEYS)}
    meta = {key: value for key, value in about.items() if value}
    writer.add(SubAgentSpawnedEvent(
        sub_agent_id=facts.state.tool_call_id, parent_tool_call_id=facts.state.tool_call_id,
        task=(task or facts.state.title)[:TASK_CHARS], model=facts.look_in(facts.input, ("model",)) or msgspec.UNSET,
        meta=meta or msgspec.UNSET,
    ))


def progress(writer: Writer, call_id: str, message: str) -> None:
    """The sub-agent that a call started does something."""
    call = writer.fold.calls.get(call_id)
    works = call is not None and call.spawned and not call.finished
    if message and (works or call_id in writer.fold.sub_agents):
        writer.add(SubAgentProgressEvent(sub_agent_id=call_id, message=message[:PROGRESS_CHARS]))


def on_report(writer: Writer, note: SubAgentReport) -> None:
    """The agent says itself what a sub-agent does."""
    match note.state:
        case "spawned":
            writer.add(SubAgentSpawnedEvent(
                sub_agent_id=note.sub_agent_id, parent_tool_call_id=note.parent_tool_call_id, task=note.task,
                model=note.model or msgspec.UNSET))
        case "background":
            remember(writer.fold.sub_agents, note.sub_agent_id, note.parent_tool_call_id or note.sub_agent_id, SENT_OFF)
        case "progress":
            writer.add(SubAgentProgressEvent(
                sub_agent_id=note.sub_agent_id, message=note.message, progress=_share(note.progress)))
        case "completed":
            parent = writer.fold.sub_agents.pop(note.sub_agent_id, note.parent_tool_call_id)
            _ended(writer, note.sub_agent_id, note.parent_tool_call_id or parent, note.result, failed=note.failed,
                   usage=_spent(note))


def on_agent_gone(writer: Writer) -> None:
    """The agent is gone, and what it had in the background with it."""
    sent_off = dict(writer.fold.sub_agents)
    writer.fold.sub_agents.clear()
    for sub_agent_id, parent in sent_off.items():
        _ended(writer, sub_agent_id, parent, LOST, failed=True, usage=None)


def complete(writer: Writer, facts: Facts, *, failed: str | None = None) -> None:
    """The task call is over, and its sub-agent, unless that goes on; ``failed`` is why, where it came to nothing."""
    call_id = facts.state.tool_call_id
    if not facts.call.spawned or call_id in writer.fold.sub_agents:
        return
    result = failed or unfenced(facts.text).partition(_TRAILER)[0].rstrip()
    _ended(writer, call_id, call_id, result, failed=failed is not None, usage=_usage(facts))


def _ended(writer: Writer, sub_agent_id: str, parent: str, result: str, *, failed: bool,
           usage: TokenUsage | None) -> None:
    writer.add(SubAgentCompletedEvent(
        sub_agent_id=sub_agent_id, parent_tool_call_id=parent, result=result[:RESULT_CHARS],
        token_usage=usage or msgspec.UNSET, meta={"failed": True} if failed else msgspec.UNSET,
    ))


def _share(progress: float | None) -> Number | msgspec.UnsetType:
    if progress is None:
        return msgspec.UNSET
    return int(progress) if float(progress).is_integer() else progress


def _spent(note: SubAgentReport) -> TokenUsage | None:
    if note.tokens is None:
        return None
    return TokenUsage(
        input_tokens=note.tokens.input, output_tokens=note.tokens.output,
        cache_read_tokens=note.tokens.cache_read or msgspec.UNSET, cache_write_tokens=note.tokens.cache_write or msgspec.UNSET)


def _usage(facts: Facts) -> TokenUsage | None:
    """What the sub-agent spent, where the agent recorded it."""
    usage = facts.look("usage", "tokens", kind=dict)
    return _tokens(usage) if isinstance(usage, dict) else None


def _tokens(usage: dict[str, Any]) -> TokenUsage | None:
    counts = [next((usage[key] for key in keys if type(usage.get(key)) is int), None) for keys in (_IN_KEYS, _OUT_KEYS)]
    if counts[0] is None or counts[1] is None:
        return None
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return TokenUsage(
        input_tokens=counts[0], output_tokens=counts[1], cache_read_tokens=read if type(read) is int else msgspec.UNSET,
        cache_write_tokens=written if type(written) is int else msgspec.UNSET,
    )
