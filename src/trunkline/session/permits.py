"""What an agent has the hub do for it (write a file, run a command) passes the same rules as its own tools.

Rule 1: what a person or a rule already allowed as a tool call is not asked about again; everything else is.
Rule 2: an ask of ours is about the agent's own call where it told of one, else about one that we tell of in its place.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.errors import Forbidden, TrunklineError
from trunkline.session.approvals import Approvals
from trunkline.session.fold import OpenCall
from trunkline.session.gatekeeper import Gatekeeper
from trunkline.session.interpret.asks import paths_of
from trunkline.session.pen import Pen
from trunkline.session.workspace import Workspace

PREVIEW_BYTES = 64 << 10
"""A file up to this size is shown as a diff when its writing is asked about."""

_OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("reject", "Reject", "reject_once"))

_encode = msgspec.json.Encoder().encode


class Permits:
    """Lets a session's agent write and run through the hub, or does not."""

    def __init__(self, pen: Pen, approvals: Approvals, gate: Gatekeeper, workspace: Workspace,
                 new_id: Callable[[str], str]) -> None:
        self._pen = pen
        self._approvals = approvals
        self._gate = gate
        self._workspace = workspace
        self._new_id = new_id

    @asynccontextmanager
    async def write(self, path: str, content: str) -> AsyncIterator[None]:
        """Around the writing of a file: Forbidden where it may not be."""
        real = str(self._workspace.resolve(path))
        call = self._call(lambda told: real in self._real_paths(told))
        about: dict[str, Any] = {"kind": "edit", "title": f"Write {path}", "locations": [{"path": real}],
                                 "rawInput": {"path": path, "bytes": len(content)}}
        if len(content) <= PREVIEW_BYTES:
            about["content"] = [{"type": "diff", "path": real, "oldText": self._before(real), "newText": content}]
        async with self._allowed(call, about):
            yield

    @asynccontextmanager
    async def run(self, command: str, args: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> AsyncIterator[None]:
        """Around the start of a command: Forbidden where it may not be."""
        if cwd is not None:
            self._workspace.resolve(cwd)
        line = shlex.join([command, *args]) if args else command
        call = self._call(lambda told: not env and _is_same(self._command(told), command, args))
        given = {"command": line, **({"cwd": cwd} if cwd else {}), **({"env": dict(env)} if env else {})}
        about = {"kind": "execute", "title": f"Run {line}"[:200], "rawInput": given}
        async with self._allowed(call, about):
            yield

    @asynccontextmanager
    async def _allowed(self, call: OpenCall | None, about: dict[str, Any]) -> AsyncIterator[None]:
        if call is not None and call.approved:
            yield
            return
        told_of = call is not None
        tool_call_id = call.state.tool_call_id if call is not None else self._new_id("call")
        ask = PermissionAsk(self._new_id("req"), _encode({"toolCallId": tool_call_id, **about}), _OPTIONS)
        verdict = self._gate.verdict(self._pen.at().asks.about(ask))
        if verdict.action == "allow":
            yield
            return
        if verdict.action == "deny":
            raise Forbidden(f"a rule denies it: {verdict.why}")
        if not await self._approvals.ask_people(ask):
            raise Forbidden("it was not approved")
        try:
            yield
        except TrunklineError as error:
            self._finish(told_of, tool_call_id, "failed", error.message)
            raise
        self._finish(told_of, tool_call_id, "completed", None)

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
        """The agent's own call that this belongs to; one that was approved before one that was not."""
        fitting = [call for call in self._pen.fold.calls.values() if not call.finished and is_it(call)]
        return max(fitting, key=lambda call: call.approved, default=None)

    def _command(self, call: OpenCall) -> str:
        return self._pen.at().tools.facts(call).command

    def _real_paths(self, call: OpenCall) -> list[str]:
        root = self._workspace.roots[0]
        return [os.path.realpath(os.path.join(root, path)) for path in paths_of(call.state)]

    def _before(self, real: str) -> str | None:
        try:
            if os.path.getsize(real) > PREVIEW_BYTES:
                return None
            with open(real, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None


def _is_same(approved: str, command: str, args: Sequence[str]) -> bool:
    """Whether a command that was told of is the one to be run: word for word, or as the script of a shell."""
    if not approved:
        return False
    if approved in (" ".join([command, *args]), command):
        return not args or approved != command
    if len(args) == 2 and args[0] in ("-c", "-lc") and os.path.basename(command) in ("sh", "bash", "zsh", "dash"):
        return approved == args[1]
    try:
        return shlex.split(approved) == [command, *args]
    except ValueError:
        return False

