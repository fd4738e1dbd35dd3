"""Events of the work as a whole: plans, progress, and sub-agents."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import Number, Todo, TokenUsage


class TodoUpdateEvent(EventBase, tag="progress:todo_update", kw_only=True, frozen=True):
    """The whole todo list, as it is now."""

    todos: list[Todo]


class PlanModeEvent(EventBase, tag="progress:plan_mode", kw_only=True, frozen=True):
    """Plan mode was entered or left."""

    active: bool
    plan: str | UnsetType = UNSET


class ProgressEvent(EventBase, tag="progress:update", kw_only=True, frozen=True):
    """Something moves on."""

    label: str
    current: Number | UnsetType = UNSET
    total: Number | UnsetType = UNSET
    percentage: Number | UnsetType = UNSET


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
