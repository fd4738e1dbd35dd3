"""The nine commands a consumer sends, told apart by ``command``.

Rule: a command is a request, so a bad one is refused with ``Invalid`` that names the field; unknown *fields* are skipped.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from trunkline.dialects.context.types import PermissionPolicy, Plain
from trunkline.errors import Invalid


class CommandBase(Struct, kw_only=True, frozen=True, gc=False, rename="camel", tag_field="command"):
    """What all commands share: their name on the wire, and room for what we add to the protocol."""

    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class Attachment(Plain, kw_only=True, frozen=True):
    """An image that goes with a message."""

    type: Literal["image"]
    url: str


class SendMessageCommand(CommandBase, tag="send_message", kw_only=True, frozen=True):
    """Say something to the agent."""

    message: str
    attachments: list[Attachment] | UnsetType = UNSET


class ApproveToolCallCommand(CommandBase, tag="approve_tool_call", kw_only=True, frozen=True):
    """Let the tool run."""

    request_id: str
    tool_call_id: str


class DenyToolCallCommand(CommandBase, tag="deny_tool_call", kw_only=True, frozen=True):
    """Do not let the tool run."""

    request_id: str
    tool_call_id: str
    reason: str | UnsetType = UNSET


class AnswerQuestionCommand(CommandBase, tag="answer_question", kw_only=True, frozen=True):
    """Answer what the agent asked."""

    question_id: str
    answer: str


class CancelCommand(CommandBase, tag="cancel", kw_only=True, frozen=True):
    """Stop the running turn."""


class PauseCommand(CommandBase, tag="pause", kw_only=True, frozen=True):
    """Hold the session."""


class ResumeCommand(CommandBase, tag="resume", kw_only=True, frozen=True):
    """Go on, optionally with a prompt."""

    prompt: str | UnsetType = UNSET


class TerminateCommand(CommandBase, tag="terminate", kw_only=True, frozen=True):
    """End the session."""


class SetPermissionPolicyCommand(CommandBase, tag="set_permission_policy", kw_only=True, frozen=True):
    """Answer approvals by rule from now on."""

    policy: PermissionPolicy


Command = (
    SendMessageCommand
    | ApproveToolCallCommand
    | DenyToolCallCommand
    | AnswerQuestionCommand
    | CancelCommand
    | PauseCommand
    | ResumeCommand
    | TerminateCommand
    | SetPermissionPolicyCommand
)

COMMANDS: dict[str, type[CommandBase]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Command)}
"""Command structs by their name on the wire."""

_decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_encoder = msgspec.json.Encoder()


def decode_command(raw: bytes) -> Command:
    """Read one command; ``Invalid`` says what is wrong with it."""
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Invalid(f"not a command: {wrong}") from wrong


def encode_command(command: Command) -> bytes:
    """One command as JSON."""
    return _encoder.encode(command)
