"""The packets, field by field and in their order on the wire.

Rule 1: a struct's fields stand in the order in which they are written; nulls are written out, never left away.
Rule 2: ``_meta`` and ``annotations`` are null on every packet we make (``{}`` on ``prompt_response``), whatever the agent sent:
the journal keeps the agent's own.
Rule 3: ``raw_input`` and ``raw_output`` are the agent's bytes, spliced.
Rule 4: reading is wider than writing. A packet of the documents may lack ``type``, ``timestamp``, ``_meta``, ``content``
or ``locations``; a missing timestamp reads as the empty string.

The first seven are the documented ones; the others are additions in the same style.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

from trunkline.dialects.context.types import RiskLevel, ToolCategory
from trunkline.dialects.context.unions import ApprovalPreview
from trunkline.dialects.packets.blocks import Location, Null
from trunkline.dialects.signals import PermissionOption

PacketKind = Literal["search", "read", "execute", "edit", "other"]
CallStatus = Literal["pending", "in_progress", "completed", "failed"]
ArtifactType = Literal["file", "image", "nextjs_app", "web_app"]
Priority = Literal["high", "medium", "low"]
PlanStatus = Literal["pending", "in_progress", "completed"]
AnswerAction = Literal["accept", "decline", "cancel"]

EMPTY_OBJECT = Raw(b"{}")
NULL = Raw(b"null")


class PacketType(StrEnum):
    """Every value of a packet's ``type``."""

    AGENT_MESSAGE_CHUNK = "agent_message_chunk"
    TOOL_CALL_START = "tool_call_start"
    TOOL_CALL_PROGRESS = "tool_call_progress"
    AGENT_PLAN_UPDATE = "agent_plan_update"
    PROMPT_RESPONSE = "prompt_response"
    ERROR = "error"
    ARTIFACT_CREATED = "artifact_created"
    AGENT_THOUGHT_CHUNK = "agent_thought_chunk"
    USER_MESSAGE_CHUNK = "user_message_chunk"
    CURRENT_MODE_UPDATE = "current_mode_update"
    AVAILABLE_COMMANDS_UPDATE = "available_commands_update"
    USAGE_UPDATE = "usage_update"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVAL_RESOLVED = "approval_resolved"
    QUESTION_REQUESTED = "question_requested"
    QUESTION_RESOLVED = "question_resolved"
    GAP = "gap"


class MessageChunkPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A piece of the agent's answer; pieces concatenate in order, as GitHub-flavoured markdown."""

    meta: Null = field(default=None, name="_meta")
    content: Raw
    session_update: Literal["agent_message_chunk"] = "agent_message_chunk"
    type: Literal["agent_message_chunk"] = "agent_message_chunk"
    timestamp: str = ""


class ThoughtChunkPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A piece of the agent's reasoning."""

    meta: Null = field(default=None, name="_meta")
    content: Raw
    session_update: Literal["agent_thought_chunk"] = "agent_thought_chunk"
    type: Literal["agent_thought_chunk"] = "agent_thought_chunk"
    timestamp: str = ""


class UserChunkPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A piece of the user's message."""

    meta: Null = field(default=None, name="_meta")
    content: Raw
    session_update: Literal["user_message_chunk"] = "user_message_chunk"
    type: Literal["user_message_chunk"] = "user_message_chunk"
    timestamp: str = ""


class ToolCallStartPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A tool call begins: always pending, always empty."""

    meta: Null = field(default=None, name="_meta")
    content: None = None
    kind: str
    locations: list[Location] = []
    raw_input: Raw = EMPTY_OBJECT
    raw_output: None = None
    status: Literal["pending"] = "pending"
    title: str
    tool_call_id: str
    session_update: Literal["tool_call"] = "tool_call"
    type: Literal["tool_call_start"] = "tool_call_start"
    timestamp: str = ""


class ToolCallProgressPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """All that is known of a tool call now."""

    meta: Null = field(default=None, name="_meta")
    content: list[Raw] | None = None
    kind: str
    locations: list[Location] | None = None
    raw_input: Raw = EMPTY_OBJECT
    raw_output: Raw = NULL
    status: CallStatus
    title: str
    tool_call_id: str
    session_update: Literal["tool_call_update"] = "tool_call_update"
    type: Literal["tool_call_progress"] = "tool_call_progress"
    timestamp: str = ""


class PlanItem(Struct, kw_only=True, frozen=True, gc=False):
    """One line of the plan."""

    meta: Null = field(default=None, name="_meta")
    content: str
    priority: Priority = "medium"
    status: PlanStatus


class PlanPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The whole plan, as it is now."""

    meta: Null = field(default=None, name="_meta")
    entries: list[PlanItem]
    session_update: Literal["plan"] = "plan"
    type: Literal["agent_plan_update"] = "agent_plan_update"
    timestamp: str = ""


class PromptResponsePacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The turn is over. ``_meta`` is an empty object here, not null."""

    meta: dict[str, Any] | None = field(default_factory=dict, name="_meta")
    stop_reason: str
    type: Literal["prompt_response"] = "prompt_response"
    timestamp: str = ""


class ErrorPacket(Struct, kw_only=True, frozen=True, gc=False):
    """The turn failed. ``code`` is a number or null; the hub's own code word is ``details.code``."""

    type: Literal["error"] = "error"
    timestamp: str = ""
    message: str
    code: int | str | None = None
    details: dict[str, Any] | None = None


class ArtifactInfo(Struct, kw_only=True, frozen=True, gc=False):
    """A file or app that the agent made. ``preview_url`` is spelled so on the wire."""

    id: str
    type: ArtifactType
    name: str
    path: str
    preview_url: str | None = None


class ArtifactCreatedPacket(Struct, kw_only=True, frozen=True, gc=False):
    """The agent made something."""

    type: Literal["artifact_created"] = "artifact_created"
    timestamp: str = ""
    artifact: ArtifactInfo


class ModePacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The session's mode changed."""

    meta: Null = field(default=None, name="_meta")
    current_mode_id: str
    session_update: Literal["current_mode_update"] = "current_mode_update"
    type: Literal["current_mode_update"] = "current_mode_update"
    timestamp: str = ""


class CommandHint(Struct, kw_only=True, frozen=True, gc=False):
    """What may be typed after a command's name."""

    meta: Null = field(default=None, name="_meta")
    hint: str


class CommandItem(Struct, kw_only=True, frozen=True, gc=False):
    """A slash command the agent offers."""

    meta: Null = field(default=None, name="_meta")
    description: str
    input: CommandHint | None = None
    name: str


class CommandsPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """All commands the agent offers now."""

    meta: Null = field(default=None, name="_meta")
    available_commands: list[CommandItem]
    session_update: Literal["available_commands_update"] = "available_commands_update"
    type: Literal["available_commands_update"] = "available_commands_update"
    timestamp: str = ""


class Money(Struct, kw_only=True, frozen=True, gc=False):
    """What the session cost so far."""

    meta: Null = field(default=None, name="_meta")
    amount: int | float
    currency: str


class UsagePacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """How full the model's context is, in tokens."""

    meta: Null = field(default=None, name="_meta")
    cost: Money | None = None
    size: int
    used: int
    session_update: Literal["usage_update"] = "usage_update"
    type: Literal["usage_update"] = "usage_update"
    timestamp: str = ""


class ApprovalPacketMeta(Struct, kw_only=True, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What an approval's preview has no room for: what else it does, what of its input is shown nowhere, and what is not sure."""

    acts: list[ApprovalPreview] = []
    input: dict[str, Any] = {}
    doubts: list[str] = []


class ApprovalRequestedPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """A tool call waits for a decision until ``expiresAt``."""

    type: Literal["approval_requested"] = "approval_requested"
    timestamp: str = ""
    request_id: str
    tool_call_id: str
    tool_name: str
    title: str
    description: str
    risk_level: RiskLevel
    risk_reason: str | UnsetType = UNSET
    tool_category: ToolCategory | UnsetType = UNSET
    options: list[PermissionOption]
    preview: ApprovalPreview | UnsetType = UNSET
    expires_at: str
    meta: ApprovalPacketMeta | UnsetType = field(default=UNSET, name="_meta")


class ResolvedPacketMeta(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """Whom ``resolvedBy`` has no room for: the person's device or program, as the journal names it."""

    by: str


class ApprovalResolvedPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The decision, and who made it."""

    type: Literal["approval_resolved"] = "approval_resolved"
    timestamp: str = ""
    request_id: str
    tool_call_id: str
    approved: bool
    resolved_by: str
    reason: str | UnsetType = UNSET
    meta: ResolvedPacketMeta | UnsetType = field(default=UNSET, name="_meta")


class QuestionRequestedPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The agent asks a person. ``schema`` is the form's JSON Schema, ``url`` a page to go to, where it sent one."""

    type: Literal["question_requested"] = "question_requested"
    timestamp: str = ""
    question_id: str
    question: str
    tool_call_id: str | UnsetType = UNSET
    options: list[str] | UnsetType = UNSET
    schema: Raw | UnsetType = UNSET
    url: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET


class QuestionResolvedPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """The answer, and who gave it; ``answer`` is the form's content where it was accepted."""

    type: Literal["question_resolved"] = "question_resolved"
    timestamp: str = ""
    question_id: str
    action: AnswerAction
    resolved_by: str
    answer: Raw | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class GapPacket(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """Entries were lost: the stored ones from ``from`` to ``to``, by their ids, cannot be read any more. The stream goes on."""

    type: Literal["gap"] = "gap"
    timestamp: str = ""
    first: int = field(name="from")
    last: int = field(name="to")
    message: str


Packet = (
    MessageChunkPacket
    | ThoughtChunkPacket
    | UserChunkPacket
    | ToolCallStartPacket
    | ToolCallProgressPacket
    | PlanPacket
    | PromptResponsePacket
    | ErrorPacket
    | ArtifactCreatedPacket
    | ModePacket
    | CommandsPacket
    | UsagePacket
    | ApprovalRequestedPacket
    | ApprovalResolvedPacket
    | QuestionRequestedPacket
    | QuestionResolvedPacket
    | GapPacket
)

PACKETS: dict[PacketType, type[Packet]] = {
    PacketType.AGENT_MESSAGE_CHUNK: MessageChunkPacket,
    PacketType.TOOL_CALL_START: ToolCallStartPacket,
    PacketType.TOOL_CALL_PROGRESS: ToolCallProgressPacket,
    PacketType.AGENT_PLAN_UPDATE: PlanPacket,
    PacketType.PROMPT_RESPONSE: PromptResponsePacket,
    PacketType.ERROR: ErrorPacket,
    PacketType.ARTIFACT_CREATED: ArtifactCreatedPacket,
    PacketType.AGENT_THOUGHT_CHUNK: ThoughtChunkPacket,
    PacketType.USER_MESSAGE_CHUNK: UserChunkPacket,
    PacketType.CURRENT_MODE_UPDATE: ModePacket,
    PacketType.AVAILABLE_COMMANDS_UPDATE: CommandsPacket,
    PacketType.USAGE_UPDATE: UsagePacket,
    PacketType.APPROVAL_REQUESTED: ApprovalRequestedPacket,
    PacketType.APPROVAL_RESOLVED: ApprovalResolvedPacket,
    PacketType.QUESTION_REQUESTED: QuestionRequestedPacket,
    PacketType.QUESTION_RESOLVED: QuestionResolvedPacket,
    PacketType.GAP: GapPacket,
}
"""The struct of each packet type."""
