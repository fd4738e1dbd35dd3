"""Which capability flags a session shows by what happens in it: each has an event that only the thing itself gives.

Rule: only what comes from the agent counts. Notifications and questions may be the hub's own, and prove nothing.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from trunkline.dialects import context

_FLAGS: Final[dict[type, str]] = {
    context.ToolCallArgsDeltaEvent: "streaming.toolArgs",
    context.ThinkingCompleteEvent: "thinking",
    context.ApprovalRequestedEvent: "approval.toolCalls",
    context.SubAgentSpawnedEvent: "subAgents",
    context.TodoUpdateEvent: "planning.todos",
    context.PlanModeEvent: "planning.planMode",
    context.TokenUsageEvent: "resources.tokenUsage",
    context.CostUpdateEvent: "resources.costTracking",
    context.ContextWindowEvent: "resources.contextWindow",
    context.FileChangeBatchEvent: "fileOperations.batchedChanges",
    context.GitOperationEvent: "git",
}


def flag_of(event: context.Event) -> str | None:
    """The flag that an event shows, if it does show one."""
    if type(event) is context.FileChangeEvent:
        return "fileOperations.diffs" if event.diff is not UNSET and event.diff else None
    if type(event) is context.WebOperationEvent:
        return "webSearch" if type(event.operation) is context.WebSearch else None
    return _FLAGS.get(type(event))
