"""Lines of an editor become frames to the hub, and frames become lines, over as many connections as it takes.

Rule 1: an update is passed on by its bytes, unread. Only requests, answers and positions are looked at.
Rule 2: a lost connection is taken up again by itself: the hub is found, or started, the handshake is made again, each session
goes on after the last position that the editor was sent, and what was not answered is asked again, in the editor's order, and is
taken back again where the editor did. A prompt has a key, so that asking again never says it twice, and taking it back never ends
another's turn.
Rule 3: what the hub asked over a lost connection is taken back from the editor; the hub asks again over the next.
Rule 4: the editor's variables go to a hub on this machine and nowhere else. Which of them, the answer to initialize says: a
request that opens a session, and all that the editor says after it, wait for that answer.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import msgspec

from trunkline.cli.commands.acp import messages
from trunkline.cli.commands.acp.messages import CURSOR_HEAD, OPENING, UPDATE_HEAD, EditorMessage, params_of
from trunkline.cli.commands.acp.pipes import CutLine, EditorLeft
from trunkline.cli.commands.run import allowed_env
from trunkline.cli.hosting.locate import find_or_start
from trunkline.client.http import Endpoint
from trunkline.client.link import connected, lost
from trunkline.client.streams import Patience
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import (
    CANCEL_REQUEST,
    INITIALIZE,
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_LOAD,
    SESSION_PROMPT,
    SESSION_RESUME,
)
from trunkline.dialects.acp.reading.aliases import canonical_method
from trunkline.errors import TrunklineError, Unavailable
from trunkline.settings import Settings

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

GIVE_UP_S = 120.0
"""How long a hub may be away; the next line of the editor's finds or starts one at any time before that."""

GREETS_S = 2.0
"""For the editor's first line, which it sends at once."""
LEAVES_S = 15.0
"""How long we stay for what is not answered when the editor's lines have ended; a hub may have to be started for it."""

OWN_ID = b'"trunkline-bridge-'
"""How ids of our own requests begin; no editor's do."""

_WANTS = {"cursor": True, "lines": True}


class Out(Protocol):
    """Where lines for the editor go."""

    async def write(self, data: bytes) -> None:
        """Write; returns when more can be taken."""


class Unanswered(msgspec.Struct):
    """A request of the editor's on its way, as it is sent to the hub."""

    method: str
    session_id: str
    line: bytes
    key: str = ""
    """Of a prompt."""
    taken_back: bytes | None = None
    """What the editor sent to end it, as it is sent after it when both have to be sent again."""


class Bridge:
    """One editor's line to the hub."""

    def __init__(self, settings: Settings, agent: str | None, out: Out) -> None:
        self._settings = settings
        self._path = "/acp" if agent is None else f"/acp?agent={quote(agent, safe='')}"
        self._out = out
        self._patience = Patience(GIVE_UP_S)
        self._socket: ClientConnection | None = None
        self._ready = False
        self._local = False
        self._hello: bytes | None = None
        self._greeted = False
        self._env_allow: tuple[str, ...] = ()
        self._unanswered: dict[bytes, Unanswered] = {}
        self._sessions: dict[str, int] = {}
        self._held: bytes | None = None
        """The request that waits for the answer to initialize; it was not sent."""
        self._hub_requests: dict[bytes, None] = {}
        self._later: list[tuple[bytes | None, bytes]] = []
        """What waits for a connection: lines, and the ids of those that are requests."""
        self._own: dict[bytes, asyncio.Future[bool]] = {}
        self._own_number = 0
        self._changed = asyncio.Event()
        """Something was answered, or all that waited was sent."""
        self._heard = asyncio.Event()
        """A line of the editor's was read."""

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Carry messages until the editor's lines end; raises what keeps the hub away for good."""
        hub = asyncio.create_task(self._stay_connected())
        editor = asyncio.create_task(self._listen(lines))
        try:
            await asyncio.wait((hub, editor), return_when=asyncio.FIRST_COMPLETED)
            if editor.done() and editor.exception() is None:
                await self._see_off(hub)
            if hub.done():
                await self._first_line(editor)
                await self._refuse_all(hub)
                await hub
            await editor
        except EditorLeft:
            return
        finally:
            for task in (hub, editor):
                task.cancel()
            await asyncio.gather(hub, editor, return_exceptions=True)

    async def _first_line(self, editor: asyncio.Task[None]) -> None:
        """A hub may refuse us before the editor's greeting was read, which is to be answered with the reason."""
        heard = asyncio.create_task(self._heard.wait())
        await asyncio.wait((heard, editor), timeout=GREETS_S, return_when=asyncio.FIRST_COMPLETED)
        heard.cancel()
        await asyncio.gather(heard, return_exceptions=True)

    async def _see_off(self, hub: asyncio.Task[None]) -> None:
        """The editor's lines have ended: what it sent before is still done and answered. Prompts take as long as they take."""
        settled = asyncio.create_task(self._all_settled())
        await asyncio.wait((hub, settled), timeout=LEAVES_S, return_when=asyncio.FIRST_COMPLETED)
        settled.cancel()
        await asyncio.gather(settled, return_exceptions=True)

    async def _all_settled(self) -> None:
        while self._later or any(pending.method != SESSION_PROMPT for pending in self._unanswered.values()):
            self._changed.clear()
            await self._changed.wait()

    # -- the editor's lines

    async def _listen(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            if isinstance(line, CutLine):
                await self._out.write(messages.too_long(line) + b"\n")
                continue
            if not _is_text(line):
                await self._out.write(messages.NOT_TEXT + b"\n")
                continue
            if self._is_greeting():
                await self._hold(line)
            sent = self._from_editor(line)
            self._heard.set()
            if sent is None:
                continue
            if self._ready and self._socket is not None:
                await self._send(self._socket, sent[1])
            else:
                self._later.append(sent)

    def _is_greeting(self) -> bool:
        return any(pending.method == INITIALIZE for pending in self._unanswered.values())

    async def _hold(self, line: bytes) -> None:
        """Wait for the answer to initialize where the line opens a session; nothing else of the editor's is read meanwhile."""
        message = messages.read(line)
        if message is None or message.id is msgspec.UNSET or message.method is msgspec.UNSET:
            return
        if canonical_method(message.method, side="agent") not in OPENING:
            return
        self._held = bytes(message.id)
        while self._is_greeting():
            self._changed.clear()
            await self._changed.wait()
        self._held = None

    def _from_editor(self, line: bytes) -> tuple[bytes | None, bytes] | None:
        """What the hub is sent for a line, with the id of a request; None for an answer that nobody waits for."""
        message = messages.read(line)
        if message is None:
            return None, line  # the hub says what is wrong with it
        if message.method is msgspec.UNSET:
            known = message.id is not msgspec.UNSET and bytes(message.id) in self._hub_requests
            if known:
                del self._hub_requests[bytes(message.id)]  # type: ignore[arg-type]  # known: it is set
            return (None, line) if known else None
        if message.id is msgspec.UNSET or not jsonrpc.is_id(message.id):
            self._note_end(line, message)
            return None, line
        return self._request(line, message)

    def _note_end(self, line: bytes, message: EditorMessage) -> None:
        """Remember that the editor takes requests back, for as long as they are not answered."""
        assert message.method is not msgspec.UNSET, "only what has a method takes something back"
        method, about = canonical_method(message.method, side="agent"), params_of(message.params)
        if method == CANCEL_REQUEST:
            pending = self._unanswered.get(bytes(about.request_id))
            if pending is not None:
                pending.taken_back = line
        elif method == SESSION_CANCEL:
            for pending in self._unanswered.values():
                if pending.method == SESSION_PROMPT and pending.session_id == about.session_id and pending.taken_back is None:
                    pending.taken_back = messages.cancel_of(pending.session_id, pending.key)

    def _request(self, line: bytes, message: EditorMessage) -> tuple[bytes, bytes]:
        assert message.id is not msgspec.UNSET and message.method is not msgspec.UNSET, "a request has both"
        request_id, method = bytes(message.id), canonical_method(message.method, side="agent")
        key = ""
        if method == INITIALIZE:
            self._hello = messages.with_meta(message.params, _WANTS, inside="clientCapabilities")
            line = messages.request(request_id, method, self._hello)
        elif method in OPENING:
            env = allowed_env(self._env_allow, os.environ) if self._local else {}
            line = messages.request(request_id, method, messages.with_meta(message.params, {"env": env}))
        elif method == SESSION_PROMPT:
            key = secrets.token_hex(16)
            line = messages.request(request_id, method, messages.with_meta(message.params, {"key": key}))
        self._unanswered[request_id] = Unanswered(method, params_of(message.params).session_id, line, key)
        return request_id, line

    # -- the hub's frames

    async def _stay_connected(self) -> None:
        while True:
            try:
                endpoint = await find_or_start(self._settings)
                await self._one_connection(endpoint)
                trouble = Unavailable(f"the hub at {endpoint.url} hung up")
            except Unavailable as error:
                trouble = error
            await self._hung_up()
            await self._patience.wait(trouble)

    async def _one_connection(self, endpoint: Endpoint) -> None:
        headers = {"Authorization": f"Bearer {endpoint.token}"} if endpoint.token else {}
        self._local = endpoint.is_loopback()
        async with connected(endpoint, self._path, headers) as socket:
            self._socket = socket
            taking_up = asyncio.create_task(self._take_up(socket))
            try:
                async for frame in socket:
                    await self._from_hub(frame.encode() if isinstance(frame, str) else frame)
            finally:
                self._socket, self._ready = None, False
                taking_up.cancel()
                await asyncio.gather(taking_up, return_exceptions=True)

    async def _take_up(self, socket: ClientConnection) -> None:
        """Be where we were: the handshake, the sessions, what is not answered; then what came meanwhile."""
        if self._greeted and self._hello is not None:
            await self._ask_hub(socket, INITIALIZE, self._hello)
            loading = {pending.session_id for pending in self._unanswered.values() if pending.method == SESSION_LOAD}
            for session_id, after in [each for each in self._sessions.items() if each[0] not in loading]:
                if not await self._ask_hub(socket, SESSION_RESUME, self._resume_params(session_id, after)):
                    del self._sessions[session_id]
        while self._later:
            await self._send(socket, self._later.pop(0)[1])
        self._ready = True
        self._changed.set()

    def _resume_params(self, session_id: str, after: int) -> bytes:
        env = allowed_env(self._env_allow, os.environ) if self._local else {}
        ours = {"after": after, "env": env}
        return msgspec.json.encode({"sessionId": session_id, "cwd": os.getcwd(), "mcpServers": [], "_meta": {"trunkline": ours}})

    async def _ask_hub(self, socket: ClientConnection, method: str, params: bytes) -> bool:
        """Ask something of our own; returns whether the hub agreed."""
        self._own_number += 1
        request_id = b'%b%d"' % (OWN_ID, self._own_number)
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._own[request_id] = answer
        await self._send(socket, messages.request(request_id, method, params))
        return await answer

    async def _send(self, socket: ClientConnection, line: bytes) -> None:
        # What a lost connection swallows is sent again over the next, if it is not answered.
        with suppress(*lost()):
            await socket.send(line, text=True)

    async def _from_hub(self, frame: bytes) -> None:
        passed = [line for line in frame.split(b"\n") if line.startswith(UPDATE_HEAD) or self._on_hub_line(line)]
        self._patience.progress()
        if passed:
            passed.append(b"")
            await self._out.write(b"\n".join(passed))

    def _on_hub_line(self, line: bytes) -> bool:
        """Learn from a message that is no update; returns whether it is for the editor."""
        message = messages.read(line)
        if message is None:
            return False
        if line.startswith(CURSOR_HEAD):
            params = params_of(message.params)
            self._sessions[params.session_id] = params.seq
            return False
        if message.id is msgspec.UNSET:
            return True
        if message.method is not msgspec.UNSET:
            self._hub_requests[bytes(message.id)] = None
            return True
        return self._answered(bytes(message.id), message)

    def _answered(self, request_id: bytes, message: EditorMessage) -> bool:
        own = self._own.pop(request_id, None)
        if own is not None:
            if not own.done():
                own.set_result(message.error is msgspec.UNSET)
            return False
        pending = self._unanswered.pop(request_id, None)
        self._changed.set()
        if pending is not None and message.error is msgspec.UNSET:
            self._settled(pending, message.result)
        return True

    def _settled(self, pending: Unanswered, result: Any) -> None:
        if pending.method == INITIALIZE:
            self._greeted = True
            self._env_allow = messages.env_allow_of(result)
        elif pending.method in OPENING:
            self._sessions.setdefault(params_of(result).session_id or pending.session_id, 0)
        elif pending.method in (SESSION_CLOSE, SESSION_DELETE):
            self._sessions.pop(pending.session_id, None)

    # -- when there is no hub

    async def _hung_up(self) -> None:
        """The connection is gone: what it asked is taken back, what it was asked is asked again over the next."""
        for own in self._own.values():
            own.cancel()
        self._own.clear()
        requests, self._hub_requests = self._hub_requests, {}
        waiting = {request_id for request_id, _ in self._later}
        unanswered = [(request_id, each.line) for request_id, each in self._unanswered.items() if request_id not in waiting]
        self._later = [each for request_id, line in [*unanswered, *self._later] for each in self._again(request_id, line)]
        lines = [messages.taken_back(request_id) for request_id in requests]
        if lines:
            await self._out.write(b"\n".join([*lines, b""]))

    def _again(self, request_id: bytes | None, line: bytes) -> list[tuple[bytes | None, bytes]]:
        """What is sent for a line over the next connection: nothing for a request that was answered, and for what took one back,
        since that comes behind its request. A load goes on where it was: the editor has what came before."""
        if request_id is None:
            return [] if self._takes_back(line) else [(None, line)]
        pending = self._unanswered.get(request_id)
        if pending is None:
            return []
        after = self._sessions.get(pending.session_id)
        line = messages.with_after(pending.line, after) if pending.method == SESSION_LOAD and after else pending.line
        return [(request_id, line)] if pending.taken_back is None else [(request_id, line), (None, pending.taken_back)]

    def _takes_back(self, line: bytes) -> bool:
        message = messages.read(line)
        if message is None or message.method is msgspec.UNSET or message.id is not msgspec.UNSET:
            return False
        method, about = canonical_method(message.method, side="agent"), params_of(message.params)
        if method == CANCEL_REQUEST:
            return True
        return method == SESSION_CANCEL and any(
            pending.taken_back is not None and pending.session_id == about.session_id for pending in self._unanswered.values())

    async def _refuse_all(self, hub: asyncio.Task[None]) -> None:
        """There will be no hub: whoever waits is answered with the reason."""
        error = hub.exception()
        if isinstance(error, EditorLeft):
            return
        why = error.message if isinstance(error, TrunklineError) else repr(error)
        held = [self._held] if self._held is not None else []
        lines = [messages.refusal(request_id, why) for request_id in [*self._unanswered, *held]]
        if lines:
            await self._out.write(b"\n".join([*lines, b""]))


def _is_text(line: bytes) -> bool:
    """Whether a frame of text can carry it."""
    try:
        return line.isascii() or bool(line.decode())
    except UnicodeDecodeError:
        return False
