"""``tool:*``: one tool call from its first sign to its result."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import ErrorInfo, Number, RawObject, RiskLevel, ToolCategory, require_object
from trunkline.dialects.context.unions import ToolStructuredOutput


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
