"""The types of the Agent Context Protocol as other languages get them: which there are, and under which names.

Rule 1: names are the protocol's own (``ACPError``), though our code drops the prefix.
Rule 2: order is that of the protocol's reference: enums, objects, unions, events, commands, capabilities.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from trunkline.dialects import context

ENUMS: dict[str, Any] = {
    name: getattr(context, name)
    for name in ("SessionStatus", "MessageRole", "ToolCategory", "RiskLevel", "IntegrationMethod", "ChangeType", "TodoStatus",
                 "Resolver")
}

OBJECTS: tuple[type[msgspec.Struct], ...] = (
    context.ErrorInfo,
    context.TokenUsage,
    context.CostBreakdown,
    context.FileChangeSummary,
    context.SessionSummary,
    context.EnvironmentAgent,
    context.EnvironmentModel,
    context.EnvironmentProject,
    context.EnvironmentRuntime,
    context.EnvironmentContext,
    context.AutoApprove,
    context.PermissionPolicy,
    context.AgentDataPaths,
    context.DiscoveredSession,
    context.SessionDiscoveryEvent,
    context.StartSessionOptions,
    context.FileBatchChange,
    context.Todo,
    context.SearchResult,
    context.WebSearchResult,
    context.Attachment,
    context.CommandEnvelope,
    context.AgentIdentity,
    context.StreamingFeatures,
    context.ApprovalFeatures,
    context.SessionControlFeatures,
    context.PlanningFeatures,
    context.ResourceFeatures,
    context.FileOperationFeatures,
    context.UserInteractionFeatures,
    context.Features,
    context.Capabilities,
)

UNIONS: dict[str, Any] = {
    "MessageContent": context.MessageContent,
    "ToolStructuredOutput": context.ToolStructuredOutput,
    "ApprovalPreview": context.ApprovalPreview,
    "GitOperation": context.GitOperation,
    "WebOperation": context.WebOperation,
    "ACPEvent": context.Event,
    "ACPCommand": context.Command,
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
    return issubclass(kind, context.EventBase)
