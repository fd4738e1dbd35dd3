"""What an ACP agent has its client do: read and write files, run commands in terminals.

Rule 1: each request runs in a task of its own, so that the pipe is read on; so many at once (``limits``).
Rule 2: every request is answered, with an error where it may not or cannot be served: an agent that is not answered hangs.
Rule 3: an answer of over 1 MiB waits until the agent has read what came before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import FS_READ_TEXT_FILE, TERMINAL_OUTPUT
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal
from trunkline.errors import Forbidden, LocalError, NotFound, TrunklineError, Unsupported
from trunkline.session.driver.acp.connection import LONG_ANSWER, AgentConnection
from trunkline.session.driver.acp.limits import Served
from trunkline.session.driver.base import ClientCalls, Serving

ANSWERS_AT_ONCE = 4
"""Files and outputs that are read for the agent at once: each may have 64 MiB, which wait until it has read what came before."""

NAMED_CHARS = 80
"""As much of an id that is not ours is written down."""

_LONG_ANSWERS = (FS_READ_TEXT_FILE, TERMINAL_OUTPUT)

_encode = msgspec.json.Encoder().encode


class ClientService:
    """What is being done for one agent. ``emit`` takes what whoever reads along should know."""

    def __init__(self, calls: ClientCalls, connection: AgentConnection, is_ours: Callable[[str], bool],
                 emit: Callable[[list[Signal]], None]) -> None:
        self._calls = calls
        self._connection = connection
        self._is_ours = is_ours
        self._emit = emit
        self._served = Served()
        self._long_answers = asyncio.Semaphore(ANSWERS_AT_ONCE)
        self._answering = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def on_request(self, method: str, message: jsonrpc.Request) -> None:
        """The agent wants something done."""
        size = len(memoryview(message.params)) if message.params is not None else 0
        why = self._served.refusal(method, size)
        if why is not None:
            self._connection.peer.send_error(message.id, ErrorCode.INVALID_REQUEST, why)
            return
        self._served.begin(size)
        self._spawn(self._serve(method, message.id, self._accept(method, message))).add_done_callback(
            lambda _: self._served.end(size))

    def end_commands(self, *, turn_ended: bool = False) -> None:
        """The turn that runs, or the one that is over, was cancelled: end the commands that were started in it."""
        for ending in self._calls.turn_cancelled(ended=turn_ended):
            self._spawn(_end_command(ending))

    async def close(self) -> None:
        """The agent is going."""
        for task in list(self._tasks):
            task.cancel()
        await self._calls.close()

    def _accept(self, method: str, message: jsonrpc.Request) -> Serving:
        """Before its task begins: by then the turn in which it came may be over."""
        params: bytes = message.params if message.params is not None else b"{}"
        return self._calls.accept(method, params, partial(self._check_caller, method))

    async def _serve(self, method: str, request_id: msgspec.Raw, serving: Serving) -> None:
        if method not in _LONG_ANSWERS:
            await self._answer(method, request_id, serving)
            return
        async with self._long_answers:
            await self._answer(method, request_id, serving)

    async def _answer(self, method: str, request_id: msgspec.Raw, serving: Serving) -> None:
        peer = self._connection.peer
        try:
            result = await serving()
            if len(result) > LONG_ANSWER:
                await self._send_long(request_id, result)
                return
        except TrunklineError as error:
            peer.send_error(request_id, _rpc_code(error), error.message, _encode(_rpc_data(error)))
        except Exception as error:  # the request's boundary: an agent that is not answered hangs
            peer.send_error(request_id, ErrorCode.INTERNAL_ERROR, f"{method} failed: {error!r}")
        else:
            peer.send_result(request_id, result)
        self._connection.flush()

    async def _send_long(self, request_id: msgspec.Raw, result: bytes) -> None:
        """One after the other, each when the agent has read the one before."""
        async with self._answering:
            await self._connection.running().drain()
            self._connection.peer.send_result(request_id, result)
            self._connection.flush()

    def _check_caller(self, method: str, session_id: str) -> None:
        """Forbidden for a session that is not ours, and written down: whoever reads along should know that it was tried."""
        if not self._is_ours(session_id):
            self._emit([CustomNote("foreign_call", _encode({"method": method, "sessionId": session_id[:NAMED_CHARS]}))])
            raise Forbidden(f"sessionId {session_id[:NAMED_CHARS]!r} is not the session of this connection")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _end_command(ending: Coroutine[Any, Any, Any]) -> None:
    with suppress(TrunklineError):  # an editor that refuses has to look after its terminal itself
        await ending


def _rpc_code(error: TrunklineError) -> int:
    if isinstance(error, NotFound):
        return ErrorCode.RESOURCE_NOT_FOUND
    if isinstance(error, Unsupported):
        return ErrorCode.METHOD_NOT_FOUND
    return ErrorCode.INVALID_PARAMS if isinstance(error, LocalError) else ErrorCode.INTERNAL_ERROR


def _rpc_data(error: TrunklineError) -> dict[str, Any]:
    reason = (error.details or {}).get("reason")
    return {"code": error.code} if reason is None else {"code": error.code, "reason": reason}
