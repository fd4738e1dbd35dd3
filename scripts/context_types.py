"""The types of the Agent Context Protocol as other languages get them: which there are, and under which names.

Rule 1: names are the protocol's own (``ACPError``), though our code drops the prefix.
Rule 2: order is that of the protocol's reference: enums, objects, unions, events, commands, capabilities.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from trunkline.dialects import context
from trunkline.dialects.context.capabilities import (
    AgentIdentity,
    ApprovalFeatures,
    Capabilities,
    Features,
    FileOperationFeatures,
    PlanningFeatures,
    ResourceFeatures,
    SessionControlFeatures,
    StreamingFeatures,
    UserInteractionFeatures,
)
from trunkline.dialects.context.commands import Attachment, Command, CommandEnvelope
from trunkline.dialects.context.events import Event, EventBase
from trunkline.dialects.context.types import (
    AgentDataPaths,
    AutoApprove,
    CostBreakdown,
    DiscoveredSession,
    EnvironmentAgent,
    EnvironmentContext,
    EnvironmentModel,
    EnvironmentProject,
    EnvironmentRuntime,
    ErrorInfo,
    FileBatchChange,
    FileChangeSummary,
    PermissionPolicy,
    SearchResult,
    SessionDiscoveryEvent,
    SessionSummary,
    StartSessionOptions,
    Todo,
    TokenUsage,
    WebSearchResult,
)
from trunkline.dialects.context.unions import ApprovalPreview, GitOperation, MessageContent, ToolStructuredOutput, WebOperation

ENUMS: dict[str, Any] = {
    name: getattr(context, name)
    for name in ("SessionStatus", "MessageRole", "ToolCategory", "RiskLevel", "IntegrationMethod", "ChangeType", "TodoStatus",
                 "Resolver")
}

OBJECTS: tuple[type[msgspec.Struct], ...] = (
    ErrorInfo,
    TokenUsage,
    CostBreakdown,
    FileChangeSummary,
    SessionSummary,
    EnvironmentAgent,
    EnvironmentModel,
    EnvironmentProject,
    EnvironmentRuntime,
    EnvironmentContext,
    AutoApprove,
    PermissionPolicy,
    AgentDataPaths,
    DiscoveredSession,
    SessionDiscoveryEvent,
    StartSessionOptions,
    FileBatchChange,
    Todo,
    SearchResult,
    WebSearchResult,
    Attachment,
    CommandEnvelope,
    AgentIdentity,
    StreamingFeatures,
    ApprovalFeatures,
    SessionControlFeatures,
    PlanningFeatures,
    ResourceFeatures,
    FileOperationFeatures,
    UserInteractionFeatures,
    Features,
    Capabilities,
)

UNIONS: dict[str, Any] = {
    "MessageContent": MessageContent,
    "ToolStructuredOutput": ToolStructuredOutput,
    "ApprovalPreview": ApprovalPreview,
    "GitOperation": GitOperation,
    "WebOperation": WebOperation,
    "ACPEvent": Event,
    "ACPCommand": Command,
}

VARIANTS: tuple[type[msgspec.Struct], ...] = tuple(kind for union in UNIONS.values() for kind in get_args(union))

STRUCTS: tuple[type[msgspec.Struct], ...] = (*OBJECTS, *VARIANTS)

_RENAMED = {"ErrorInfo": "ACPError", "Capabilities": "ACPCapabilities"}

ENVELOPE = ("seq", "sessionId", "timestamp")
"""What every event on the wire has, though ours are made without."""


def public_name(kind: type[msgspec.Struct]) -> str:
    """A struct's name in the protocol."""
    return _RENAMED.get(kind.__name__, kind.__name__)


def is_event(kind: type[msgspec.Struct]) -> bool:
    return issubclass(kind, EventBase)
