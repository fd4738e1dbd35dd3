"""Events of the session itself: its life, its surroundings, what it uses; and what no other event stands for."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, field

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import (
    CostBreakdown,
    EnvironmentContext,
    ErrorInfo,
    Number,
    RawObject,
    SessionStatus,
    SessionSummary,
    TokenUsage,
    require_object,
)


class SessionStartedEvent(EventBase, tag="session:started", kw_only=True, frozen=True):
    """The agent is ready to work in a project."""

    agent: str
    project_path: str
    project_name: str
    model: str | UnsetType = UNSET
    working_directory: str
    environment: EnvironmentContext | UnsetType = UNSET


class SessionResumedEvent(EventBase, tag="session:resumed", kw_only=True, frozen=True):
    """An earlier session goes on."""

    previous_session_id: str | UnsetType = UNSET


class SessionPausedEvent(EventBase, tag="session:paused", kw_only=True, frozen=True):
    """The session is held; ``reason`` says what exactly is."""

    reason: str | UnsetType = UNSET


class SessionCompletedEvent(EventBase, tag="session:completed", kw_only=True, frozen=True):
    """The session is over."""

    summary: SessionSummary


class SessionErrorEvent(EventBase, tag="session:error", kw_only=True, frozen=True):
    """Something failed beyond one tool call."""

    error: ErrorInfo


class SessionStatusChangedEvent(EventBase, tag="session:status_changed", kw_only=True, frozen=True):
    """The session's status moved."""

    from_: SessionStatus = field(name="from")
    to: SessionStatus
    reason: str | UnsetType = UNSET


class EnvironmentInfoEvent(EventBase, tag="environment:info", kw_only=True, frozen=True):
    """Where the session runs and on what."""

    context: EnvironmentContext


class TokenUsageEvent(EventBase, tag="resource:token_usage", kw_only=True, frozen=True):
    """Tokens spent just now and in all."""

    message_id: str | UnsetType = UNSET
    delta: TokenUsage
    cumulative: TokenUsage


class CostUpdateEvent(EventBase, tag="resource:cost", kw_only=True, frozen=True):
    """Money spent just now and in all."""

    delta: CostBreakdown
    cumulative: CostBreakdown


class ContextWindowEvent(EventBase, tag="resource:context_window", kw_only=True, frozen=True):
    """How full the model's context is."""

    used: int
    limit: int
    percentage: Number


class RateLimitEvent(EventBase, tag="resource:rate_limit", kw_only=True, frozen=True):
    """The provider asks to wait; ``retryAfter`` is seconds here (the protocol names no unit)."""

    retry_after: Number
    limit: str
    message: str | UnsetType = UNSET


class CustomEvent(EventBase, tag="custom", kw_only=True, frozen=True):
    """An extension; consumers skip namespaces they do not know."""

    namespace: str
    event_name: str
    data: RawObject

    def __post_init__(self) -> None:
        require_object(self.data)
