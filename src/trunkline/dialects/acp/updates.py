"""The fourteen session updates, and the one for tomorrow's."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.options import AvailableCommand, SessionConfigOption
from trunkline.dialects.acp.shape import SKIP, Shape, Uint
from trunkline.dialects.acp.tools import ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind

PlanEntryPriority = Literal["high", "medium", "low"]
PlanEntryStatus = Literal["pending", "in_progress", "completed"]


class _Update(Shape, frozen=True, kw_only=True, tag_field="sessionUpdate"):
    """Base of the updates: distinguished by ``sessionUpdate``."""


class UserMessageChunk(_Update, frozen=True, kw_only=True, tag="user_message_chunk"):
    """A piece of the user's message."""

    content: ContentBlock
    message_id: str | None = None


class AgentMessageChunk(_Update, frozen=True, kw_only=True, tag="agent_message_chunk"):
    """A piece of the agent's answer; the same ``message_id`` is the same message."""

    content: ContentBlock
    message_id: str | None = None


class AgentThoughtChunk(_Update, frozen=True, kw_only=True, tag="agent_thought_chunk"):
    """A piece of the agent's reasoning."""

    content: ContentBlock
    message_id: str | None = None


class ToolCall(_Update, frozen=True, kw_only=True, tag="tool_call"):
    """A tool call announced. ``name`` is for programs, ``title`` for people."""

    tool_call_id: str
    title: str
    name: str | None = None
    kind: ToolKind | None = None
    status: ToolCallStatus | None = None
    content: Annotated[list[ToolCallContent] | None, SKIP] = None
    locations: Annotated[list[ToolCallLocation] | None, SKIP] = None
    raw_input: Raw | UnsetType = UNSET
    raw_output: Raw | UnsetType = UNSET


class ToolCallUpdate(_Update, frozen=True, kw_only=True, tag="tool_call_update"):
    """What changed about a tool call; arrays replace the earlier ones whole."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: ToolKind | None = None
    status: ToolCallStatus | None = None
    content: Annotated[list[ToolCallContent] | None, SKIP] = None
    locations: Annotated[list[ToolCallLocation] | None, SKIP] = None
    raw_input: Raw | UnsetType = UNSET
    raw_output: Raw | UnsetType = UNSET


class PlanEntry(Shape, frozen=True, kw_only=True):
    """One step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(_Update, frozen=True, kw_only=True, tag="plan"):
    """The whole plan; replaces the one before."""

    entries: Annotated[list[PlanEntry], SKIP]


class AvailableCommandsUpdate(_Update, frozen=True, kw_only=True, tag="available_commands_update"):
    """The slash commands on offer now."""

    available_commands: Annotated[list[AvailableCommand], SKIP]


class CurrentModeUpdate(_Update, frozen=True, kw_only=True, tag="current_mode_update"):
    """The mode in force now."""

    current_mode_id: str


class ConfigOptionUpdate(_Update, frozen=True, kw_only=True, tag="config_option_update"):
    """All configuration options with their values now."""

    config_options: Annotated[list[SessionConfigOption], SKIP]


class SessionInfoUpdate(_Update, frozen=True, kw_only=True, tag="session_info_update"):
    """Title and time of the session: absent keeps, null clears."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET


class Cost(Shape, frozen=True, kw_only=True):
    """Money spent so far; ``currency`` is an ISO 4217 code."""

    amount: float
    currency: str


class UsageUpdate(_Update, frozen=True, kw_only=True, tag="usage_update"):
    """Tokens in the context window, of how many, and the cost so far."""

    used: Uint
    size: Uint
    cost: Cost | None = None


class Notice(_Update, frozen=True, kw_only=True, tag="notice"):
    """A remark for the user, live only; ``severity`` is info, warning, error or anything else."""

    severity: str
    title: Annotated[str, msgspec.Meta(min_length=1)]
    description: str | None = None


class CompactionUpdate(_Update, frozen=True, kw_only=True, tag="compaction_update"):
    """A compaction of the context, by id: absent keeps, null clears."""

    compaction_id: str
    status: str
    summary: Annotated[list[ContentBlock] | UnsetType | None, SKIP] = UNSET
    error: str | UnsetType | None = UNSET


class CompactionSummaryChunk(_Update, frozen=True, kw_only=True, tag="compaction_summary_chunk"):
    """A piece of a compaction's summary; the first of an unknown id begins one."""

    compaction_id: str
    content: ContentBlock


MessageChunk = UserMessageChunk | AgentMessageChunk | AgentThoughtChunk

SessionUpdate = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | ToolCallUpdate
    | Plan
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
)


class UnknownUpdate(msgspec.Struct, frozen=True, gc=False):
    """An update that we do not know or that lacks what it must have: kept whole, ``why`` says what is wrong."""

    raw: bytes
    kind: str = ""
    why: str = ""
