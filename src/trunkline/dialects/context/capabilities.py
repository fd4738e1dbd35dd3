"""What an agent can do, so that a consumer shows only what works: seed 002's capability object, all members required.

What we add beyond it rides in ``_meta``: ``approval.updatedInput`` where a tool's input can be changed when it is approved.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType, field

from trunkline.dialects.context.types import IntegrationMethod, Plain


class AgentIdentity(Plain, kw_only=True, frozen=True):
    """Who the agent is; ``version`` is null when it is not known."""

    name: str
    display_name: str
    icon: str
    version: str | None
    integration_method: IntegrationMethod


class StreamingFeatures(Plain, kw_only=True, frozen=True):
    """What arrives piece by piece."""

    messages: bool
    tool_args: bool
    thinking: bool


class ApprovalFeatures(Plain, kw_only=True, frozen=True):
    """Whether tool calls ask, and show what they would do."""

    tool_calls: bool
    preview: bool


class SessionControlFeatures(Plain, kw_only=True, frozen=True):
    """Which commands steer a running session."""

    pause: bool
    resume: bool
    cancel: bool


class PlanningFeatures(Plain, kw_only=True, frozen=True):
    """Todo lists and plan mode."""

    todos: bool
    plan_mode: bool


class ResourceFeatures(Plain, kw_only=True, frozen=True):
    """Which figures are reported."""

    token_usage: bool
    cost_tracking: bool
    context_window: bool


class FileOperationFeatures(Plain, kw_only=True, frozen=True):
    """How file changes are emitted."""

    diffs: bool
    batched_changes: bool


class UserInteractionFeatures(Plain, kw_only=True, frozen=True):
    """Whether the agent asks and notifies."""

    questions: bool
    notifications: bool


class Features(Plain, kw_only=True, frozen=True):
    """Every feature, spelled out."""

    streaming: StreamingFeatures
    approval: ApprovalFeatures
    session_control: SessionControlFeatures
    sub_agents: bool
    planning: PlanningFeatures
    resources: ResourceFeatures
    file_operations: FileOperationFeatures
    git: bool
    web_search: bool
    multimodal: bool
    user_interaction: UserInteractionFeatures
    thinking: bool
    custom_events: list[str]


class Capabilities(Plain, kw_only=True, frozen=True):
    """The object a consumer adapts itself to."""

    protocol_version: str
    agent: AgentIdentity
    features: Features
    meta: dict[str, Any] | UnsetType = field(name="_meta", default=UNSET)
