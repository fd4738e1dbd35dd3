"""Which capability flags a session shows by what happens in it: each has an event that only the thing itself gives.

Rule: only what comes from the agent counts. Notifications and questions may be the hub's own, and prove nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ContextWindowEvent,
    CostUpdateEvent,
    Event,
    FileChangeBatchEvent,
    FileChangeEvent,
    GitOperationEvent,
    PlanModeEvent,
    SubAgentSpawnedEvent,
    ThinkingCompleteEvent,
    TodoUpdateEvent,
    TokenUsageEvent,
    ToolCallArgsDeltaEvent,
    WebOperationEvent,
)
from trunkline.dialects.context.unions import WebSearch

_FLAGS: Final[dict[type, str]] = {
    ToolCallArgsDeltaEvent: "streaming.toolArgs",
    ThinkingCompleteEvent: "thinking",
    ApprovalRequestedEvent: "approval.toolCalls",
    SubAgentSpawnedEvent: "subAgents",
    TodoUpdateEvent: "planning.todos",
    PlanModeEvent: "planning.planMode",
    TokenUsageEvent: "resources.tokenUsage",
    CostUpdateEvent: "resources.costTracking",
    ContextWindowEvent: "resources.contextWindow",
    FileChangeBatchEvent: "fileOperations.batchedChanges",
    GitOperationEvent: "git",
}


SHOWING: Final = frozenset({*_FLAGS, FileChangeEvent, WebOperationEvent})
"""The events that may show one. Most do not, and are not asked."""


def flag_of(event: Event) -> str | None:
    """The flag that an event shows, if it does show one."""
    if type(event) is FileChangeEvent:
        return "fileOperations.diffs" if event.diff is not UNSET and event.diff else None
    if type(event) is WebOperationEvent:
        return "webSearch" if type(event.operation) is WebSearch else None
    return _FLAGS.get(type(event))
