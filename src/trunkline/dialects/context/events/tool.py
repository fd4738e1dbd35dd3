"""Events of tools: calls, approvals, and what they did to files, git and the web."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import (
    ChangeType,
    ErrorInfo,
    FileBatchChange,
    Number,
    RawObject,
    Resolver,
    RiskLevel,
    ToolCategory,
    require_object,
)
from trunkline.dialects.context.unions import ApprovalPreview, GitOperation, ToolStructuredOutput, WebOperation


class ToolCallStartEvent(EventBase, tag="tool:start", kw_only=True, frozen=True):
    """A tool is going to be called."""

    tool_call_id: str
    name: str
    category: ToolCategory
    description: str | UnsetType = UNSET


class ToolCallArgsDeltaEvent(EventBase, tag="tool:args_delta", kw_only=True, frozen=True):
    """The next piece of the call's JSON arguments."""

    tool_call_id: str
    delta: str


class ToolCallExecutingEvent(EventBase, tag="tool:executing", kw_only=True, frozen=True):
    """The input is known; the tool runs, or waits for approval."""

    tool_call_id: str
    name: str
    input: RawObject
    risk_level: RiskLevel
    requires_approval: bool

    def __post_init__(self) -> None:
        require_object(self.input)


class ToolCallResultEvent(EventBase, tag="tool:result", kw_only=True, frozen=True):
    """The tool is done. ``duration`` is milliseconds."""

    tool_call_id: str
    name: str
    output: str
    duration: Number
    structured: ToolStructuredOutput | UnsetType = UNSET


class ToolCallErrorEvent(EventBase, tag="tool:error", kw_only=True, frozen=True):
    """The tool failed or was not let run."""

    tool_call_id: str
    name: str
    error: ErrorInfo
    duration: Number | UnsetType = UNSET


class ApprovalRequestedEvent(EventBase, tag="approval:requested", kw_only=True, frozen=True):
    """Somebody has to decide before ``expiresAt`` (ISO 8601)."""

    request_id: str
    tool_call_id: str
    tool_name: str
    tool_input: RawObject
    description: str
    risk_level: RiskLevel
    expires_at: str
    preview: ApprovalPreview | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_object(self.tool_input)


class ApprovalResolvedEvent(EventBase, tag="approval:resolved", kw_only=True, frozen=True):
    """It was decided, by whom and why."""

    request_id: str
    tool_call_id: str
    approved: bool
    resolved_by: Resolver
    reason: str | UnsetType = UNSET


class FileChangeEvent(EventBase, tag="file:change", kw_only=True, frozen=True):
    """One file changed."""

    path: str
    change_type: ChangeType
    diff: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    lines_added: int | UnsetType = UNSET
    lines_removed: int | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class FileChangeBatchEvent(EventBase, tag="file:batch", kw_only=True, frozen=True):
    """Several files changed together."""

    changes: list[FileBatchChange]
    description: str | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class GitOperationEvent(EventBase, tag="git:operation", kw_only=True, frozen=True):
    """A commit, branch, push, pull request or stash."""

    operation: GitOperation
    tool_call_id: str | UnsetType = UNSET


class WebOperationEvent(EventBase, tag="web:operation", kw_only=True, frozen=True):
    """A web search or fetch."""

    operation: WebOperation
    tool_call_id: str | UnsetType = UNSET
