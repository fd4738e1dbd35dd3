"""``approval:*``: a tool call waits for a decision, and gets one."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import RawObject, Resolver, RiskLevel, require_object
from trunkline.dialects.context.unions import ApprovalPreview


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
