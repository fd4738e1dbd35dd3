"""What an agent has the hub do for it (write a file, run a command, read a file) passes the same rules as its own tools.

Rule 1: what a person or a rule allowed as a tool call is not asked about again, but only exactly that: it is kept as it was when
it was asked for, since the agent may say otherwise later. It counts once, and a rule that denies still denies.
Rule 2: everything else is asked about, by rule or by people, and is in the journal like any other approval.
Rule 3: an ask of ours is about the agent's own call where it told of one, else about one that we tell of in its place.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from trunkline.dialects.acp import Diff
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.errors import Forbidden, TrunklineError
from trunkline.session.approvals import Approvals
from trunkline.session.fold import ApprovalView, OpenCall
from trunkline.session.gatekeeper import Gatekeeper
from trunkline.session.interpret.asks import paths_of
from trunkline.session.pen import Pen
from trunkline.session.policy import PolicyAsk
from trunkline.session.read_ahead import Reading
from trunkline.session.workspace import Workspace

PREVIEW_BYTES = 64 << 10
"""A file up to this size is shown as a diff when its writing is asked about."""

SHELLS = frozenset({"sh", "bash", "zsh", "dash"} | {f"{folder}/{name}" for folder in ("/bin", "/usr/bin")
                                                     for name in ("sh", "bash", "zsh", "dash")})
"""Programs whose ``-c`` is the command itself; a file of the project that is called so is not one of them."""

WRITING = frozenset({"file_write", "file_edit", "other"})
"""Categories of calls whose approval can be one to write; an approved read never is."""

_OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("reject", "Reject", "reject_once"))

_encode = msgspec.json.Encoder().encode


class Grant:
    """What was allowed, as it was when it was asked for."""

    def __init__(self, about: PolicyAsk, paths: Sequence[str], diffs: Sequence[Diff]) -> None:
        self.about = about
        self.paths = {_real(about.root, path) for path in paths}
        self.diffs = {_real(about.root, diff.path): diff for diff in diffs}
        self.command = about.command
        self.cwd = _real(about.root, about.cwd or ".")

    def take_write(self, real: str, content: str, before: str | None) -> bool:
        """Whether this lets the file be written so; a path counts once."""
        if self.command is not None or self.about.category not in WRITING or real not in self.paths:
            return False
        if not _as_shown(self.diffs.get(real), content, before):
            return False
        self.paths.discard(real)
        return True

    def take_run(self, command: str, args: Sequence[str], cwd: str) -> bool:
        """Whether this lets the command be run there; it counts once."""
        if self.command is None or cwd != self.cwd or not _is_same(self.command, command, args):
            return False
        self.command = None
        self.paths.clear()
        return True


class Permits:
    """Lets a session's agent write, run and read through the hub, or does not."""

    def __init__(self, pen: Pen, approvals: Approvals, gate: Gatekeeper, workspace: Workspace,
                 new_id: Callable[[str], str], reading: Reading, caught_up: Callable[[], Awaitable[None]]) -> None:
        """``caught_up`` waits until all is heard that the agent has said so far."""
        self._pen = pen
        self._approvals = approvals
        self._gate = gate
        self._workspace = workspace
        self._new_id = new_id
        self._reading = reading
        self._caught_up = caught_up
        self._asked: dict[str, Grant] = {}
        self._grants: list[Grant] = []
        self._turn_id: str | None = None
        approvals.asked_for = self._remember
        approvals.allowed = self._grant

    @asynccontextmanager
    async def write(self, path: str, content: str) -> AsyncIterator[None]:
        """Around the writing of a file: Forbidden where it may not be."""
        real = str(self._workspace.resolve(path))
        before = _text_of(real)
        call = self._call(lambda told: real in {_real(self._workspace.roots[0], path) for path in paths_of(told.state)})
        about: dict[str, Any] = {"kind": "edit", "title": f"Write {path}", "locations": [{"path": real}],
                                 "rawInput": {"path": path, "bytes": len(content)}}
        if len(content) <= PREVIEW_BYTES:
            about["content"] = [{"type": "diff", "path": real, "oldText": before, "newText": content}]
        async with self._allowed(call, about, lambda grant: grant.take_write(real, content, before)):
            yield

    @asynccontextmanager
    async def run(self, command: str, args: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> AsyncIterator[None]:
        """Around the start of a command: Forbidden where it may not be."""
        await self._caught_up()
        where = str(self._workspace.resolve(cwd)) if cwd is not None else self._workspace.roots[0]
        line = shlex.join([command, *args]) if args else command
        call = self._call(lambda told: _is_same(self._pen.at().tools.facts(told).command, command, args))
        given = {"command": line, **({"cwd": cwd} if cwd else {}), **({"env": dict(env)} if env else {})}
        about = {"kind": "execute", "title": f"Run {line}"[:200], "rawInput": given}
        async with self._allowed(call, about, lambda grant: not env and grant.take_run(command, args, where)):
            yield

    def read(self, path: str) -> None:
        """Before a file is read: Forbidden where a rule denies it. Nobody is asked: agents read what they like by themselves."""
        call = {"toolCallId": "", "kind": "read", "title": f"Read {path}", "rawInput": {"path": path}}
        ask = PermissionAsk("", _encode(call), ())
        verdict = self._gate.verdict(self._pen.at().asks.about(ask))
        if verdict.action == "deny":
            raise Forbidden(f"{path} may not be read: {verdict.why}")

    @asynccontextmanager
    async def _allowed(self, call: OpenCall | None, about: dict[str, Any],
                       covers: Callable[[Grant], bool]) -> AsyncIterator[None]:
        told_of = call is not None
        tool_call_id = call.state.tool_call_id if call is not None else self._new_id("call")
        ask = PermissionAsk(self._new_id("req"), _encode({"toolCallId": tool_call_id, **about}), _OPTIONS)
        await self._reading.read_input(_encode(about.get("rawInput")))
        judged = self._pen.at().asks.about(ask)
        await self._gate.read(judged)
        denied = self._gate.verdict(judged).action == "deny"
        if not denied and any(covers(grant) for grant in self._of_this_turn()):
            yield
            return
        answer = await self._approvals.ask_people(ask)
        if not answer.approved:
            raise _not_approved(answer.reason)
        try:
            yield
        except TrunklineError as error:
            self._finish(told_of, tool_call_id, "failed", error.message)
            raise
        self._finish(told_of, tool_call_id, "completed", None)

    def _remember(self, view: ApprovalView) -> None:
        """Something is asked for: keep it as it is now."""
        call = self._pen.fold.calls.get(view.tool_call_id)
        if call is not None and view.about is not None:
            diffs = [item for item in call.state.content or [] if isinstance(item, Diff)]
            self._asked[view.request_id] = Grant(view.about, paths_of(call.state) or view.about.paths, diffs)

    def _grant(self, request_id: str, approved: bool) -> None:
        """It was decided."""
        grant = self._asked.pop(request_id, None)
        if grant is not None and approved:
            self._of_this_turn().append(grant)

    def _of_this_turn(self) -> list[Grant]:
        turn = self._pen.fold.turn
        turn_id = turn.turn_id if turn is not None else None
        if turn_id != self._turn_id:
            self._turn_id, self._grants = turn_id, []
        return self._grants

    def _finish(self, told_of: bool, tool_call_id: str, status: str, message: str | None) -> None:
        """Say how a call went that the agent did not tell of."""
        if told_of:
            return
        update: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": tool_call_id, "status": status}
        if message is not None:
            update["rawOutput"] = {"error": message}
        self._pen.at().hear([Update(_encode(update))])
        self._pen.write()

    def _call(self, is_it: Callable[[OpenCall], bool]) -> OpenCall | None:
        """The agent's own call that this belongs to, for people to see; what it says now allows nothing."""
        return next((call for call in self._pen.fold.calls.values() if not call.finished and is_it(call)), None)


def _not_approved(reason: str | None) -> Forbidden:
    """What the agent is told: the reason may help it to do something else."""
    if reason is None:
        return Forbidden("it was not approved")
    return Forbidden(f"it was not approved: {reason}", details={"reason": reason})


def _real(root: str, path: str) -> str:
    return os.path.realpath(os.path.join(root, path)) if "\0" not in path else path


def _text_of(real: str) -> str | None:
    try:
        if os.path.getsize(real) > PREVIEW_BYTES:
            return None
        with open(real, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _as_shown(diff: Diff | None, content: str, before: str | None) -> bool:
    """Whether what is written is what a person was shown: the whole new text, or the file with the piece put in its place."""
    if diff is None or content == diff.new_text:
        return True
    if not diff.old_text or before is None or diff.old_text not in before:
        return False
    return content in (before.replace(diff.old_text, diff.new_text, 1), before.replace(diff.old_text, diff.new_text))


def _is_same(asked: str, command: str, args: Sequence[str]) -> bool:
    """Whether a command that was asked for is the one to be run: the line itself, as a shell's script, or word for word."""
    if not asked:
        return False
    if not args:
        return asked == command
    if len(args) == 2 and args[0] in ("-c", "-lc") and command in SHELLS:
        return asked == args[1]
    try:
        return shlex.split(asked) == [command, *args]
    except ValueError:
        return False
