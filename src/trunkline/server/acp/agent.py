"""Trunkline as an Agent Client Protocol agent: one editor's connection, whatever carries it. Requests in, answers out.

Rule 1: requests are begun in the order in which they came.
Rule 2: a request is answered exactly once; what it may do is what the caller's token may.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import (
    AUTHENTICATE,
    CANCEL_REQUEST,
    INITIALIZE,
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_FORK,
    SESSION_LIST,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_PROMPT,
    SESSION_RESUME,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
)
from trunkline.dialects.acp.reading.aliases import canonical_method
from trunkline.dialects.error_codes import ErrorCode
from trunkline.errors import TrunklineError
from trunkline.hub import Hub
from trunkline.server.acp.attachment.attachments import Attachments
from trunkline.server.acp.connection import EditorLine, EditorRequest, EditorWire
from trunkline.server.acp.handshake import Handshake
from trunkline.server.acp.sessions import SessionRequests
from trunkline.server.acp.tasks import EditorTasks
from trunkline.server.auth.credentials import Caller, check_scope
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.websocket import PeerGone

if TYPE_CHECKING:
    from trunkline.hub.sight import Sight
    from trunkline.server.acp.remote import RemoteSessions
    from trunkline.server.elsewhere import Elsewhere

log = logging.getLogger("trunkline.server")

Handler = Callable[[EditorRequest], Awaitable[None]]


class AcpAgent:
    """Serves one editor."""

    def __init__(self, hub: Hub, caller: Caller, wire: EditorWire, *, agent: str | None = None,
                 check_live: Callable[[], None] = lambda: None, elsewhere: Elsewhere | None = None,
                 sight: Sight | None = None) -> None:
        self._check_live = check_live
        self._line = EditorLine(wire)
        self._tasks = EditorTasks()
        self._handshake = Handshake(hub, caller, self._line, agent)
        self._attachments = Attachments(hub, self._line, self._handshake, self._tasks.spawn)
        self._sessions = SessionRequests(hub, self._line, self._handshake, self._attachments, self._tasks, sight or hub)
        self._methods = _methods(self._handshake, self._sessions)
        self._remote = None if elsewhere is None else _remote_sessions(elsewhere, self._handshake, self._line, self._tasks)

    @property
    def greeted(self) -> bool:
        """Whether the handshake was made."""
        return self._handshake.greeted

    @property
    def takes_lines(self) -> bool:
        """Whether several messages may share a frame."""
        return self._handshake.takes_lines

    @property
    def busy(self) -> bool:
        """Whether something that the editor sent is being answered or carried out."""
        return self._tasks.busy

    def watches(self, session_id: str, event_type: str) -> bool:
        """Whether the editor looks at this session; it has no filter."""
        attached = self._attachments.get(session_id)
        return attached is not None and attached.following

    def has(self, session_id: str) -> bool:
        """Whether the editor has this session open."""
        return self._attachments.get(session_id) is not None

    async def room(self) -> None:
        """Wait while too much is being done for this editor at once, or it does not read what it is answered."""
        await self._tasks.room()

    def receive(self, message: bytes, stream: str | None = None) -> None:
        """Take one message."""
        for each in self._line.receive(message):
            if isinstance(each, jsonrpc.Request):
                request = EditorRequest(each.id, bytes(each.params) if each.params is not None else None, stream)
                self._tasks.begin_request(bytes(each.id), self._answer(canonical_method(each.method, side="agent"), request))
            elif isinstance(each, jsonrpc.Notification):
                self._on_notification(each)
        complaints = self._line.take()
        if complaints:
            self._tasks.begin(self._line.send(complaints, stream))

    async def leave(self) -> None:
        """The connection is over. Sessions go on; what was begun for them is carried out."""
        self._line.close()
        if self._remote is not None:
            self._remote.leave()
        await self._tasks.end_requests()
        await self._attachments.leave_all()
        await self._tasks.background_done()

    async def _answer(self, method: str, request: EditorRequest) -> None:
        try:
            try:
                await self._serve(method, request)
            except TrunklineError as error:
                await self._line.send(self._line.error(request.id, error), request.stream)
            except asyncio.CancelledError:
                cancelled = self._line.fault(request.id, ErrorCode.REQUEST_CANCELLED, "request cancelled")
                await self._line.send(cancelled, request.stream)
            except (PeerGone, OSError):
                raise
            except Exception as error:  # the request's boundary: an editor that is not answered hangs
                log.error("%s failed", method, exc_info=error)
                failed = TrunklineError("the hub failed to answer; its log says more")
                await self._line.send(self._line.error(request.id, failed), request.stream)
        except (PeerGone, OSError):
            return

    async def _serve(self, method: str, request: EditorRequest) -> None:
        scope, handler = self._methods[method]
        if not self.greeted and method != INITIALIZE:
            lines = self._line.fault(request.id, ErrorCode.INVALID_REQUEST, f"initialize comes before {method}")
            await self._line.send(lines, request.stream)
            return
        self._check_live()
        if scope is not None:
            check_scope(self._handshake.caller, scope)
        owner = await self._remote.owner(request.params) if self._remote is not None else None
        if self._remote is not None and owner is not None:
            await self._remote.answer(owner, method, request)
        else:
            await handler(request)

    def _on_notification(self, notification: jsonrpc.Notification) -> None:
        params = bytes(notification.params) if notification.params is not None else None
        method = canonical_method(notification.method, side="agent")
        if method == SESSION_CANCEL:
            self._tasks.begin(self._cancel_turn(params))
        elif method == CANCEL_REQUEST:
            self._tasks.begin(self._cancel_request(params))

    async def _cancel_turn(self, params: bytes | None) -> None:
        owner = await self._remote.owner(params) if self._remote is not None else None
        if self._remote is not None and owner is not None:
            await self._remote.notify(owner, SESSION_CANCEL, params)
        else:
            await self._sessions.cancel_turn(params)

    async def _cancel_request(self, params: bytes | None) -> None:
        if self._remote is None or not self._remote.take_back(params):
            await self._sessions.cancel_request(params)


def _remote_sessions(elsewhere: Elsewhere, handshake: Handshake, line: EditorLine, tasks: EditorTasks) -> RemoteSessions:
    from trunkline.server.acp.remote import RemoteSessions  # of a cluster's: nobody else loads it

    return RemoteSessions(elsewhere, handshake, line, tasks)


def _methods(handshake: Handshake, sessions: SessionRequests) -> dict[str, tuple[TokenScope | None, Handler]]:
    """What is served, and what a token needs for it."""
    return {
        INITIALIZE: (None, handshake.initialize),
        AUTHENTICATE: (None, handshake.authenticate),
        SESSION_NEW: ("control", sessions.new),
        SESSION_LOAD: ("view", sessions.load),
        SESSION_RESUME: ("view", sessions.resume),
        SESSION_LIST: ("view", sessions.list_page),
        SESSION_CLOSE: ("control", sessions.close),
        SESSION_DELETE: ("control", sessions.delete),
        SESSION_FORK: ("control", sessions.fork),
        SESSION_PROMPT: ("control", sessions.prompt),
        SESSION_CANCEL: ("control", sessions.cancel),
        SESSION_SET_MODE: ("control", sessions.set_mode),
        SESSION_SET_CONFIG_OPTION: ("control", sessions.set_option),
    }
