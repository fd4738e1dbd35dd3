"""What an agent may ask of its client: files (``fs/*``) and terminals (``terminal/*``), inside the session's roots.

Rule 1: what changes something passes the rules first (``permits``).
Rule 2: bad parameters and refused paths are errors of our tree; the driver turns them into JSON-RPC errors.
Rule 3: a request names its session, and only the caller's own is served: checked once, before anything is looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from trunkline.agents.catalog import Quirks
from trunkline.agents.process import ChildCommand
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox import Confine, as_is
from trunkline.dialects.acp.client import (
    CreateTerminalRequest,
    KillTerminalRequest,
    ReadTextFileRequest,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
    WriteTextFileRequest,
)
from trunkline.dialects.acp.methods import (
    FS_READ_TEXT_FILE,
    FS_WRITE_TEXT_FILE,
    TERMINAL_CREATE,
    TERMINAL_KILL,
    TERMINAL_OUTPUT,
    TERMINAL_RELEASE,
    TERMINAL_WAIT_FOR_EXIT,
)
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.acp.reading.large import LARGE_UPDATE, LargeWrite, large_write, strings_of
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid, NotFound, Unsupported
from trunkline.session.client.terminals import Terminals, TurnCommands
from trunkline.session.driver.acp.limits import check_command, check_path
from trunkline.session.driver.base import Serving
from trunkline.session.judges import load_judges
from trunkline.session.workspace.files import Workspace

PRINTED_CHARS = 256 << 10
"""Characters of a command's output that its call's result may carry."""

Printed = Callable[[str, str, int | None], None]
"""Told what a terminal printed and how its command ended: its id, the output, the exit code."""

Prints = Callable[[str, int, str], bool]
"""Told what a terminal's command prints while it runs: its id, the offset, the piece; False where nobody shows it yet."""

_Handler = Callable[[Any], Awaitable[Any]]

_encode = msgspec.json.Encoder().encode


class Permitting(Protocol):
    """Who says what may be done; raises Forbidden where it may not."""

    async def read(self, path: str) -> None:
        """Before a file is read."""

    def write(self, path: str, content: str | msgspec.Raw) -> AbstractAsyncContextManager[Path]:
        """Around the writing of a file; gives the place that may be written. A long text is a JSON string, which nobody shows."""

    def run(self, command: str, args: Sequence[str], cwd: str | None,
            env: Mapping[str, str]) -> AbstractAsyncContextManager[Path]:
        """Around the start of a command; gives the folder that it may be started in."""


class HubCalls:
    """Serves one agent's requests."""

    def __init__(self, workspace: Workspace, env: Mapping[str, str], quirks: Quirks, permits: Permitting,
                 acted: Callable[[Sequence[str]], None],
                 printed: Printed = lambda terminal_id, output, exit_code: None,
                 prints: Prints = lambda terminal_id, offset, output: True, confine: Confine = as_is,
                 resources: Resources | None = None) -> None:
        self._workspace = workspace
        self._permits = permits
        self._acted = acted
        self._printed = printed
        self._quirks = quirks
        self._terminals = Terminals(env, prints, confine, resources)
        self._storing = asyncio.Lock()
        self._served: dict[str, _Handler] = {
            FS_READ_TEXT_FILE: self._read,
            FS_WRITE_TEXT_FILE: self._write,
            TERMINAL_OUTPUT: self._output,
            TERMINAL_WAIT_FOR_EXIT: self._wait,
            TERMINAL_KILL: self._kill,
            TERMINAL_RELEASE: self._release,
        }

    def accept(self, method: str, params: bytes, check_caller: Callable[[str], None]) -> Serving:
        """Take one request, of the turn that runs; ``check_caller`` raises where its session is not the caller's own."""
        handler = self._served.get(method)
        if method == TERMINAL_CREATE:
            handler = partial(self._create, turn=self._terminals.turn)
        return partial(self._serve, method, params, check_caller, handler)

    async def _serve(self, method: str, params: bytes, check_caller: Callable[[str], None], handler: _Handler | None) -> bytes:
        if handler is None:
            raise Unsupported(f"this client does not serve {method}")
        is_large = method == FS_WRITE_TEXT_FILE and len(memoryview(params)) > LARGE_UPDATE
        ask = large_write(params) if is_large else decode_params(method, params)
        check_caller(ask.session_id)
        _check_place(ask)
        await load_judges()
        answer = await handler(ask)
        return answer if isinstance(answer, bytes) else _encode(answer)

    def turn_began(self) -> None:
        """Commands that are started from now on belong to a new turn."""
        self._terminals.begin_turn()

    def turn_cancelled(self, *, ended: bool = False) -> list[Coroutine[Any, Any, Any]]:
        """What ends the commands that were started in this turn; ``ended``: in the one that is over already."""
        return [child.kill() for child in self._terminals.cancel_turn(ended=ended)]

    def turn_ended(self) -> None:
        """Commands that are started from now on belong to no turn."""
        self._terminals.end_turn()

    async def close(self) -> None:
        """End every terminal; the agent is going."""
        await self._terminals.release_all()

    async def _read(self, ask: ReadTextFileRequest) -> bytes:
        await self._permits.read(ask.path)
        try:
            return await self._workspace.lane.run(self._workspace.read_json, ask.path, "content", line=ask.line, limit=ask.limit)
        except NotFound:
            if not self._quirks.missing_file_is_empty:
                raise
            return b'{"content":""}'

    async def _write(self, ask: WriteTextFileRequest | LargeWrite) -> dict[str, str]:
        async with self._permits.write(ask.path, ask.content) as real:
            self._acted([ask.path])
            await self._store(ask, real)
        return {}

    async def _store(self, ask: WriteTextFileRequest | LargeWrite, real: Path) -> None:
        """Write the file where it was allowed; one after the other, so that the last one asked for is the one that stays."""
        async with self._storing:
            if isinstance(ask, LargeWrite):
                await self._workspace.lane.run(self._workspace.write_pieces, ask.path, _text_of(ask), real=real)
            else:
                await self._workspace.lane.run(self._workspace.write_text, ask.path, ask.content, real=real)

    async def _create(self, ask: CreateTerminalRequest, turn: TurnCommands) -> dict[str, str]:
        variables = {pair.name: pair.value for pair in ask.env or []}
        check_command(ask.command, ask.args or [], variables)
        async with self._permits.run(ask.command, ask.args or [], ask.cwd, variables) as where:
            self._acted([ask.command, *(ask.args or [])])
            return {"terminalId": await self._start(ask, where, turn)}

    async def _start(self, ask: CreateTerminalRequest, where: Path, turn: TurnCommands) -> str:
        return await self._terminals.create(ask, where, turn)

    async def _output(self, ask: TerminalOutputRequest) -> dict[str, Any]:
        child = self._terminals.get(ask.terminal_id)
        self._report_output(ask.terminal_id, child)
        answer: dict[str, Any] = {"output": child.output(), "truncated": child.truncated}
        if child.exit is not None:
            answer["exitStatus"] = {"exitCode": child.exit.code, "signal": child.exit.signal}
        return answer

    async def _wait(self, ask: WaitForTerminalExitRequest) -> dict[str, Any]:
        child = self._terminals.get(ask.terminal_id)
        ended = await child.wait()
        self._report_output(ask.terminal_id, child)
        return {"exitCode": ended.code, "signal": ended.signal}

    async def _kill(self, ask: KillTerminalRequest) -> dict[str, Any]:
        await self._terminals.get(ask.terminal_id).kill()
        return {}

    async def _release(self, ask: ReleaseTerminalRequest) -> dict[str, Any]:
        self._report_output(ask.terminal_id, self._terminals.get(ask.terminal_id))
        await self._terminals.release(ask.terminal_id)
        return {}

    def _report_output(self, terminal_id: str, child: ChildCommand) -> None:
        """Say what a command that has ended printed: the agent may only point at the terminal."""
        if child.exit is not None:
            self._terminals.ended(terminal_id)
            self._printed(terminal_id, child.output()[:PRINTED_CHARS], child.exit.code)


def _check_place(ask: msgspec.Struct) -> None:
    """Invalid where a request names a place that cannot be: nobody looks at such a name any further."""
    for path in (getattr(ask, "path", None), getattr(ask, "cwd", None)):
        if path is not None:
            check_path(path)


def _text_of(ask: LargeWrite) -> Iterator[bytes]:
    """What is to be written, piece by piece."""
    try:
        for text in strings_of(memoryview(ask.content)):
            yield text.encode("utf-8", errors="surrogatepass")
    except BROKEN as error:
        raise Invalid(f"content cannot be read: {error}") from None
