"""The nine commands a consumer sends, distinguished by ``command``.

Rule 1: a command is a request, so a bad one is refused with ``Invalid`` that names the field; unknown *fields* are skipped.
Rule 2: what we add to a command (an edited input, how long an answer holds) rides in its ``_meta``.
Rule 3: on the way to a session a command stands in an envelope, ``{"id": …, "command": {…}}``; the id makes it idempotent.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn, get_args

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from trunkline import decoders
from trunkline.dialects.context.types import PermissionPolicy, Plain
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid


class CommandBase(Struct, kw_only=True, frozen=True, gc=False, rename="camel", tag_field="command"):
    """What all commands share: their name on the wire, and room for what we add to the protocol."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")


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


class CommandEnvelope(Plain, kw_only=True, frozen=True):
    """A command as it travels: sent again with the same ``id``, it is not carried out again."""

    id: str | UnsetType = UNSET
    command: Command


class _Named(Struct, gc=False):
    """The least a command must have to be known by name."""

    command: str


class _Enveloped(Struct, gc=False):
    command: Raw


_decoder: msgspec.json.Decoder[Command] = decoders.of(Command)
_envelope_decoder = decoders.of(CommandEnvelope)
_named = decoders.of(_Named)
_enveloped = decoders.of(_Enveloped)
_encoder = msgspec.json.Encoder()


def decode_command(raw: bytes | Raw | str) -> Command:
    """Read one command; ``Invalid`` says what is wrong with it."""
    try:
        return _decoder.decode(raw)
    except BROKEN as wrong:
        _refuse(raw, wrong)


def decode_command_envelope(raw: bytes | Raw | str) -> CommandEnvelope:
    """Read ``{"id": …, "command": {…}}``; ``Invalid`` says what is wrong with it."""
    try:
        return _envelope_decoder.decode(raw)
    except BROKEN as wrong:
        _refuse(_inner(raw), wrong)


def encode_command(command: Command) -> bytes:
    """One command as JSON."""
    return _encoder.encode(command)


def _inner(raw: bytes | Raw | str) -> bytes | Raw | str:
    """The command in an envelope; what is no envelope, as it is."""
    try:
        return _enveloped.decode(raw).command
    except BROKEN:
        return raw


def _refuse(raw: bytes | Raw | str, wrong: Exception) -> NoReturn:
    """Say what is wrong; of a name that is no command also which there are."""
    try:
        name = _named.decode(raw).command
    except BROKEN:
        raise Invalid(f"not a command: {wrong}") from wrong
    if name in COMMANDS:
        raise Invalid(f"not a command: {wrong}", details={"command": name}) from wrong
    known = list(COMMANDS)
    raise Invalid(f"unknown command {name[:80]!r}; there are {', '.join(known)}", details={"commands": known}) from wrong
