"""What is open in a session: the message that grows, the calls that run."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.calls import Claims
from trunkline.dialects.context.types import RiskLevel
from trunkline.dialects.context.unions import MessageContent


class OpenText(msgspec.Struct):
    """A message or thought that is still growing.

    ``parts`` are JSON string tokens without their quotes, as many as its completion may carry; ``size`` counts all its
    bytes, ``newest`` is the last token."""

    thinking: bool
    message_id: str
    start_seq: int
    agent_message_id: str | None = None
    size: int = 0
    parts: list[bytes] = msgspec.field(default_factory=list)
    newest: bytes = b'""'
    parent: str | None = None
    """The call whose sub-agent says it."""


class OpenUserMessage(msgspec.Struct):
    """What a person said as the agent reports it, piece by piece. ``size`` counts all its bytes, those of cut parts too."""

    message_id: str
    agent_message_id: str | None = None
    parts: list[MessageContent] = msgspec.field(default_factory=list)
    size: int = 0
    replayed: bool = True
    """It is of the agent's history."""


class SeenFile(msgspec.Struct, frozen=True):
    """A file as it was on the disk when a call began or had ended; ``text`` is None where it is none, or too long."""

    exists: bool
    size: int = 0
    text: str | None = None


class Evidence(msgspec.Struct):
    """What is known of a call beside its fields, or was there and replaced: diffs, terminals, a record in ``_meta``."""

    diffs: list[Diff] = msgspec.field(default_factory=list)
    terminals: list[str] = msgspec.field(default_factory=list)
    printed: str = ""
    exit_code: int | None = None
    response: dict[str, Any] = msgspec.field(default_factory=dict)
    arguments: str = ""
    """The JSON of its arguments, where an update has them as a text and not as an input."""
    before: dict[str, str] = msgspec.field(default_factory=dict)
    """Texts of files as they were when the call was asked about, by path."""
    found: dict[str, SeenFile] = msgspec.field(default_factory=dict)
    """Files as they were when it was announced, by path; nobody waited for that look, so the call may have begun."""
    seen: dict[str, SeenFile] = msgspec.field(default_factory=dict)
    """Files as they were when it had ended, by path."""


class OutputSent(msgspec.Struct, frozen=True):
    """How much of a running call's output was sent: where it ended, and how much it was in all."""

    chars: int = 0
    end: str = ""
    total: int = 0


class Denial(msgspec.Struct, frozen=True):
    """Who did not allow a call, in what part (``user``, ``policy``, ``timeout``), and why."""

    by: str
    resolved_by: str
    reason: str | None = None


class OpenCall(msgspec.Struct):
    """A tool call of the current turn and how much of it has been emitted."""

    state: CallState
    since: int
    executing: bool = False
    finished: bool = False
    denied: bool = False
    denial: Denial | None = None
    approved: bool = False
    """A person or a rule let it run."""
    asked: bool = False
    """Somebody was, or is, asked to allow it."""
    counted: bool = False
    """The agent itself spoke of it; a permission alone is no call yet."""
    changed_files: bool = False
    """Which files it changed was emitted."""
    spawned: bool = False
    """It started a sub-agent."""
    shows_ask: bool = False
    """What it shows came with a permission: words for whoever decides, no output."""
    questioned: bool = False
    """What it asks a person was announced."""
    parent: str | None = None
    """The call whose sub-agent makes this one."""
    in_background: bool = False
    """That sub-agent goes on though its own call is done: this one does not end with the turn."""
    input_cut: bool = False
    """Not all of its input is known here: no rule may allow it."""
    risk_level: RiskLevel | None = None
    risk_reason: str = ""
    progress_at: int = 0
    evidence: Evidence | None = None
    output_sent: OutputSent | None = msgspec.field(default=None, name="told")
    """What was sent of its output while it ran; these three are stored under the names that they had first."""
    leftover_sent: int = msgspec.field(default=0, name="told_beside")
    """Bytes of what else its updates had that were sent while it ran."""
    sent_title: str = msgspec.field(default="", name="told_title")
    """The title that was sent last."""
    claims: Claims | None = None
    """What else was claimed of it since somebody last decided about it."""
