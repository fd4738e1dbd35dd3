"""What an agent has the hub do for it (write a file, run a command, read a file) passes the same rules as its own tools.

Rule 1: what a person or a rule allowed as a tool call is not asked about again, but only exactly that: it is kept as it was when
it was asked for, since the agent may say otherwise later. It counts once, and a rule that denies still denies.
Rule 2: everything else is asked about, by rule or by people, and is in the journal like any other approval.
Rule 3: an ask of ours is about the agent's own call where it told of one, else about one that we tell of in its place.
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

from trunkline.dialects.acp import Diff
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.errors import Forbidden, TrunklineError
from trunkline.session.approvals import Approvals, Resolution
from trunkline.session.fold import ApprovalView, OpenCall
from trunkline.session.gatekeeper import Gatekeeper
from trunkline.session.interpret.asks import paths_of
from trunkline.session.looking import Look, places_of
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

CALLS_LOOKED_UP = 200
"""Open calls that are looked at to find the one that a write or a command belongs to, the newest; agents have a few."""

SPLIT_CHARS = 4 << 10
"""Characters of a command that is taken apart to compare it word for word: 2 ms."""

SPLIT_MOST = 8
"""Commands that are taken apart for one request. They have its letters, so there is rarely more than one."""

KEPT_GRANTS = 512
"""Approved calls of a turn that may still allow something, the newest."""

KEPT_ASKED = 512
"""Asks that are remembered before those are looked for that their agent withdrew."""

_OPTIONS = (PermissionOption("allow", "Allow", "allow_once"), PermissionOption("reject", "Reject", "reject_once"))

_encode = msgspec.json.Encoder().encode


class _Asked(NamedTuple):
    """Something that the agent has us do: the answer that is waited for (None: it is allowed already), and its call."""

    answer: asyncio.Future[Resolution] | None
    tool_call_id: str
    told_of: bool


class Grant:
    """What was allowed, as it was when it was asked for; a path whose place was not known then is not allowed."""

    def __init__(self, about: PolicyAsk, paths: Sequence[str], diffs: Sequence[Diff], look: Look, root: str) -> None:
        self.about = about
        self.paths = {real for path in paths if (real := look.real(path)) is not None}
        self.diffs = {real: diff for diff in diffs if (real := look.real(diff.path)) is not None}
        self.command = about.command
        self.cwd = root if about.cwd is None else look.real(about.cwd)

    def take_write(self, real: str, content: str | msgspec.Raw, before: str | None) -> bool:
        """Whether this lets the file be written so; a path counts once."""
        if self.command is not None or self.about.category not in WRITING or real not in self.paths:
            return False
        if not _as_shown(self.diffs.get(real), content, before):
            return False
        self.paths.discard(real)
        return True

    def take_run(self, request: _Request, cwd: str) -> bool:
        """Whether this lets the command be run there; it counts once."""
        if self.command is None or cwd != self.cwd or not request.is_same(self.command):
            return False
        self.command = None
        self.paths.clear()
        return True


class Permits:
    """Lets a session's agent write, run and read through the hub, or does not."""

    def __init__(self, pen: Pen, approvals: Approvals, gate: Gatekeeper, workspace: Workspace,
                 new_id: Callable[[str], str], reading: Reading, caught_up: Callable[[], Awaitable[None]]) -> None:
        """``caught_up`` waits until what the agent said before is written down."""
        self._pen = pen
        self._caught_up = caught_up
        self._in_order = asyncio.Lock()
        self._approvals = approvals
        self._gate = gate
        self._workspace = workspace
        self._new_id = new_id
        self._reading = reading
        self._asked: dict[str, Grant] = {}
        self._grants: list[Grant] = []
        self._turn_id: str | None = None
        approvals.asked_for = self._remember
        approvals.allowed = self._grant

    @asynccontextmanager
    async def write(self, path: str, content: str | msgspec.Raw) -> AsyncIterator[Path]:
        """Around the writing of a file, which is at the place that comes of it: Forbidden where it may not be. A long text is a
        JSON string: nobody is shown it, nor is it what somebody was shown."""
        async with self._in_order:
            await self._caught_up()
            told = self._open_calls()
            real, before, look = await self._workspace.lane.run(self._look_at_file, path, _paths_in(told))
            call = next((call for call in told if any(look.real(each) == str(real) for each in paths_of(call.state))), None)
            about: dict[str, Any] = {"kind": "edit", "title": f"Write {path}", "locations": [{"path": str(real)}],
                                     "rawInput": {"path": path, "bytes": _size_of(content)}}
            if isinstance(content, str) and len(content) <= PREVIEW_BYTES:
                about["content"] = [{"type": "diff", "path": str(real), "oldText": before, "newText": content}]
            asked = await self._ask(call, about, look, lambda grant: grant.take_write(str(real), content, before))
        async with self._allowed(asked):
            yield real

    @asynccontextmanager
    async def run(self, command: str, args: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> AsyncIterator[Path]:
        """Around the start of a command, in the folder that comes of it: Forbidden where it may not be."""
        async with self._in_order:
            await self._caught_up()
            where = await self._workspace.lane.run(self._workspace.resolve, cwd or self._workspace.roots[0])
            request, facts = _Request(command, args), self._pen.at().tools.facts
            call = next((call for call in self._open_calls() if request.is_same(facts(call).command)), None)
            given = {"command": request.line, **({"cwd": cwd} if cwd else {}), **({"env": dict(env)} if env else {})}
            about = {"kind": "execute", "title": f"Run {request.line}"[:200], "rawInput": given}
            asked = await self._ask(call, about, Look(), lambda grant: not env and grant.take_run(request, str(where)))
        async with self._allowed(asked):
            yield where

    async def read(self, path: str) -> None:
        """Before a file is read: Forbidden where a rule denies it. Nobody is asked: agents read what they like by themselves."""
        call = {"toolCallId": "", "kind": "read", "title": f"Read {path}", "rawInput": {"path": path}}
        about = self._pen.at().asks.about(PermissionAsk("", _encode(call), ()))
        verdict = self._gate.verdict(about, await self._gate.look(about))
        if verdict.action == "deny":
            raise Forbidden(f"{path} may not be read: {verdict.why}")

    async def _ask(self, call: OpenCall | None, about: dict[str, Any], look: Look, covers: Callable[[Grant], bool]) -> _Asked:
        """Judge it and, unless it is allowed already, write down that people are asked; their answer is waited for elsewhere."""
        tool_call_id = call.state.tool_call_id if call is not None else self._new_id("call")
        ask = PermissionAsk(self._new_id("req"), _encode({"toolCallId": tool_call_id, **about}), _OPTIONS)
        await self._reading.read_input(_encode(about.get("rawInput")))
        judged = self._pen.at().asks.about(ask)
        look = await self._gate.look(judged, look)
        denied = self._gate.verdict(judged, look).action == "deny"
        if not denied and any(covers(grant) for grant in self._of_this_turn()):
            return _Asked(None, tool_call_id, call is not None)
        return _Asked(self._approvals.ask_people(ask, look), tool_call_id, call is not None)

    @asynccontextmanager
    async def _allowed(self, asked: _Asked) -> AsyncIterator[None]:
        if asked.answer is None:
            yield
            return
        answer = await asked.answer
        if not answer.approved:
            raise _not_approved(answer.reason)
        try:
            yield
        except TrunklineError as error:
            self._finish(asked, "failed", error.message)
            raise
        self._finish(asked, "completed", None)

    def _look_at_file(self, path: str, others: Sequence[str]) -> tuple[Path, str | None, Look]:
        """Where a file is that shall be written, what is in it, and where the paths lead that the agent told of. Blocks."""
        real = self._workspace.resolve(path)
        self._workspace.check_writable(real, path)
        before = self._workspace.glance(str(real), PREVIEW_BYTES)
        shown = {} if before is None else {str(real): before}
        return real, before, Look(places_of(self._workspace.roots[0], others), shown)

    def _remember(self, view: ApprovalView, look: Look) -> None:
        """Something is asked for: keep it as it is now."""
        call = self._pen.fold.calls.get(view.tool_call_id)
        if call is not None and view.about is not None:
            diffs = [item for item in call.state.content or [] if isinstance(item, Diff)]
            paths = paths_of(call.state) or view.about.paths
            self._asked[view.request_id] = Grant(view.about, paths, diffs, look, self._workspace.roots[0])
        if len(self._asked) > KEPT_ASKED:
            self._asked = {key: each for key, each in self._asked.items() if key in self._pen.fold.approvals}

    def _grant(self, request_id: str, approved: bool) -> None:
        """It was decided."""
        grant = self._asked.pop(request_id, None)
        if grant is not None and approved:
            grants = self._of_this_turn()
            grants.append(grant)
            del grants[:-KEPT_GRANTS]

    def _of_this_turn(self) -> list[Grant]:
        turn = self._pen.fold.turn
        turn_id = turn.turn_id if turn is not None else None
        if turn_id != self._turn_id:
            self._turn_id, self._grants = turn_id, []
        return self._grants

    def _finish(self, asked: _Asked, status: str, message: str | None) -> None:
        """Say how a call went that the agent did not tell of."""
        if asked.told_of:
            return
        update: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": asked.tool_call_id, "status": status}
        if message is not None:
            update["rawOutput"] = {"error": message}
        self._pen.at().hear([Update(_encode(update))])
        self._pen.write()

    def _open_calls(self) -> list[OpenCall]:
        """The agent's own calls that something may belong to, the newest, for people to see; what they say now allows nothing."""
        return [call for call in self._pen.fold.calls.values() if not call.finished][-CALLS_LOOKED_UP:]


def _paths_in(calls: Sequence[OpenCall]) -> list[str]:
    """The paths that calls tell of."""
    return [path for call in calls for path in paths_of(call.state)]


def _not_approved(reason: str | None) -> Forbidden:
    """What the agent is told: the reason may help it to do something else."""
    if reason is None:
        return Forbidden("it was not approved")
    return Forbidden(f"it was not approved: {reason}", details={"reason": reason})


def _size_of(content: str | msgspec.Raw) -> int:
    return len(content) if isinstance(content, str) else len(memoryview(content)) - 2


def _as_shown(diff: Diff | None, content: str | msgspec.Raw, before: str | None) -> bool:
    """Whether what is written is what a person was shown: the whole new text, or the file with the piece put in its place."""
    if diff is None or content == diff.new_text:
        return True
    if not isinstance(content, str) or not diff.old_text or before is None or diff.old_text not in before:
        return False
    return content in (before.replace(diff.old_text, diff.new_text, 1), before.replace(diff.old_text, diff.new_text))


class _Request:
    """A command to be run, to be found among those that were asked for: the line itself, as a shell's script, or word for word.

    Taking a line apart is slow and done on the loop: only for a line that is not long and has the same letters, and for a few.
    What is not taken apart is not the same, and is asked about.
    """

    def __init__(self, command: str, args: Sequence[str]) -> None:
        self.line = shlex.join([command, *args]) if args else command
        self._words = [command, *args]
        is_script = len(args) == 2 and args[0] in ("-c", "-lc") and command in SHELLS
        self._exact = args[1] if is_script else None if args else command
        self._letters = None if self._exact is not None else _letters(" ".join(self._words))
        self._splits_left = SPLIT_MOST

    def is_same(self, asked: str) -> bool:
        """Whether a command that was asked for is this one."""
        if not asked:
            return False
        if self._exact is not None:
            return asked == self._exact
        if asked == self.line:
            return True
        if len(asked) > SPLIT_CHARS or self._splits_left == 0 or _letters(asked) != self._letters:
            return False
        self._splits_left -= 1
        try:
            return shlex.split(asked) == self._words
        except ValueError:
            return False


_NO_LETTERS = str.maketrans("", "", "'\"\\ \t\r\n")
"""What a shell takes away when it makes words of a line."""


def _letters(line: str) -> str:
    return line.translate(_NO_LETTERS)
