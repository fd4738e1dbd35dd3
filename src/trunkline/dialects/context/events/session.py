"""``session:*``: a session begins, pauses, changes its status, fails, ends."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, field

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import EnvironmentContext, ErrorInfo, SessionStatus, SessionSummary


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
