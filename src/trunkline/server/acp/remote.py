"""An editor's sessions that other nodes own: its requests go to the owner, and what the owner asks comes to the editor.

Only a hub in a cluster loads this. The editor's connection ends here; behind it there is one WebSocket in a tunnel to each owner
(``cluster/tunnel/duplex.py``), at which the owner serves it as an editor of its own.

Rule 1: what the owner asks (files, terminals, permissions, forms) is asked under an id of this connection's own, so that two
owners cannot be taken for each other. What it takes back is taken back here.
Rule 2: what the owner tells is passed on as it came, and what belongs together stays together.
Rule 3: a line that is lost ends what waits at it, on both sides. The next request opens another.
Rule 4: an owner speaks of the sessions that the editor asked it about. What it says of others goes nowhere: it may be somebody
who stole its key.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from trunkline import decoders
from trunkline.cluster.tunnel.duplex import Closed, Duplex
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import CANCEL_REQUEST, INITIALIZE, SESSION_FORK, SESSION_LOAD, SESSION_RESUME
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.outside import BROKEN
from trunkline.errors import NodeSilent, TrunklineError
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.acp.handshake import Handshake
from trunkline.server.acp.tasks import EditorTasks, Spawn
from trunkline.server.elsewhere import Elsewhere
from trunkline.server.websocket import PeerGone

log = logging.getLogger("trunkline.cluster")

OpenLine = Callable[[], AbstractAsyncContextManager[Duplex]]


class _Named(msgspec.Struct, rename="camel"):
    session_id: str = ""


_named = decoders.of(_Named)


def session_named(params: bytes | None) -> str:
    """The session that a message is about; "" where it is about none, or cannot be read."""
    try:
        return _named.decode(params or b"{}").session_id
    except BROKEN:
        return ""


class RemoteSessions:
    """The lines of one editor to the owners of its sessions."""

    def __init__(self, elsewhere: Elsewhere, handshake: Handshake, editor: EditorLine, tasks: EditorTasks) -> None:
        self._elsewhere = elsewhere
        self._handshake = handshake
        self._editor = editor
        self._tasks = tasks
        self._lines: dict[str, OwnerLine] = {}
        """By the owner's node."""

    async def owner(self, params: bytes | None) -> Owner | None:
        """The other node that owns the session which a message names; None where it is ours to answer."""
        session = session_named(params)
        return await self._elsewhere.owner(session) if session else None

    async def answer(self, owner: Owner, method: str, request: EditorRequest) -> None:
        """Have the owner answer a request. Of a session whose owner is away there is what the cluster has, to be read."""
        shown = self._elsewhere.shown_for(owner.node) if method in (SESSION_LOAD, SESSION_RESUME) else None
        if shown is None:
            self._elsewhere.check_there(owner.node)
            await self._line(owner).answer(method, request)
            return
        from trunkline.server.acp.away import open_away  # seldom needed

        await open_away(await shown.session(session_named(request.params)), self._editor, self._handshake, self._tasks.spawn,
                        method, request)

    async def notify(self, owner: Owner, method: str, params: bytes | None) -> None:
        """Pass a notification on."""
        await self._line(owner).notify(method, params)

    def take_back(self, params: bytes | None) -> bool:
        """The editor takes a request back; False where no other node has it."""
        wanted = bytes(decode_params(CANCEL_REQUEST, params).request_id)
        return any(line.take_back(wanted) for line in self._lines.values())

    def leave(self) -> None:
        """The editor is gone."""
        for line in list(self._lines.values()):
            line.end()

    def _line(self, owner: Owner) -> OwnerLine:
        line = self._lines.get(owner.node)
        if line is None or line.is_over:
            line = self._lines[owner.node] = OwnerLine(self._editor, self._tasks.spawn)
            line.begin(lambda: self._elsewhere.editor_socket(owner, self._handshake.caller), self._handshake.hello)
        return line


class OwnerLine:
    """One editor's line to one owner."""

    def __init__(self, editor: EditorLine, spawn: Spawn) -> None:
        self._editor = editor
        self._spawn = spawn
        self._peer = jsonrpc.Peer()
        self._duplex: Duplex
        self._sending = asyncio.Lock()
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answers: dict[int, asyncio.Future[jsonrpc.Response]] = {}
        self._passed_on: dict[bytes, int] = {}
        """Requests of the editor's, by its ids, and under which id the owner has them."""
        self._asked: dict[bytes, int] = {}
        """What the owner asks, by its ids, and under which id the editor has it."""
        self._sessions: set[str] = set()
        """What the editor asked this owner about, and what it has forked there."""
        self._forks: set[int] = set()
        self._running: asyncio.Task[None] | None = None
        self.is_over = False

    def begin(self, open_line: OpenLine, hello: bytes) -> None:
        """Connect, and greet the owner in the editor's words."""
        self._running = asyncio.create_task(self._run(open_line, hello))

    def end(self) -> None:
        """Hang up."""
        if self._running is not None:
            self._running.cancel()

    async def answer(self, method: str, request: EditorRequest) -> None:
        """Have the owner answer a request of the editor's."""
        await asyncio.shield(self._greeted)
        self._sessions.add(session_named(request.params))
        key = bytes(request.id)
        self._passed_on[key], answer = self._begin(method, request.params)
        if method == SESSION_FORK:
            self._forks.add(self._passed_on[key])
        try:
            await self._say()
            said = await answer
        finally:
            self._passed_on.pop(key, None)
        await self._editor.send(_answer(self._editor, request.id, said), request.stream)

    async def notify(self, method: str, params: bytes | None) -> None:
        """Tell the owner something."""
        await asyncio.shield(self._greeted)
        self._peer.send_notification(method, params)
        await self._say()

    def take_back(self, wanted: bytes) -> bool:
        """The editor no longer wants the answer to a request; the owner says how that ends."""
        if wanted not in self._passed_on:
            return False
        self._peer.send_cancel(self._passed_on[wanted])
        self._spawn(self._say())
        return True

    def _begin(self, method: str, params: bytes | None) -> tuple[int, asyncio.Future[jsonrpc.Response]]:
        """A request to the owner that waits to be sent: its id, and what will be its answer."""
        if self.is_over:
            raise NodeSilent("the line to the session's owner was lost")
        rpc_id = self._peer.send_request(method, params)
        answer = self._answers[rpc_id] = asyncio.get_running_loop().create_future()
        return rpc_id, answer

    async def _run(self, open_line: OpenLine, hello: bytes) -> None:
        why: TrunklineError = NodeSilent("the editor has left")
        try:
            async with open_line() as self._duplex:
                _, greeting = self._begin(INITIALIZE, hello)
                await self._say()
                greeting.add_done_callback(self._on_greeted)
                while True:
                    await self._hear(await self._duplex.receive())
        except Closed as closed:
            why = NodeSilent(f"the session's owner has hung up: {closed.closing.reason}")
        except TrunklineError as error:
            why = error
        except PeerGone:
            return
        finally:
            self._over(why)

    def _on_greeted(self, greeting: asyncio.Future[jsonrpc.Response]) -> None:
        if not self._greeted.done() and not greeting.cancelled() and greeting.exception() is None:
            self._greeted.set_result(None)

    async def _say(self) -> None:
        """Send what waits, a message at a time: parts of two must not mix."""
        async with self._sending:
            for message in b"".join(self._peer.data_to_send()).split(b"\n")[:-1]:
                await self._duplex.send(message.decode())

    async def _hear(self, frame: str | bytes) -> None:
        """Take in what the owner says, and pass on what is the editor's; returns when the editor can take more."""
        lines = [frame.encode()] if isinstance(frame, str) else frame.split(b"\n")
        told: list[bytes] = []
        for line in lines:
            self._peer.receive_message(line)
            for message in self._peer.messages_received():
                told += self._passed(message, line)
        if self._peer.has_output:
            await self._say()
        if told:
            await self._editor.send(told, session_in(told[0]))

    def _passed(self, message: jsonrpc.Message, line: bytes) -> list[bytes]:
        """What the editor is sent of a message."""
        if isinstance(message, jsonrpc.Response):
            if message.id in self._forks:  # what it tells of the new one may be in the same frame
                self._forks.remove(message.id)
                self._sessions.add(session_named(bytes(message.result) if message.result is not None else None))
            self._answers.pop(message.id).set_result(message)
        elif isinstance(message, jsonrpc.Request):
            if self._may_speak(message):
                return self._ask(message)
            self._peer.send_error(bytes(message.id), ErrorCode.INVALID_PARAMS, "this editor has no such session here")
        elif isinstance(message, jsonrpc.Notification) and self._may_speak(message):
            return self._taken_back(message.params) if message.method == CANCEL_REQUEST else [line]
        return []

    def _may_speak(self, message: jsonrpc.Request | jsonrpc.Notification) -> bool:
        """Whether a message is about the connection, or about a session that this owner was asked about."""
        named = session_named(bytes(message.params) if message.params is not None else None)
        if not named or named in self._sessions:
            return True
        log.warning("an owner says %s of session %s, about which it was not asked; it is not heard", message.method, named[:80])
        return False

    def _ask(self, request: jsonrpc.Request) -> list[bytes]:
        """Put the owner's question to the editor; its answer goes back under the owner's id."""
        owners_id = bytes(request.id)

        def on_answer(answer: jsonrpc.Response) -> None:
            if self._asked.pop(owners_id, None) is None or self.is_over:
                return
            if answer.error is None:
                self._peer.send_result(owners_id, bytes(answer.result or jsonrpc.NULL))
            else:
                self._peer.send_error(owners_id, answer.error.code, answer.error.message, answer.error.data)
            self._spawn(self._say())

        params = bytes(request.params) if request.params is not None else b"{}"
        self._asked[owners_id], lines = self._editor.ask(request.method, params, on_answer)
        return lines

    def _taken_back(self, params: msgspec.Raw | None) -> list[bytes]:
        wanted = bytes(decode_params(CANCEL_REQUEST, bytes(params) if params is not None else None).request_id)
        asked = self._asked.pop(wanted, None)
        return [] if asked is None else self._editor.take_back(asked)

    def _over(self, why: TrunklineError) -> None:
        """Nobody gets an answer any more."""
        self.is_over = True
        _fail(self._greeted, why)
        answers, self._answers = self._answers, {}
        for answer in answers.values():
            _fail(answer, why)
        asked, self._asked = self._asked, {}
        for rpc_id in asked.values():
            self._spawn(self._editor.send(self._editor.take_back(rpc_id), None))


def _fail(waiting: asyncio.Future[Any], why: TrunklineError) -> None:
    if not waiting.done():
        waiting.set_exception(why)
        waiting.exception()  # perhaps nobody waits


def _answer(editor: EditorLine, request_id: msgspec.Raw, said: jsonrpc.Response) -> list[bytes]:
    """The owner's answer, as the editor asked for it."""
    if said.error is None:
        return editor.result(request_id, bytes(said.result or jsonrpc.NULL))
    data = bytes(said.error.data) if said.error.data is not None else None
    return editor.fault(request_id, said.error.code, said.error.message, data)


class _Told(msgspec.Struct):
    params: _Named = msgspec.field(default_factory=_Named)


_told = decoders.of(_Told)


def session_in(line: bytes) -> str | None:
    """The session that a message to the editor belongs to; None: the connection."""
    try:
        return _told.decode(line).params.session_id or None
    except BROKEN:
        return None
