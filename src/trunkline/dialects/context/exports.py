"""What programs import from ``trunkline.dialects.context``: the protocol's own list of exports, and our helpers beside it.

Rule 1: the hub itself imports each name from the module that owns it; this file is only loaded when a program wants a name.
Rule 2: what is not in this list belongs to the module that owns it, and may change with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trunkline.dialects.context.capabilities import Capabilities as ACPCapabilities
from trunkline.dialects.context.categories import categorize_tool
from trunkline.dialects.context.commands import (
    AnswerQuestionCommand,
    ApproveToolCallCommand,
    CancelCommand,
    DenyToolCallCommand,
    PauseCommand,
    ResumeCommand,
    SendMessageCommand,
    SetPermissionPolicyCommand,
    TerminateCommand,
    decode_command,
    decode_command_envelope,
    encode_command,
)
from trunkline.dialects.context.commands import Command as ACPCommand
from trunkline.dialects.context.contract import ACPAdapter, ACPSession
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.context.envelope import UnknownEvent, decode_event, encode_event
from trunkline.dialects.context.events import EVENTS_BY_PREFIX as ACPEventByPrefix
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    ContextWindowEvent,
    CostUpdateEvent,
    CustomEvent,
    EnvironmentInfoEvent,
    FileChangeBatchEvent,
    FileChangeEvent,
    GitOperationEvent,
    MessageCompleteEvent,
    MessageDeltaEvent,
    MessageStartEvent,
    NotificationEvent,
    PlanModeEvent,
    ProgressEvent,
    RateLimitEvent,
    SessionCompletedEvent,
    SessionErrorEvent,
    SessionPausedEvent,
    SessionResumedEvent,
    SessionStartedEvent,
    SessionStatusChangedEvent,
    SubAgentCompletedEvent,
    SubAgentProgressEvent,
    SubAgentSpawnedEvent,
    ThinkingCompleteEvent,
    ThinkingDeltaEvent,
    ThinkingStartEvent,
    TodoUpdateEvent,
    TokenUsageEvent,
    ToolCallArgsDeltaEvent,
    ToolCallErrorEvent,
    ToolCallExecutingEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    UserQuestionEvent,
    WebOperationEvent,
    event_types,
)
from trunkline.dialects.context.events import Event as ACPEvent
from trunkline.dialects.context.events import EventBase as ACPEventBase
from trunkline.dialects.context.factory import create_event, reset_all_sequences, reset_sequence
from trunkline.dialects.context.filters import matches_types, parse_types
from trunkline.dialects.context.types import (
    AgentDataPaths,
    CostBreakdown,
    DiscoveredSession,
    EnvironmentContext,
    FileChangeSummary,
    IntegrationMethod,
    MessageRole,
    PermissionPolicy,
    RiskLevel,
    SessionDiscoveryEvent,
    SessionStatus,
    SessionSummary,
    StartSessionOptions,
    TokenUsage,
    ToolCategory,
)
from trunkline.dialects.context.types import ErrorInfo as ACPError
from trunkline.dialects.context.unions import ApprovalPreview, GitOperation, MessageContent, ToolStructuredOutput, WebOperation
from trunkline.dialects.context.versions import ACP_MIN_VERSION, ACP_VERSION, negotiate_version

if TYPE_CHECKING:
    from trunkline.dialects.risk import assess_risk, explain_risk
else:

    def __getattr__(name: str) -> Any:
        """The risk assessor brings a parser with it, so it is only loaded when somebody wants it."""
        if name in ("assess_risk", "explain_risk"):
            from trunkline.dialects import risk

            return getattr(risk, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ACP_MIN_VERSION",
    "ACP_VERSION",
    "ACPAdapter",
    "ACPCapabilities",
    "ACPCommand",
    "ACPError",
    "ACPEvent",
    "ACPEventBase",
    "ACPEventByPrefix",
    "ACPSession",
    "AgentDataPaths",
    "AnswerQuestionCommand",
    "ApprovalPreview",
    "ApprovalRequestedEvent",
    "ApprovalResolvedEvent",
    "ApproveToolCallCommand",
    "CancelCommand",
    "ContextWindowEvent",
    "CostBreakdown",
    "CostUpdateEvent",
    "CustomEvent",
    "DenyToolCallCommand",
    "DiscoveredSession",
    "EnvironmentContext",
    "EnvironmentInfoEvent",
    "FileChangeBatchEvent",
    "FileChangeEvent",
    "FileChangeSummary",
    "GitOperation",
    "GitOperationEvent",
    "IntegrationMethod",
    "MessageCompleteEvent",
    "MessageContent",
    "MessageDeltaEvent",
    "MessageRole",
    "MessageStartEvent",
    "NotificationEvent",
    "PauseCommand",
    "PermissionPolicy",
    "PlanModeEvent",
    "ProgressEvent",
    "RateLimitEvent",
    "ResumeCommand",
    "RiskLevel",
    "SendMessageCommand",
    "SessionCompletedEvent",
    "SessionDiscoveryEvent",
    "SessionErrorEvent",
    "SessionPausedEvent",
    "SessionResumedEvent",
    "SessionStartedEvent",
    "SessionStatus",
    "SessionStatusChangedEvent",
    "SessionSummary",
    "SetPermissionPolicyCommand",
    "StartSessionOptions",
    "SubAgentCompletedEvent",
    "SubAgentProgressEvent",
    "SubAgentSpawnedEvent",
    "TerminateCommand",
    "ThinkingCompleteEvent",
    "ThinkingDeltaEvent",
    "ThinkingStartEvent",
    "TodoUpdateEvent",
    "TokenUsage",
    "TokenUsageEvent",
    "ToolCallArgsDeltaEvent",
    "ToolCallErrorEvent",
    "ToolCallExecutingEvent",
    "ToolCallResultEvent",
    "ToolCallStartEvent",
    "ToolCategory",
    "ToolStructuredOutput",
    "UnknownEvent",
    "UserQuestionEvent",
    "WebOperation",
    "WebOperationEvent",
    "assess_risk",
    "categorize_tool",
    "create_event",
    "decode_command",
    "decode_command_envelope",
    "decode_event",
    "describe_tool_call",
    "encode_command",
    "encode_event",
    "event_types",
    "explain_risk",
    "matches_types",
    "negotiate_version",
    "parse_types",
    "reset_all_sequences",
    "reset_sequence",
]
