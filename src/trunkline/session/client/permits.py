"""What an agent has the hub do for it (write a file, run a command, read a file) passes the same rules as its own tools.

Rule 1: what a person or a rule allowed as a tool call is not asked about again, but only exactly that: it is kept as it was when
it was asked for, since the agent may say otherwise later. A command counts for the same one behind harmless variables and a
plain shell (``dialects/calls/variables.py``), a write for the content that was shown, where its path led to. It counts once, in
its turn, and a rule that denies still denies. What the hub itself asked about is done with its answer, and allows nothing more.
Rule 2: everything else is asked about, by rule or by people, and is in the journal like any other approval.
Rule 3: an ask of ours is about the agent's own call where it announced one, else about one that we announce in its place. That is
for people to see: which call it is found to belong to allows nothing.
Rule 4: what is allowed is what was looked at: the place that a path led to then, and no other, is written. The looks are off the
loop, one at a time, so that asks are written down in the order in which the agent made them.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trunkline.dialects.calls.variables import Bare, bare_line, is_same
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.errors import Forbidden, TrunklineError
from trunkline.session.approvals.answers import Resolution
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.approvals.grants import PREVIEW_BYTES, CallGrant, Grants
from trunkline.session.fold import OpenCall
from trunkline.session.intake.read_ahead import ReadAhead
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook, places_of

CALLS_LOOKED_UP = 200
"""Open calls that are looked at to find the one that a write or a command belongs to, the newest; agents have a few."""

TAKEN_APART = 8
"""Commands that are taken apart for one request, 2 ms each. They have its letters, so there is rarely more than one."""

_OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("reject", "Reject", "reject_once"))

_encode = msgspec.json.Encoder().encode


class _Act(NamedTuple):
    """Something that the agent has us do: the answer that is waited for (None: it is allowed already), and its call."""

    answer: asyncio.Future[Resolution] | None
    tool_call_id: str
    announced: bool


class Permits:
    """Lets a session's agent write, run and read through the hub, or does not."""

    def __init__(self, recorder: Recorder, approvals: Approvals, gate: Gatekeeper, workspace: Workspace,
                 new_id: Callable[[str], str], reading: ReadAhead, grants: Grants,
                 caught_up: Callable[[], Awaitable[None]]) -> None:
        """``caught_up`` waits until what the agent sent before is written down."""
        self._recorder = recorder
        self._caught_up = caught_up
        self._in_order = asyncio.Lock()
        self._approvals = approvals
        self._gate = gate
        self._workspace = workspace
        self._new_id = new_id
        self._reading = reading
        self._grants = grants

    @asynccontextmanager
    async def write(self, path: str, content: str | msgspec.Raw) -> AsyncIterator[Path]:
        """Around the writing of a file, which is at the place that comes of it: Forbidden where it may not be. A long text is a
        JSON string: nobody is shown it, nor is it what somebody was shown."""
        async with self._in_order:
            await self._caught_up()
            writes = self._open_writes()
            named = [each for paths in writes.values() for each in paths]
            real, before, look = await self._workspace.lane.run(self._look_at_file, path, named)
            found = next((key for key, paths in writes.items() if any(look.real(each) == str(real) for each in paths)), None)
            call = self._recorder.fold.calls.get(found) if found is not None else None
            about: dict[str, Any] = {"kind": "edit", "title": f"Write {path}", "locations": [{"path": str(real)}],
                                     "rawInput": {"path": path, "bytes": _size_of(content)}}
            if isinstance(content, str) and len(content) <= PREVIEW_BYTES:
                about["content"] = [{"type": "diff", "path": str(real), "oldText": before, "newText": content}]
            act = await self._ask(call, about, look, lambda grant: grant.take_write(str(real), content, before))
        async with self._allowed(act):
            yield real

    @asynccontextmanager
    async def run(self, command: str, args: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> AsyncIterator[Path]:
        """Around the start of a command, in the folder that comes of it: Forbidden where it may not be."""
        async with self._in_order:
            await self._caught_up()
            where = await self._workspace.lane.run(self._workspace.resolve, cwd or self._workspace.roots[0])
            request = _Request(command, args, env, self._reading.names.variables, str(where))
            facts = self._recorder.at().tools.calls.facts
            if request.goes_to is not None:
                request.ends_up = await self._real_folder(request.goes_to)
            call = next((call for call in self._open_calls() if request.folder_as(facts(call).command) is not None), None)
            given = {"command": request.line, **({"cwd": cwd} if cwd else {}), **({"env": dict(env)} if env else {})}
            about = {"kind": "execute", "title": f"Run {request.line}"[:200], "rawInput": given}
            act = await self._ask(call, about, DiskLook(), lambda grant: grant.take_run(request.folder_as))
        async with self._allowed(act):
            yield where

    async def read(self, path: str) -> None:
        """Before a file is read: Forbidden where a rule denies it. Nobody is asked: agents read what they like by themselves."""
        call = {"toolCallId": "", "kind": "read", "title": f"Read {path}", "rawInput": {"path": path}}
        about = self._recorder.at().policy_asks.of(PermissionAsk("", _encode(call), ()))
        verdict = self._gate.verdict(about, await self._gate.look(about))
        if verdict.action == "deny":
            raise Forbidden(f"{path} may not be read: {verdict.why}")

    async def _ask(self, call: OpenCall | None, about: dict[str, Any], look: DiskLook,
                   covers: Callable[[CallGrant], bool]) -> _Act:
        """Judge it and, unless it is allowed already, write down that people are asked; their answer is waited for elsewhere."""
        tool_call_id = call.state.tool_call_id if call is not None else self._new_id("call")
        ask = PermissionAsk(self._new_id("req"), _encode({"toolCallId": tool_call_id, **about}), _OPTIONS, is_act=True)
        await self._reading.read_input(_encode(about.get("rawInput")))
        judged = self._recorder.at().policy_asks.of(ask)
        look = await self._gate.look(judged, look)
        denied = self._gate.verdict(judged, look).action == "deny"
        if not denied and any(covers(grant) for grant in self._grants.of_this_turn()):
            return _Act(None, tool_call_id, call is not None)
        return _Act(self._approvals.ask_people(ask, look), tool_call_id, call is not None)

    @asynccontextmanager
    async def _allowed(self, act: _Act) -> AsyncIterator[None]:
        if act.answer is None:
            yield
            return
        answer = await act.answer
        if not answer.approved:
            raise _not_approved(answer.reason)
        try:
            yield
        except TrunklineError as error:
            self._finish(act, "failed", error.message)
            raise
        self._finish(act, "completed", None)

    async def _real_folder(self, folder: str) -> str | None:
        """Where a folder is that a command goes to first; None where that is outside, or not known."""
        try:
            return str(await self._workspace.lane.run(self._workspace.resolve, folder))
        except TrunklineError:
            return None

    def _look_at_file(self, path: str, others: Sequence[str]) -> tuple[Path, str | None, DiskLook]:
        """Where a file is that shall be written, what is in it, and where the paths lead that the agent named. Blocks."""
        real = self._workspace.resolve(path)
        self._workspace.check_writable(real, path)
        before = self._workspace.glance(str(real))
        shown = {} if before is None else {str(real): before}
        return real, before, DiskLook(places_of(self._workspace.roots[0], others), shown)

    def _finish(self, act: _Act, status: str, message: str | None) -> None:
        """Emit how a call went that the agent did not announce."""
        if act.announced:
            return
        update: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": act.tool_call_id, "status": status}
        if message is not None:
            update["rawOutput"] = {"error": message}
        self._recorder.at().on_signals([Update(_encode(update))])
        self._recorder.write()

    def _open_calls(self) -> list[OpenCall]:
        """The agent's own calls that something may belong to, for people to see, the newest; what they say now allows nothing. A
        permission under an id that no call has is none of them: what comes of this is no end of that."""
        return [call for call in self._recorder.fold.calls.values() if call.counted and not call.finished][-CALLS_LOOKED_UP:]

    def _open_writes(self) -> dict[str, tuple[str, ...]]:
        """The paths of those open calls that may write, by the calls' ids."""
        read = self._recorder.at().tools.calls.reading
        readings = {call.state.tool_call_id: read(call) for call in self._open_calls()}
        return {key: found.paths for key, found in readings.items() if found.command is None and not found.only_looks}


def _not_approved(reason: str | None) -> Forbidden:
    """What the agent gets: the reason may help it to do something else."""
    if reason is None:
        return Forbidden("it was not approved")
    return Forbidden(f"it was not approved: {reason}", details={"reason": reason})


def _size_of(content: str | msgspec.Raw) -> int:
    return len(content) if isinstance(content, str) else len(memoryview(content)) - 2


class _Request:
    """A command to be run, to be found among those that were asked for.

    Taking a line apart is slow and done on the loop: only for one that has the letters of this one, and for a few.
    What is not taken apart is not the same, and is asked about.
    """

    def __init__(self, command: str, args: Sequence[str], env: Mapping[str, str], own: frozenset[str], where: str) -> None:
        self.line = shlex.join([command, *args]) if args else command
        self._bare = bare_line([command, *args], env, own)
        self._letters = self._bare.letters
        self._where = where
        self._left = TAKEN_APART
        self.ends_up: str | None = None
        """Where the folder is that it goes to first, found out by who asks."""

    @property
    def goes_to(self) -> str | None:
        """The folder that it goes to first."""
        return self._bare.folder

    def folder_as(self, approved: str) -> str | None:
        """The folder in which a command that was asked for runs, if this is it; None where it is another one."""
        if not approved or self._left == 0 or self._letters not in Bare(approved).letters:
            return None
        self._left -= 1
        other = bare_line([approved])
        if not is_same(other, self._bare) or other.folder not in (None, self.goes_to):
            return None
        return self._where if other.folder == self.goes_to else self.ends_up
