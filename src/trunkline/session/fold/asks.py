"""What waits for a person, and who answered: as it is kept, and as clients see it."""

from __future__ import annotations

import msgspec

from trunkline.dialects.context import ApprovalPreview, RiskLevel
from trunkline.dialects.parts import CommandPart
from trunkline.dialects.signals import PermissionOption
from trunkline.session.policy import PolicyAsk, Rule

KEPT_DECISIONS = 256
"""Resolved approvals that can still be told "already resolved, by whom"; older ones are in the journal."""


class ApprovalView(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A permission that waits for a decision."""

    request_id: str
    tool_call_id: str
    tool_name: str
    title: str
    description: str
    risk_level: RiskLevel
    risk_reason: str = ""
    options: list[PermissionOption]
    tool_input: msgspec.Raw
    preview: ApprovalPreview | None = None
    parts: list[CommandPart] = []
    """The command that is shown, in its parts."""
    about: PolicyAsk | None = None
    """What the rules look at."""
    always: Rule | None = None
    """The rule that "always allow" would write."""
    editable: bool = False
    """Whether the input may be changed before it is approved."""
    beyond_turn: bool = False
    """Something in the background asks: it still waits when the turn has ended."""
    requested_at: str
    expires_at: str


class QuestionView(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A question that waits for an answer; ``schema`` is the form's JSON Schema."""

    question_id: str
    question: str
    options: list[str] | None = None
    schema: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    url: str | None = None
    tool_call_id: str | None = None
    cap: str | None = None
    """The hub asks, not the agent: this cap was reached."""
    beyond_turn: bool = False
    """Something in the background asks."""
    asked_at: str
    expires_at: str = ""
    """Absent where it waits until somebody answers."""


class Decided(msgspec.Struct, rename="camel"):
    """Who resolved an approval, how and when, so that a late answer can be told."""

    approved: bool
    by: str
    at: str
    resolved_by: str = "user"
