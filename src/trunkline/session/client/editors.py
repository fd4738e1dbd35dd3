"""Editors that serve files and terminals to the agent whose prompt they sent, so that unsaved buffers and their terminal count.

Rule 1: who sent the running prompt serves, if it offers to; else the hub does, and also when that editor leaves.
Rule 2: what an editor does for an agent passes the same rules as what the hub does for it, and stays in the session's folders.
Rule 3: an editor is outside of every sandbox: in a session that has one, the hub serves.
Rule 4: terminals have ids of ours: two editors may give the same one.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from trunkline.agents.catalog import Quirks
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.acp.client import (
    CreateTerminalRequest,
    KillTerminalRequest,
    ReadTextFileRequest,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WriteTextFileRequest,
)
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.dialects.acp.methods import (
    FS_READ_TEXT_FILE,
    FS_WRITE_TEXT_FILE,
    TERMINAL_CREATE,
    TERMINAL_KILL,
    TERMINAL_OUTPUT,
    TERMINAL_RELEASE,
    TERMINAL_WAIT_FOR_EXIT,
)
from trunkline.dialects.acp.reading.decode import decode_result
from trunkline.dialects.acp.reading.large import LargeWrite
from trunkline.errors import LocalError, NotFound, RemoteError, TrunklineError, Unavailable
from trunkline.session.client.requests import PRINTED_CHARS, HubCalls, Permitting, Printed, Prints
from trunkline.session.client.terminals import TurnCommands
from trunkline.session.fold import Fold
from trunkline.session.workspace.files import Workspace

CALL_S = 30.0
"""How long an editor may take for a file, or to open a terminal. A person may have to be asked."""
CLOSE_S = 2.0

AnyFile = TypeVar("AnyFile", ReadTextFileRequest, WriteTextFileRequest)

_encode = msgspec.json.Encoder().encode


class Editor(Protocol):
    """One editor, as far as it serves agents."""

    @property
    def offers(self) -> ClientCapabilities:
        """What it serves."""

    async def call(self, method: str, params: bytes) -> bytes:
        """The result of a request to it; a LocalError where it refuses, Unavailable when it has left."""


class TheirTerminal(msgspec.Struct):
    """A terminal in an editor, under the id that the editor gave it."""

    editor: Editor
    terminal_id: str
    reported: bool = False
    """Whether it is known what the command printed in all."""


class Editors:
    """The editors at work in one session."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._prompts: dict[str, Editor] = {}
        self.terminals: dict[str, TheirTerminal] = {}
        """By our id."""

    def lend(self, key: str, editor: Editor) -> None:
        """This editor sends, or has sent, the prompt of that idempotency key."""
        self._prompts[key] = editor

    def take_back(self, key: str) -> None:
        """That prompt is over."""
        self._prompts.pop(key, None)

    def left(self, editor: Editor) -> None:
        """The editor is gone; its terminals are, too."""
        self._prompts = {key: each for key, each in self._prompts.items() if each is not editor}
        self.terminals = {key: each for key, each in self.terminals.items() if each.editor is not editor}

    def current(self) -> Editor | None:
        """Who sent the prompt that runs; None where that is no editor, it has left, or it may not serve (Rule 3)."""
        turn = self._fold.turn
        if turn is None or self._fold.sandbox is not None:
            return None
        for key, editor in self._prompts.items():
            sent = self._fold.sent.get(key)
            if sent is not None and sent.turn_id == turn.turn_id:
                return editor
        return None

    def their_id(self, terminal_id: str, editor: Editor) -> str | None:
        """What an editor calls a terminal of ours; None where it is not in that editor."""
        theirs = self.terminals.get(terminal_id)
        return theirs.terminal_id if theirs is not None and theirs.editor is editor else None


class EditorCalls(HubCalls):
    """Serves one agent: by the editor where there is one, else by the hub."""

    def __init__(self, editors: Editors, session_id: str, workspace: Workspace, env: Mapping[str, str], quirks: Quirks,
                 permits: Permitting, acted: Callable[[Sequence[str]], None], printed: Printed, prints: Prints,
                 confine: Confine = as_is, resources: Resources | None = None) -> None:
        super().__init__(workspace, env, quirks, permits, acted, printed, prints, confine, resources)
        self.editors = editors
        self.session_id = session_id
        self._before: frozenset[str] = frozenset()
        """Their terminals that were there when the turn began."""
        self._of_ended: frozenset[str] = frozenset()
        """Those of the turn that is over."""

    def turn_began(self) -> None:
        """Commands that are started from now on belong to a new turn."""
        super().turn_began()
        self._before = frozenset(self.editors.terminals)

    def turn_cancelled(self, *, ended: bool = False) -> list[Coroutine[Any, Any, Any]]:
        """What ends the commands that were started in this turn. An editor that does not answer keeps its own."""
        theirs = [key for key in self.editors.terminals if key in (self._of_ended if ended else self._of_turn())]
        kills = [self._their(terminal_id, TERMINAL_KILL) for terminal_id in theirs]
        return [*super().turn_cancelled(ended=ended), *kills]

    def turn_ended(self) -> None:
        """Commands that are started from now on belong to no turn."""
        super().turn_ended()
        self._of_ended = self._of_turn()
        self._before = frozenset(self.editors.terminals)

    def _of_turn(self) -> frozenset[str]:
        return frozenset(self.editors.terminals) - self._before

    async def close(self) -> None:
        """End every terminal; the agent is going. An editor that does not answer has to look after its terminal itself."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await asyncio.gather(*map(self._release_theirs, [*self.editors.terminals]), return_exceptions=True)
        await super().close()

    async def _read(self, ask: ReadTextFileRequest) -> bytes:
        editor = self.editors.current()
        if editor is not None and editor.offers.fs is not None and editor.offers.fs.read_text_file:
            await self._workspace.lane.run(self._workspace.resolve, ask.path)
            await self._permits.read(ask.path)
            # A file that the editor has no buffer of may be on disk all the same.
            with suppress(LocalError, RemoteError, Unavailable):
                result = await self._call(editor, FS_READ_TEXT_FILE, self._absolute(ask))
                return _encode({"content": decode_result(FS_READ_TEXT_FILE, result).content})
        return await super()._read(ask)

    async def _store(self, ask: WriteTextFileRequest | LargeWrite, real: Path) -> None:
        editor = self.editors.current()
        if isinstance(ask, LargeWrite):
            await super()._store(ask, real)  # no editor has so long a text open
            return
        if editor is not None and editor.offers.fs is not None and editor.offers.fs.write_text_file:
            try:
                await self._call(editor, FS_WRITE_TEXT_FILE, self._absolute(ask))
                return
            except Unavailable:
                pass  # it has left: the hub writes
        await super()._store(ask, real)

    async def _start(self, ask: CreateTerminalRequest, where: Path, turn: TurnCommands) -> str:
        turn.check_not_cancelled()
        editor = self.editors.current()
        if editor is not None and editor.offers.terminal:
            request = ask if ask.cwd else msgspec.structs.replace(ask, cwd=self._workspace.roots[0])
            try:
                result = await self._call(editor, TERMINAL_CREATE, request)
            except Unavailable:
                return await super()._start(ask, where, turn)
            terminal_id = f"term_{secrets.token_hex(8)}"
            their_id = decode_result(TERMINAL_CREATE, result).terminal_id
            self.editors.terminals[terminal_id] = TheirTerminal(editor, their_id)
            if turn.is_cancelled:  # meanwhile
                with suppress(TrunklineError):  # an editor that refuses has to look after its terminal itself
                    await self._release_theirs(terminal_id)
                turn.check_not_cancelled()
            return terminal_id
        return await super()._start(ask, where, turn)

    async def _output(self, ask: TerminalOutputRequest) -> dict[str, Any]:
        terminal_id = ask.terminal_id
        if terminal_id not in self.editors.terminals:
            return await super()._output(ask)
        return _plain(await self._their_output(terminal_id))

    async def _wait(self, ask: WaitForTerminalExitRequest) -> dict[str, Any]:
        terminal_id = ask.terminal_id
        if terminal_id not in self.editors.terminals:
            return await super()._wait(ask)
        answer = _plain(await self._their(terminal_id, TERMINAL_WAIT_FOR_EXIT))
        await self._learn_output(terminal_id)
        return answer

    async def _kill(self, ask: KillTerminalRequest) -> dict[str, Any]:
        terminal_id = ask.terminal_id
        if terminal_id not in self.editors.terminals:
            return await super()._kill(ask)
        await self._their(terminal_id, TERMINAL_KILL)
        return {}

    async def _release(self, ask: ReleaseTerminalRequest) -> dict[str, Any]:
        terminal_id = ask.terminal_id
        if terminal_id not in self.editors.terminals:
            return await super()._release(ask)
        await self._learn_output(terminal_id)
        await self._release_theirs(terminal_id)
        return {}

    async def _release_theirs(self, terminal_id: str) -> None:
        try:
            await self._their(terminal_id, TERMINAL_RELEASE)
        finally:
            self.editors.terminals.pop(terminal_id, None)

    async def _learn_output(self, terminal_id: str) -> None:
        """Learn what a command in an editor printed, once: its call's result shows it, as it does for our own."""
        theirs = self.editors.terminals.get(terminal_id)
        if theirs is not None and not theirs.reported:
            with suppress(TrunklineError):  # without it the result says less
                await self._their_output(terminal_id)

    async def _their_output(self, terminal_id: str) -> TerminalOutputResponse:
        answer: TerminalOutputResponse = await self._their(terminal_id, TERMINAL_OUTPUT)
        theirs = self.editors.terminals.get(terminal_id)
        if theirs is not None and answer.exit_status is not None:
            theirs.reported = True
            self._printed(terminal_id, answer.output[:PRINTED_CHARS], answer.exit_status.exit_code)
        return answer

    async def _their(self, terminal_id: str, method: str) -> Any:
        theirs = self.editors.terminals[terminal_id]
        params = {"sessionId": self.session_id, "terminalId": theirs.terminal_id}
        try:
            if method == TERMINAL_WAIT_FOR_EXIT:
                result = await theirs.editor.call(method, _encode(params))
            else:
                result = await self._bounded(theirs.editor, method, _encode(params))
        except Unavailable:
            raise NotFound(f"the editor that ran terminal {terminal_id} has left") from None
        return decode_result(method, result)

    def _absolute(self, ask: AnyFile) -> AnyFile:
        """With the path that the protocol wants. Links in it stay: an editor knows its buffers by the names it opened."""
        return msgspec.structs.replace(ask, path=os.path.join(self._workspace.roots[0], ask.path))

    async def _call(self, editor: Editor, method: str, ask: msgspec.Struct) -> bytes:
        return await self._bounded(editor, method, _encode(msgspec.structs.replace(ask, session_id=self.session_id)))

    async def _bounded(self, editor: Editor, method: str, params: bytes) -> bytes:
        try:
            async with asyncio.timeout(CALL_S):
                return await editor.call(method, params)
        except TimeoutError:
            raise RemoteError(f"the editor did not answer {method} within {CALL_S:g} s") from None


def _plain(answer: msgspec.Struct) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(answer)
    return built
