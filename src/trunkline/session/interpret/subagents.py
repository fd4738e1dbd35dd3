"""Agents that the agent started: from the call that gives the task to its answer, and what they do in between.

Rule 1: a sub-agent has the id of the call that started it: unique within its turn, and known from the beginning.
Rule 2: every one that is told to have started is told to have ended, whatever came of it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects import context
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.facts import Facts, unfenced
from trunkline.session.interpret.writer import Writer

TASK_CHARS: Final = 4000
RESULT_CHARS: Final = 32 << 10
PROGRESS_CHARS: Final = 200

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
    writer.add(context.SubAgentSpawnedEvent(
        sub_agent_id=facts.state.tool_call_id, parent_tool_call_id=facts.state.tool_call_id,
        task=(task or facts.state.title)[:TASK_CHARS], model=facts.look_in(facts.input, ("model",)) or msgspec.UNSET,
        meta=meta or msgspec.UNSET,
    ))


def progress(writer: Writer, parent: OpenCall, message: str) -> None:
    """A sub-agent does something."""
    if parent.spawned and not parent.finished and message:
        writer.add(context.SubAgentProgressEvent(sub_agent_id=parent.state.tool_call_id, message=message[:PROGRESS_CHARS]))


def complete(writer: Writer, facts: Facts, *, failed: str | None = None) -> None:
    """The task call is over; ``failed`` is why, where it came to nothing."""
    if not facts.call.spawned:
        return
    result = failed or unfenced(facts.text).partition(_TRAILER)[0].rstrip()
    writer.add(context.SubAgentCompletedEvent(
        sub_agent_id=facts.state.tool_call_id, parent_tool_call_id=facts.state.tool_call_id, result=result[:RESULT_CHARS],
        token_usage=_usage(facts) or msgspec.UNSET, meta={"failed": True} if failed else msgspec.UNSET,
    ))


def _usage(facts: Facts) -> context.TokenUsage | None:
    """What the sub-agent spent, where the agent recorded it."""
    usage = facts.look("usage", "tokens", kind=dict)
    return _tokens(usage) if isinstance(usage, dict) else None


def _tokens(usage: dict[str, Any]) -> context.TokenUsage | None:
    counts = [next((usage[key] for key in keys if type(usage.get(key)) is int), None) for keys in (_IN_KEYS, _OUT_KEYS)]
    if counts[0] is None or counts[1] is None:
        return None
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return context.TokenUsage(
        input_tokens=counts[0], output_tokens=counts[1], cache_read_tokens=read if type(read) is int else msgspec.UNSET,
        cache_write_tokens=written if type(written) is int else msgspec.UNSET,
    )
