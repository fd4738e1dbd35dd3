"""``resource:*``: tokens, money, context window, rate limits."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import CostBreakdown, Number, TokenUsage


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
