"""All 37 events, grouped by domain; one module per group, one struct per ``type``.

Adding an event: its struct goes into the module of its prefix, its name into ``Event`` and ``__all__`` here.
"""

from __future__ import annotations

from typing import Any, get_args

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.events.conversation import (
    MessageCompleteEvent,
    MessageDeltaEvent,
    MessageStartEvent,
    NotificationEvent,
    ThinkingCompleteEvent,
    ThinkingDeltaEvent,
    ThinkingStartEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.events.session import (
    ContextWindowEvent,
    CostUpdateEvent,
    CustomEvent,
    EnvironmentInfoEvent,
    RateLimitEvent,
    SessionCompletedEvent,
    SessionErrorEvent,
    SessionPausedEvent,
    SessionResumedEvent,
    SessionStartedEvent,
    SessionStatusChangedEvent,
    TokenUsageEvent,
)
from trunkline.dialects.context.events.tool import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    FileChangeBatchEvent,
    FileChangeEvent,
    GitOperationEvent,
    ToolCallArgsDeltaEvent,
    ToolCallErrorEvent,
    ToolCallExecutingEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    WebOperationEvent,
)
from trunkline.dialects.context.events.work import (
    PlanModeEvent,
    ProgressEvent,
    SubAgentCompletedEvent,
    SubAgentProgressEvent,
    SubAgentSpawnedEvent,
    TodoUpdateEvent,
)

SessionEvent = (
    SessionStartedEvent
    | SessionResumedEvent
    | SessionPausedEvent
    | SessionCompletedEvent
    | SessionErrorEvent
    | SessionStatusChangedEvent
)
MessageEvent = MessageStartEvent | MessageDeltaEvent | MessageCompleteEvent
ThinkingEvent = ThinkingStartEvent | ThinkingDeltaEvent | ThinkingCompleteEvent
ToolEvent = (
    ToolCallStartEvent | ToolCallArgsDeltaEvent | ToolCallExecutingEvent | ToolCallResultEvent | ToolCallErrorEvent
)
ApprovalEvent = ApprovalRequestedEvent | ApprovalResolvedEvent
FileEvent = FileChangeEvent | FileChangeBatchEvent
SubAgentEvent = SubAgentSpawnedEvent | SubAgentProgressEvent | SubAgentCompletedEvent
PlanningEvent = TodoUpdateEvent | PlanModeEvent | ProgressEvent
ResourceEvent = TokenUsageEvent | CostUpdateEvent | ContextWindowEvent | RateLimitEvent
InteractionEvent = UserQuestionEvent | NotificationEvent

Event = (
    SessionEvent
    | MessageEvent
    | ThinkingEvent
    | ToolEvent
    | ApprovalEvent
    | FileEvent
    | SubAgentEvent
    | PlanningEvent
    | ResourceEvent
    | EnvironmentInfoEvent
    | InteractionEvent
    | GitOperationEvent
    | WebOperationEvent
    | CustomEvent
)

EVENTS: dict[str, type[EventBase]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}
"""Event structs by their ``type`` on the wire, in the order of the protocol's reference."""

EVENTS_BY_PREFIX: dict[str, Any] = {
    "session:": SessionEvent,
    "message:": MessageEvent,
    "thinking:": ThinkingEvent,
    "tool:": ToolEvent,
    "approval:": ApprovalEvent,
    "file:": FileEvent,
    "subagent:": SubAgentEvent,
    "progress:": PlanningEvent,
    "resource:": ResourceEvent,
    "environment:": EnvironmentInfoEvent,
    "interaction:": InteractionEvent,
    "git:": GitOperationEvent,
    "web:": WebOperationEvent,
    "custom": CustomEvent,
}
"""The union of every prefix, for ``isinstance`` and ``msgspec``; a type checker wants its name, ``ToolEvent``."""


def event_types(prefix: str = "") -> tuple[str, ...]:
    """The event types that start with ``prefix`` (``"tool:"``, ``"session:"`` …); all 37 without one."""
    return tuple(name for name in EVENTS if name.startswith(prefix))


__all__ = [
    "EVENTS",
    "EVENTS_BY_PREFIX",
    "ApprovalEvent",
    "ApprovalRequestedEvent",
    "ApprovalResolvedEvent",
    "ContextWindowEvent",
    "CostUpdateEvent",
    "CustomEvent",
    "EnvironmentInfoEvent",
    "Event",
    "EventBase",
    "FileChangeBatchEvent",
    "FileChangeEvent",
    "FileEvent",
    "GitOperationEvent",
    "InteractionEvent",
    "MessageCompleteEvent",
    "MessageDeltaEvent",
    "MessageEvent",
    "MessageStartEvent",
    "NotificationEvent",
    "PlanModeEvent",
    "PlanningEvent",
    "ProgressEvent",
    "RateLimitEvent",
    "ResourceEvent",
    "SessionCompletedEvent",
    "SessionErrorEvent",
    "SessionEvent",
    "SessionPausedEvent",
    "SessionResumedEvent",
    "SessionStartedEvent",
    "SessionStatusChangedEvent",
    "SubAgentCompletedEvent",
    "SubAgentEvent",
    "SubAgentProgressEvent",
    "SubAgentSpawnedEvent",
    "ThinkingCompleteEvent",
    "ThinkingDeltaEvent",
    "ThinkingEvent",
    "ThinkingStartEvent",
    "TodoUpdateEvent",
    "TokenUsageEvent",
    "ToolCallArgsDeltaEvent",
    "ToolCallErrorEvent",
    "ToolCallExecutingEvent",
    "ToolCallResultEvent",
    "ToolCallStartEvent",
    "ToolEvent",
    "UserQuestionEvent",
    "WebOperationEvent",
    "event_types",
]
