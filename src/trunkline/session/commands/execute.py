"""The Agent Context Protocol's nine commands, carried out on a session.

Rule 1: every command is answered with its outcome or one error of our tree, and is in the journal with who sent it.
Rule 2: a command that comes again under the same id is not carried out again: it gets the answer of the first time, also while
the first is still at work.
Rule 3: what we add to the protocol comes in ``_meta``; a key that we do not know there is refused, since it may have been meant
to make the command safer.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.content import ContentBlock, ImageContent, TextContent
from trunkline.dialects.acp.permission import quoted_id
from trunkline.dialects.context.commands import (
    AnswerQuestionCommand,
    ApproveToolCallCommand,
    CancelCommand,
    Command,
    DenyToolCallCommand,
    PauseCommand,
    ResumeCommand,
    SendMessageCommand,
    SetPermissionPolicyCommand,
    TerminateCommand,
    encode_command,
)
from trunkline.dialects.outside import BROKEN
from trunkline.errors import BY_CODE, Invalid, TrunklineError, Unavailable
from trunkline.session.approvals.forms import content_of
from trunkline.session.commands.requests import Answer, Decision
from trunkline.session.fold import CommandAnswer
from trunkline.session.recorder import Recorder

if TYPE_CHECKING:
    from trunkline.session.session import Session

Meta = TypeVar("Meta")

mimetypes.init()  # reads this machine's table: when this is loaded, not on the loop when a picture comes

SHOWN_BYTES = 4096
"""How much of a command's text its entry in the journal repeats; the prompt itself is an entry of its own."""


class CommandOutcome(msgspec.Struct, rename="camel"):
    """A command was carried out."""

    id: str | None
    result: dict[str, Any]


class _SendMeta(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    when_busy: Literal["queue", "reject"] = "queue"


class _ApproveMeta(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    scope: Literal["once", "turn", "session", "always"] = "once"
    option_id: str | None = None
    updated_input: dict[str, Any] | None = None


class _DenyMeta(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    scope: Literal["once", "turn", "session", "always"] = "once"
    option_id: str | None = None
    interrupt: bool = False


class _AnswerMeta(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    action: Literal["accept", "decline", "cancel"] = "accept"


class _PauseMeta(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    interrupt: bool = False
    reason: str | None = None


class _NoMeta(msgspec.Struct, forbid_unknown_fields=True):
    """Nothing can be added to this command."""


class CommandDesk:
    """Takes the commands for one session."""

    def __init__(self, session: Session, recorder: Recorder) -> None:
        """``recorder`` writes the commands down; what they do goes through the session, which checks whether it may be done."""
        self._session = session
        self._recorder = recorder
        self._at_work: dict[str, tuple[str, asyncio.Task[CommandOutcome]]] = {}
        self._acts: dict[type[Any], Callable[[Any, str | None, str], Awaitable[dict[str, Any]]]] = {
            SendMessageCommand: self._send,
            ApproveToolCallCommand: self._approve,
            DenyToolCallCommand: self._deny,
            AnswerQuestionCommand: self._answer,
            CancelCommand: self._cancel,
            PauseCommand: self._pause,
            ResumeCommand: self._resume,
            TerminateCommand: self._terminate,
            SetPermissionPolicyCommand: self._set_policy,
        }

    async def execute(self, command: Command, *, command_id: str | None, by: str) -> CommandOutcome:
        """Carry out a command; its outcome, or the error that stood in its way, is in the journal when this returns."""
        if command_id is None:
            return await self._carry_out(command, None, by)
        done = self._session.fold.commands.get(command_id)
        digest, task = self._at_work.get(command_id) or (digest_of(command) if done is None else done.digest, None)
        await self._check_same(command_id, command, digest, by)
        if done is not None:
            return _again(command_id, done)
        if task is None:
            task = asyncio.create_task(self._carry_out(command, command_id, by))
            self._at_work[command_id] = digest, task
            task.add_done_callback(lambda done: self._left(command_id, done))
        return await asyncio.shield(task)

    async def _check_same(self, command_id: str, command: Command, digest: str, by: str) -> None:
        """Invalid where the id stands for another command; a repetition is no new act, but this is."""
        if digest == digest_of(command):
            return
        error = Invalid(f"id {command_id!r} was used for another command already; give every command its own")
        await self._session.refused(encode_command(command), error, command_id=command_id, by=by)
        raise error

    def _left(self, command_id: str, task: asyncio.Task[CommandOutcome]) -> None:
        self._at_work.pop(command_id, None)
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may wait any more

    async def _carry_out(self, command: Command, command_id: str | None, by: str) -> CommandOutcome:
        try:
            result = await self._acts[type(command)](command, command_id, by)
        except TrunklineError as error:
            await self._note(command, command_id, by, error=error)
            raise
        except Exception:  # the command's boundary: it was sent, so it is in the journal, whatever came of it
            await self._note(command, command_id, by, error=TrunklineError("the hub failed to carry it out; its log says more"))
            raise
        await self._note(command, command_id, by, result=result)
        return CommandOutcome(command_id, result)

    async def _note(self, command: Command, command_id: str | None, by: str, *, result: dict[str, Any] | None = None,
                    error: TrunklineError | None = None) -> None:
        """Write the command and what came of it; kept by id, so that a repetition finds it."""
        outcome = {"ok": True, "result": result} if error is None else {"ok": False, "error": _error_fields(error)}
        if command_id is not None and not isinstance(error, Unavailable):  # what passes by itself may be tried again
            done = CommandAnswer(digest_of(command), msgspec.Raw(msgspec.json.encode(outcome)))
            self._recorder.at().command_done(command_id, done)
        named = {} if command_id is None else {"id": command_id}
        await self._recorder.note("command", {**named, "command": _shown(command), **outcome}, by=by)

    async def _send(self, command: SendMessageCommand, command_id: str | None, by: str) -> dict[str, Any]:
        meta = _meta(command, _SendMeta)
        if not command.message and not command.attachments:
            raise Invalid("message must not be empty", details={"field": "message"})
        blocks: list[ContentBlock] = [TextContent(text=command.message)] if command.message else []
        if not isinstance(command.attachments, msgspec.UnsetType):
            blocks += [await self._image(attachment.url) for attachment in command.attachments]
        key = None if command_id is None else f"command:{command_id}"
        accepted = await self._session.turns.send(blocks, when_busy=meta.when_busy, idempotency_key=key, by=by)
        return {"turnId": accepted.turn_id, "seq": accepted.seq, "queued": accepted.queued}

    async def _image(self, url: str) -> ImageContent:
        """An attachment: its bytes in a ``data:`` URL, or a file of this session by the hub's own address of it."""
        if url.startswith("data:"):
            head, comma, data = url[5:].partition(",")
            mime, _, encoding = head.partition(";")
            if not comma or encoding != "base64" or not mime.startswith("image/"):
                raise Invalid("an attachment's data: URL must be data:image/…;base64,…", details={"field": "attachments"})
            try:
                base64.b64decode(data, validate=True)
            except ValueError as error:
                raise Invalid(f"an attachment is not base64: {error}", details={"field": "attachments"}) from None
            return ImageContent(data=data, mime_type=mime)
        address = f"/sessions/{self._session.id}/files/content"
        path = _path_in(url, address)
        if not path:
            raise Invalid(f"an attachment must be a data: URL or an address of this session's files ({address}?path=…)",
                          details={"field": "attachments"})
        picture = _type_of(path)
        if picture is None or not picture.startswith("image/"):
            raise Invalid(f"{path} is not a picture", details={"field": "attachments"})
        space = self._session.workspace
        content = await space.lane.run(space.read_bytes, path)
        return ImageContent(data=base64.b64encode(content).decode(), mime_type=picture)

    async def _approve(self, command: ApproveToolCallCommand, command_id: str | None, by: str) -> dict[str, Any]:
        meta = _meta(command, _ApproveMeta)
        self._check_call(command.request_id, command.tool_call_id, meta.option_id, allow=True)
        decision = Decision(option_id=meta.option_id, decision=None if meta.option_id else "allow", scope=meta.scope,
                            updated_input=meta.updated_input)
        return {"approved": await self._session.approvals.decide(command.request_id, decision, by=by)}

    async def _deny(self, command: DenyToolCallCommand, command_id: str | None, by: str) -> dict[str, Any]:
        meta = _meta(command, _DenyMeta)
        self._check_call(command.request_id, command.tool_call_id, meta.option_id, allow=False)
        reason = command.reason if isinstance(command.reason, str) else None
        decision = Decision(option_id=meta.option_id, decision=None if meta.option_id else "deny", scope=meta.scope,
                            reason=reason)
        approved = await self._session.approvals.decide(command.request_id, decision, by=by)
        if meta.interrupt:
            await self._session.turns.cancel(by=by)
        return {"approved": approved}

    def _check_call(self, request_id: str, tool_call_id: str, option_id: str | None, *, allow: bool) -> None:
        """An answer that names another call, or an option that says the opposite, was meant for something else."""
        view = self._session.fold.approvals.get(request_id)
        if view is not None and view.tool_call_id != tool_call_id:
            raise Invalid(f"approval {request_id} is about tool call {view.tool_call_id}, not {tool_call_id}",
                          details={"field": "toolCallId"})
        option = next((offered for offered in view.options if offered.option_id == option_id), None) if view is not None else None
        if option is not None and option.kind.startswith("allow") is not allow:
            raise Invalid(f"option {quoted_id(option.option_id)} means {option.kind}, which is not what the command says",
                          details={"field": "_meta.optionId"})

    async def _answer(self, command: AnswerQuestionCommand, command_id: str | None, by: str) -> dict[str, Any]:
        meta = _meta(command, _AnswerMeta)
        view = self._session.fold.questions.get(command.question_id)
        content: dict[str, Any] | None = None
        if view is not None and meta.action == "accept" and view.url is None:
            schema = bytes(view.schema) if isinstance(view.schema, msgspec.Raw) else None
            content = content_of(command.answer, schema)
        await self._session.approvals.answer(command.question_id, Answer(action=meta.action, content=content), by=by)
        return {"action": meta.action}

    async def _cancel(self, command: CancelCommand, command_id: str | None, by: str) -> dict[str, Any]:
        _meta(command, _NoMeta)
        return {"cancelled": await self._session.turns.cancel(by=by)}

    async def _pause(self, command: PauseCommand, command_id: str | None, by: str) -> dict[str, Any]:
        meta = _meta(command, _PauseMeta)
        return {"held": await self._session.turns.pause(by=by, reason=meta.reason, interrupt=meta.interrupt)}

    async def _resume(self, command: ResumeCommand, command_id: str | None, by: str) -> dict[str, Any]:
        _meta(command, _NoMeta)
        result: dict[str, Any] = {"resumed": await self._session.turns.resume(by=by)}
        if isinstance(command.prompt, str) and command.prompt:
            key = None if command_id is None else f"command:{command_id}"
            accepted = await self._session.turns.send(
                [TextContent(text=command.prompt)], when_busy="queue", idempotency_key=key, by=by)
            result |= {"turnId": accepted.turn_id, "seq": accepted.seq, "queued": accepted.queued}
        return result

    async def _terminate(self, command: TerminateCommand, command_id: str | None, by: str) -> dict[str, Any]:
        _meta(command, _NoMeta)
        await self._session.turns.terminate(by=by)
        return {}

    async def _set_policy(self, command: SetPermissionPolicyCommand, command_id: str | None, by: str) -> dict[str, Any]:
        _meta(command, _NoMeta)
        await self._session.settings.set_permission_policy(command.policy, by=by)
        return {}


def command_name(command: Command) -> str:
    """A command's name on the wire."""
    return str(type(command).__struct_config__.tag)


def _path_in(url: str, address: str) -> str:
    """The file that an address of ours names; "" where it is no such address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.netloc or parts.path != address:
        return ""
    return parse_qs(parts.query).get("path", [""])[0]


def _type_of(path: str) -> str | None:
    """The kind of file that a name says it is."""
    try:
        return mimetypes.guess_type(path)[0]
    except ValueError:  # the name looks like a broken address
        return None


def _meta(command: Command, kind: type[Meta]) -> Meta:
    """What the sender added to the protocol."""
    given = {} if isinstance(command.meta, msgspec.UnsetType) else command.meta
    try:
        return decoders.convert(given, kind)
    except BROKEN as error:
        raise Invalid(f"_meta of {command_name(command)}: {error}", details={"field": "_meta"}) from None


def digest_of(command: Command) -> str:
    """What tells one command from another."""
    return hashlib.sha256(encode_command(command)).hexdigest()[:32]


def _again(command_id: str, done: CommandAnswer) -> CommandOutcome:
    """The answer of the first time, for a command that came again."""
    outcome = msgspec.json.decode(done.outcome)
    if outcome["ok"]:
        return CommandOutcome(command_id, outcome["result"])
    error = outcome["error"]
    raise BY_CODE.get(error["code"], TrunklineError)(error["message"], details=error.get("details"))


def _error_fields(error: TrunklineError) -> dict[str, Any]:
    fields: dict[str, Any] = {"code": error.code, "message": error.message, "recoverable": error.recoverable}
    return fields if error.details is None else {**fields, "details": error.details}


def _shown(command: Command) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(command)
    for key, value in shown.items():
        if isinstance(value, str) and len(value) > SHOWN_BYTES:
            shown[key] = value[:SHOWN_BYTES] + "…"
    if "attachments" in shown:
        shown["attachments"] = len(shown["attachments"])
    return shown
