"""What waits for a person, and who answered: as it is kept, and as clients see it."""

from __future__ import annotations

import msgspec

from trunkline.dialects.command_part import CommandPart
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.context.unions import ApprovalPreview
from trunkline.dialects.signals import PermissionOption
from trunkline.session.policy.decide import PolicyAsk, Rule

DISK_PLACES = 200
"""Places of one ask that are kept as the disk had them: as many as one call may name (``dialects.calls.inputs.PATHS``). Of what
is beyond, nothing is known."""

KEPT_DECISIONS = 256
"""Resolved approvals that can still be answered with "already resolved, by whom"; older ones are in the journal."""


class Disk(msgspec.Struct, rename="camel", omit_defaults=True):
    """What the disk said of the paths of an ask when it was asked: a rule decides later from the same."""

    real: dict[str, str] = {}
    """Where a path really leads, where that is not what its spelling says."""
    unknown: list[str] = []
    """Paths of which that could not be found out."""
    cut: bool = False
    """There were more than are kept: what is not in ``real`` is not known."""


class AskedCall(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One of the calls that an ask is about which says nothing of its own."""

    tool_call_id: str
    tool_name: str
    description: str
    command: str | None = None
    paths: list[str] = []
    risk_level: RiskLevel
    risk_reason: str = ""
    doubts: list[str] = []
    about: PolicyAsk | None = None
    """What the rules look at."""


class ApprovalView(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A permission that waits for a decision."""

    request_id: str
    tool_call_id: str
    tool_name: str
    title: str
    description: str
    risk_level: RiskLevel
    risk_reason: str = ""
    sure: bool = True
    """Whether all is known that this would do; ``doubts`` says what is not."""
    doubts: list[str] = []
    calls: list[AskedCall] = []
    """The calls that it is about, where it says nothing of its own: whoever answers it answers for all of them."""
    options: list[PermissionOption]
    tool_input: msgspec.Raw
    preview: ApprovalPreview | None = None
    """What it does first, and worst."""
    acts: list[ApprovalPreview] = []
    """What it does beside that: further changes, paths that no change shows."""
    in_words: bool = False
    """The preview is nothing but the agent's own words, which may be Markdown."""
    parts: list[CommandPart] = []
    """The command that is shown, in its parts."""
    about: PolicyAsk | None = None
    """What the rules look at; of several calls, each has its own."""
    disk: Disk | None = None
    """What was found on the disk at its paths; None where nobody looked."""
    always: Rule | None = None
    """The rule that "always allow" would write."""
    no_rule: str = ""
    """Why there is none, in words for people; of several calls there never is one."""
    editable: bool = False
    """Whether the input may be changed before it is approved."""
    beyond_turn: bool = False
    """Something in the background asks: it still waits when the turn has ended."""
    rules_allow: bool = True
    """Whether a rule may allow it."""
    answer_there: bool = False
    """It can only be answered in the terminal that asks it."""
    requested_at: str
    expires_at: str

    @property
    def previews(self) -> list[ApprovalPreview]:
        """All that is shown of it."""
        return [*([] if self.preview is None else [self.preview]), *self.acts]

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the calls that an answer decides."""
        return tuple(call.tool_call_id for call in self.calls) or (self.tool_call_id,)

    @property
    def abouts(self) -> tuple[PolicyAsk, ...]:
        """What the rules look at, of every call that an answer decides; empty where they have nothing to look at."""
        own = () if self.about is None else (self.about,)
        return tuple(call.about for call in self.calls if call.about is not None) or own


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
    """Who resolved an approval, how and when, so that a late answer learns of it."""

    approved: bool
    by: str
    at: str
    resolved_by: str = "user"
