"""A request becomes a reply: address, route, credential, handler, headers. The one place where an error becomes a response.

Rule 1: what is refused is refused in this order: Host, Origin, unknown path, wrong method, no credential, too little scope.
Rule 2: every error leaves as ``{code, message, recoverable, details?, agentCode?}``, or, to who asked for a stream, as the
error packet that would have been in it; what we did not foresee is ``internal``,
and its text goes to the log, not to the client. Who is still waiting when the server stops gets that, as an error.
Rule 3: every reply gets the headers that keep a browser from doing more with it than it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from trunkline.disk.own_folder import make_own_folder
from trunkline.errors import (
    ClientDisconnect,
    Forbidden,
    HubStopping,
    LocalError,
    MethodNotAllowed,
    NotFound,
    RemoteError,
    StorageError,
    TooLarge,
    TooManyRequests,
    TrunklineError,
    Unauthorized,
    Unavailable,
)
from trunkline.hub import Hub
from trunkline.server import acp
from trunkline.server.acp.transport.connections import HttpConnections
from trunkline.server.auth.cookies import without_base
from trunkline.server.auth.credentials import NOBODY, RequestGate, check_scope
from trunkline.server.auth.guests import guest_of
from trunkline.server.auth.login import Codes
from trunkline.server.auth.pairings import Pairings
from trunkline.server.auth.tokens import Tokens
from trunkline.server.auth.tries import FailedTries
from trunkline.server.call import RAW_DEFAULTS, HttpCall, JsonReply, Parts, Reply, asks_for_stream, reply, takes_stream
from trunkline.server.delivery.push.subscriptions import Subscriptions
from trunkline.server.files.comparing import Comparing
from trunkline.server.files.preview_keys import Previews
from trunkline.server.http.messages import Request, Response
from trunkline.server.later import Later
from trunkline.server.openapi import error_body
from trunkline.server.options import ServerOptions
from trunkline.server.route_tree import PathTree
from trunkline.server.routes import ROUTES, Route
from trunkline.server.sse import Streams
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.cluster.node import ClusterNode
    from trunkline.hub.sight import Sight
    from trunkline.server.elsewhere import Elsewhere

log = logging.getLogger("trunkline.server")

_editors_socket = Later("trunkline.server.acp.transport.socket").answer
_context_socket = Later("trunkline.server.context.ws.face").answer


class App:
    """The ASGI application of one hub."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._resources = _resources(parts.routes)
        self._open = 0
        self._stopping = False
        self._last_at = time.monotonic()

    @property
    def clients(self) -> int:
        """Requests being answered, streams included."""
        return self._open

    def idle_s(self) -> float:
        """How long nobody has asked for anything; 0 while somebody is being answered."""
        return 0.0 if self._open else time.monotonic() - self._last_at

    def login_path(self) -> str:
        """A path that logs the browser which opens it first in, once, within a minute."""
        return f"/#code={self.parts.codes.issue(self.parts.tokens.main.id)}"

    def end_streams(self) -> None:
        """End every open stream, so that the server can stop; readers come back with their position."""
        self._stopping = True
        self.parts.streams.end_all()

    async def saved(self) -> None:
        """Wait until what is the server's own is on disk, or the log says why not."""
        for each in (self.parts.tokens, self.parts.subscriptions):
            with contextlib.suppress(StorageError):
                await each.saved()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket"):
            return
        scope = without_base(scope)
        self._open += 1
        try:
            if scope["type"] == "websocket":
                await self._answer_socket(scope, receive, send)
                return
            answer = await self._answer(Request(scope, receive))
            if answer is not None:
                await answer(scope, receive, send)
        finally:
            self._open -= 1
            self._last_at = time.monotonic()

    async def _answer_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == acp.PATH:
            await _editors_socket(self.parts, scope, receive, send)
        elif guest_of(scope) is None:
            await _context_socket(self.parts, scope, receive, send)
        else:
            refusal = Forbidden("another node opens a WebSocket here for an editor only")
            await reply(error_body(refusal), refusal.http_status)(scope, receive, send)

    async def _answer(self, request: Request) -> Reply | None:
        """The reply; None when there is nobody left to reply to."""
        answer: Reply
        try:
            answer = await self._handle(request)
        except ClientDisconnect:
            return None
        except (Exception, asyncio.CancelledError) as error:  # the request's boundary: the server goes on
            answer = error_reply(self._foreseen(error, request), request)
        _harden(answer)
        return answer

    def _foreseen(self, error: BaseException, request: Request) -> TrunklineError:
        """What the client learns of an error; a cancellation that is not the server's own goes on."""
        task = asyncio.current_task()
        is_cancelled = task is not None and bool(task.cancelling())
        if self._stopping and is_cancelled:
            # The server waits no longer. Whatever else failed, failed on the way out.
            return HubStopping("the hub was stopped before it could answer")
        if self.parts.hub.closing and not is_cancelled and not isinstance(error, LocalError | RemoteError):
            # What it had is being put away: that something is gone, or no longer waited for, is no fault.
            return HubStopping("the hub is stopping")
        if isinstance(error, TrunklineError):
            return error
        if isinstance(error, asyncio.CancelledError):
            raise error
        log.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
        return TrunklineError("the hub failed to answer; its log says more")

    async def _handle(self, request: Request) -> Reply:
        gate = self.parts.gate
        gate.check_host(request)
        resource = self._resource(request.scope)
        if not (resource and resource.any_origin):
            gate.check_origin(request)
        if resource is None:
            raise NotFound(f"nothing is at {request.scope['path'][:200]}")
        method = request.scope["method"]
        if method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": resource.allow})
        route = resource.route(method)
        call = HttpCall(request, self.parts, NOBODY if route.scope is None else gate.caller(request))
        try:
            check_scope(call.caller, route.scope or "view")
        except Forbidden as error:
            if route.refused is not None:
                await route.refused(call, error)
            raise
        return await self._answer_here(route, call) if route.at == "any" else await self._answer_where_it_is(route, call)

    async def _answer_here(self, route: Route, call: HttpCall) -> Reply:
        if guest_of(call.request.scope) is not None:
            raise Forbidden("another node asks here for what is a session's or this node's, and for nothing else")
        return await route.handler(call)

    async def _answer_where_it_is(self, route: Route, call: HttpCall) -> Reply:
        """Answer what one node alone can: this one, or the one that owns the session."""
        elsewhere = self.parts.elsewhere
        if elsewhere is None or route.at == "placed" or guest_of(call.request.scope) is not None:
            return await route.handler(call)
        return await elsewhere.reply(call, route.at) or await route.handler(call)

    def _resource(self, scope: Scope) -> _Resource | None:
        found = self._resources.find(scope["path"])
        if found is None:
            return None
        resource, scope["path_params"] = found
        return resource


class _Resource:
    """One path and what may be done with it."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = {route.method: route for route in routes}
        if "GET" in self._routes:
            self._routes["HEAD"] = self._routes["GET"]
        self.allow = ", ".join(sorted([*self._routes, "OPTIONS"]))
        self.any_origin = any(route.any_origin for route in self._routes.values())

    def route(self, method: str) -> Route:
        """The route for a method, or MethodNotAllowed."""
        if method not in self._routes:
            raise MethodNotAllowed(f"{method[:20]} is not possible here", details={"allow": self.allow})
        return self._routes[method]


def build_app(hub: Hub, options: ServerOptions, elsewhere: Elsewhere | None = None, cluster: ClusterNode | None = None,
              sight: Sight | None = None) -> App:
    """The application that serves ``hub``, and with it what is ``elsewhere`` in its cluster. ``sight``: what it shows, where that
    is more than the hub's own sessions."""
    tokens = Tokens.open(options.data, options.token)
    make_own_folder(options.playground)
    streams = Streams(tokens.is_live, tokens.left_s, tokens.left)
    editors = HttpConnections(tokens)
    subscriptions = Subscriptions(options.data, tokens.is_live, allow=options.push_allow)

    previews = Previews(options.preview_s, is_live=tokens.is_live, node=elsewhere.node if elsewhere is not None else "")

    def ended() -> None:
        streams.end_revoked()
        editors.end_revoked()
        subscriptions.drop_dead()
        previews.drop_dead()

    tokens.on_ended = ended
    hub.preview_url = previews.url
    return App(Parts(
        hub=hub, options=options, tokens=tokens, gate=RequestGate(options, tokens), codes=Codes(options.code_s),
        tries=FailedTries(), pairings=Pairings(), subscriptions=subscriptions, previews=previews, streams=streams,
        editors=editors, routes=ROUTES, page_lane=Lane(), comparing=Comparing(),
        elsewhere=elsewhere, cluster=cluster, sight=sight if sight is not None else hub,
    ))


def error_reply(error: TrunklineError, request: Request) -> Response:
    """The response that an error becomes."""
    if _reads_packets(request):
        from trunkline.server.packets.frames import error_as_packet  # loaded with the packets face, or by its first error

        return Response(error_as_packet(error), error.http_status, _error_headers(error), media_type="application/json")
    return reply(error_body(error), error.http_status, _error_headers(error))


def _reads_packets(request: Request) -> bool:
    """Whether whoever asks reads packets and nothing else, as the seeds' clients do: it asked for a stream, or takes one."""
    path = request.scope["path"]
    if path == acp.PATH:
        return False
    return path.endswith("/packets") or (takes_stream(request) if path.endswith("/send-message") else asks_for_stream(request))


def _error_headers(error: TrunklineError) -> dict[str, str]:
    details = error.details or {}
    if isinstance(error, Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, MethodNotAllowed):
        return {"Allow": details["allow"]}
    if isinstance(error, TooManyRequests | Unavailable) and "retryAfterS" in details:
        return {"Retry-After": str(details["retryAfterS"])}
    if isinstance(error, TooLarge):
        return {"Connection": "close"}  # the rest of the body is not worth reading
    return {}


def _resources(routes: Iterable[Route]) -> PathTree[_Resource]:
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    tree: PathTree[_Resource] = PathTree()
    for path, each in by_path.items():
        tree.add(path, _Resource(each))
    return tree


def _harden(answer: Reply) -> None:
    if isinstance(answer, JsonReply):  # made with them
        return
    named = {name for name, _ in answer.raw_headers}
    answer.raw_headers.extend(header for header in RAW_DEFAULTS if header[0] not in named)
