"""``subagent:*``: an agent that the agent started."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import Number, TokenUsage


class SubAgentSpawnedEvent(EventBase, tag="subagent:spawned", kw_only=True, frozen=True):
    """A child agent was given a task."""

    sub_agent_id: str
    parent_tool_call_id: str
    task: str
    model: str | UnsetType = UNSET


class SubAgentProgressEvent(EventBase, tag="subagent:progress", kw_only=True, frozen=True):
    """The child agent says how far it is (``progress`` 0 to 100)."""

    sub_agent_id: str
    message: str
    progress: Number | UnsetType = UNSET


class SubAgentCompletedEvent(EventBase, tag="subagent:completed", kw_only=True, frozen=True):
    """The child agent is done."""

    sub_agent_id: str
    parent_tool_call_id: str
    result: str
    token_usage: TokenUsage | UnsetType = UNSET
