"""What an agent has the hub do for it (write a file, run a command, read a file) passes the same rules as its own tools.

Rule 1: what a person or a rule allowed as a tool call is not asked about again, but only exactly that: it is kept as it was when
it was asked for, since the agent may say otherwise later. A command counts for the same one behind harmless variables and a
plain shell (``dialects/calls/variables.py``), a write for the content that was shown, where its path led to. It counts once, in
its turn, and a rule that denies still denies. What the hub itself asked about is done with its answer, and allows nothing more.
Rule 2: everything else is asked about, by rule or by people, and is in the journal like any other approval.
Rule 3: an ask of ours is about the agent's own call where it told of one, else about one that we tell of in its place. That is
for people to see: which call it is found to belong to allows nothing.
Rule 4: what is allowed is what was looked at: the place that a path led to then, and no other, is written. The looks are off the
loop, one at a time, so that asks are written down in the order in which the agent made them.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trunkline.dialects.calls.variables import Bare, bare_line, is_same
from trunkline.dialects.context.types import ToolCategory
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.errors import Forbidden, TrunklineError
from trunkline.session.approvals.approvals import Approvals, Resolution
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.fold import ApprovalView, OpenCall
from trunkline.session.intake.read_ahead import Reading
from trunkline.session.interpret.asks.preview import TEXT_MOST, Piece, pieces_of
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.recorder import Pen
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import Look, places_of

PREVIEW_BYTES = 64 << 10
"""A file up to this size is shown as a diff when its writing is asked about."""

SHOWN_CHARS = 4 * TEXT_MOST
"""Characters of a file that people are shown; of a longer one they are told its length, so that nothing of it was shown."""

NO_WRITES: frozenset[ToolCategory] = frozenset({"file_read", "search", "terminal"})
"""Categories whose approval is never one to write a file, whatever texts are in their inputs."""

CALLS_LOOKED_UP = 200
"""Open calls that are looked at to find the one that a write or a command belongs to, the newest; agents have a few."""

TAKEN_APART = 8
"""Commands that are taken apart for one request, 2 ms each. They have its letters, so there is rarely more than one."""

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

    def __init__(self, about: PolicyAsk, pieces: Iterable[Piece], look: Look, root: str) -> None:
        """``pieces`` are the changes that the ask showed."""
        self.command = about.command
        self.cwd = root if about.cwd is None else look.real(about.cwd)
        self.texts: dict[str, list[Piece]] = {}
        if about.command is None and about.category not in NO_WRITES:
            for piece in pieces:
                if (real := look.real(piece[0])) is not None:
                    self.texts.setdefault(real, []).append(piece)

    def take_write(self, real: str, content: str | msgspec.Raw, before: str | None) -> bool:
        """Whether this lets the file be written so; a path counts once."""
        pieces = self.texts.get(real)
        if pieces is None or not isinstance(content, str) or not _as_shown(pieces, content, before):
            return False
        del self.texts[real]
        return True

    def take_run(self, request: _Request) -> bool:
        """Whether this lets the command be run in its folder; it counts once."""
        if self.command is None or self.cwd is None or request.folder_as(self.command) != self.cwd:
            return False
        self.command = None
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
        self._ours: set[str] = set()
        """Asks of the hub itself that are being written down: their answers are for one act, which waits for them."""
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
            told = self._told_writes()
            named = [each for paths in told.values() for each in paths]
            real, before, look = await self._workspace.lane.run(self._look_at_file, path, named)
            found = next((key for key, paths in told.items() if any(look.real(each) == str(real) for each in paths)), None)
            call = self._pen.fold.calls.get(found) if found is not None else None
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
            request, facts = _Request(command, args, env, self._reading.names.variables, str(where)), self._pen.at().tools.facts
            if request.goes_to is not None:
                request.ends_up = await self._real_folder(request.goes_to)
            call = next((call for call in self._open_calls() if request.folder_as(facts(call).command) is not None), None)
            given = {"command": request.line, **({"cwd": cwd} if cwd else {}), **({"env": dict(env)} if env else {})}
            about = {"kind": "execute", "title": f"Run {request.line}"[:200], "rawInput": given}
            asked = await self._ask(call, about, Look(), lambda grant: grant.take_run(request))
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
        ask = PermissionAsk(self._new_id("req"), _encode({"toolCallId": tool_call_id, **about}), _OPTIONS, is_act=True)
        await self._reading.read_input(_encode(about.get("rawInput")))
        judged = self._pen.at().asks.about(ask)
        look = await self._gate.look(judged, look)
        denied = self._gate.verdict(judged, look).action == "deny"
        if not denied and any(covers(grant) for grant in self._of_this_turn()):
            return _Asked(None, tool_call_id, call is not None)
        self._ours.add(ask.request_id)
        try:
            return _Asked(self._approvals.ask_people(ask, look), tool_call_id, call is not None)
        finally:
            self._ours.discard(ask.request_id)

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

    async def _real_folder(self, folder: str) -> str | None:
        """Where a folder is that a command goes to first; None where that is outside, or not known."""
        try:
            return str(await self._workspace.lane.run(self._workspace.resolve, folder))
        except TrunklineError:
            return None

    def _look_at_file(self, path: str, others: Sequence[str]) -> tuple[Path, str | None, Look]:
        """Where a file is that shall be written, what is in it, and where the paths lead that the agent told of. Blocks."""
        real = self._workspace.resolve(path)
        self._workspace.check_writable(real, path)
        before = self._workspace.glance(str(real), PREVIEW_BYTES)
        shown = {} if before is None else {str(real): before}
        return real, before, Look(places_of(self._workspace.roots[0], others), shown)

    def _remember(self, view: ApprovalView, look: Look) -> None:
        """Something is asked for: keep it as it is now."""
        if view.about is not None and view.request_id not in self._ours:
            self._asked[view.request_id] = Grant(view.about, self._pieces_shown(view), look, self._workspace.roots[0])
        if len(self._asked) > KEPT_ASKED:
            self._asked = {key: each for key, each in self._asked.items() if key in self._pen.fold.approvals}

    def _pieces_shown(self, view: ApprovalView) -> Iterator[Piece]:
        """The changes that people see in an ask. One for several calls lists them, without what they write."""
        call = self._pen.fold.calls.get(view.tool_call_id)
        if call is not None and view.request_id in self._pen.fold.approvals:
            yield from (piece for piece in pieces_of(self._pen.at().tools.facts(call)) if len(piece[2]) <= SHOWN_CHARS)

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
        """The agent's own calls that something may belong to, for people to see, the newest; what they say now allows nothing. A
        permission under an id that no call has is none of them: what comes of this is no end of that."""
        return [call for call in self._pen.fold.calls.values() if call.counted and not call.finished][-CALLS_LOOKED_UP:]

    def _told_writes(self) -> dict[str, tuple[str, ...]]:
        """The paths of those open calls that may write, by the calls' ids."""
        read = self._pen.at().tools.reading
        readings = {call.state.tool_call_id: read(call) for call in self._open_calls()}
        return {key: found.paths for key, found in readings.items() if found.command is None and not found.only_looks}


def _not_approved(reason: str | None) -> Forbidden:
    """What the agent is told: the reason may help it to do something else."""
    if reason is None:
        return Forbidden("it was not approved")
    return Forbidden(f"it was not approved: {reason}", details={"reason": reason})


def _size_of(content: str | msgspec.Raw) -> int:
    return len(content) if isinstance(content, str) else len(memoryview(content)) - 2


def _as_shown(pieces: Sequence[Piece], content: str, before: str | None) -> bool:
    """Whether what is written is what a person was shown: the whole new text, or the file with the pieces put in their places."""
    _, old, new = pieces[0]
    if len(pieces) == 1 and (not old or old == before or (before is None and len(old) > PREVIEW_BYTES)):
        return content == new  # a longer text than that is not one out of a file which is too long to be looked at
    if len(pieces) == 1 and old and before is not None and content == before.replace(old, new):
        return old in before
    after = before
    for _, old, new in pieces:
        if after is None or not old or old not in after:
            return False
        after = after.replace(old, new, 1)
    return content == after


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

    def folder_as(self, asked: str) -> str | None:
        """The folder in which a command that was asked for runs, if this is it; None where it is another one."""
        if not asked or self._left == 0 or self._letters not in Bare(asked).letters:
            return None
        self._left -= 1
        other = bare_line([asked])
        if not is_same(other, self._bare) or other.folder not in (None, self.goes_to):
            return None
        return self._where if other.folder == self.goes_to else self.ends_up
