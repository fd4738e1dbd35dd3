"""What a handler gets, and how a body is read.

Rule 1: a body is counted while it comes; one that is over its limit is refused before it is read to the end.
Rule 2: a field that cannot be used is named in the error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

import msgspec
from starlette.types import Receive, Scope, Send

from trunkline import decoders
from trunkline.dialects.acp.reading.aliases import with_mime_types
from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.dialects.outside import BROKEN, is_whole_number, whole_number
from trunkline.errors import ClientDisconnect, Invalid, TooLarge
from trunkline.server.auth.cookies import base_of
from trunkline.server.auth.credentials import NOBODY, Caller, RequestGate, header, headers
from trunkline.server.auth.guests import guest_of
from trunkline.server.auth.tokens import Tokens
from trunkline.server.http.connections import place_of
from trunkline.server.http.exchange import exchange_of
from trunkline.server.http.messages import Request, Response
from trunkline.server.options import ServerOptions

if TYPE_CHECKING:
    from trunkline.cluster.node import ClusterNode
    from trunkline.feeds.session import Feed
    from trunkline.hub import Hub, Session
    from trunkline.hub.sight import ShownSession, Sight
    from trunkline.server.acp.transport.connections import HttpConnections
    from trunkline.server.auth.login import Codes
    from trunkline.server.auth.pairings import Pairings
    from trunkline.server.auth.tries import FailedTries
    from trunkline.server.delivery.push.subscriptions import Subscriptions
    from trunkline.server.elsewhere import Elsewhere
    from trunkline.server.files.comparing import Comparing
    from trunkline.server.files.preview_keys import Previews
    from trunkline.server.routes import Route
    from trunkline.server.sse import Streams
    from trunkline.threads import Lane

T = TypeVar("T")

STRANGER_BODY_BYTES = 64 << 10
"""Of a body while nobody has vouched for its sender: there is nothing longer to say than a token."""
EXPLAINED_BYTES = 64 << 10
"""Of a body in which half a character is looked for, to name it: an expression over 32 MiB would hold everybody up."""
KEY_LENGTH = 255
"""Of an ``Idempotency-Key``."""
DEFAULT_HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("cache-control", "no-store"),
)
"""For replies that say nothing else about themselves."""
RAW_DEFAULTS = [(name.encode(), value.encode()) for name, value in DEFAULT_HEADERS]


class Reply(Protocol):
    """What a handler returns: a response of ours or Starlette's is that, and so is a stream."""

    raw_headers: list[tuple[bytes, bytes]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the handlers of one app share."""

    hub: Hub
    options: ServerOptions
    tokens: Tokens
    gate: RequestGate
    codes: Codes
    tries: FailedTries
    pairings: Pairings
    subscriptions: Subscriptions
    previews: Previews
    streams: Streams
    editors: HttpConnections
    routes: tuple[Route, ...]
    page_lane: Lane
    """Where the page's files are read: strangers ask for them, and must not use up what others have."""
    comparing: Comparing
    elsewhere: Elsewhere | None = None
    """Other nodes of the cluster, where there is one."""
    cluster: ClusterNode | None = None
    """What this node knows of its cluster, where there is one."""
    sight: Sight
    """What is shown to whoever only reads: the hub's own sessions, or those of its whole cluster."""


class Place(NamedTuple):
    """Where a reader goes on; ``lost``: where it has been, and cannot go on from."""

    after: int
    lost: int | None = None


class HttpCall:
    """One request on its way through a handler."""

    __slots__ = ("caller", "parts", "request")

    def __init__(self, request: Request, parts: Parts, caller: Caller) -> None:
        self.request = request
        self.parts = parts
        self.caller = caller

    @property
    def hub(self) -> Hub:
        """The hub behind this server."""
        return self.parts.hub

    @property
    def address(self) -> str:
        """Where the request came from, for counting what fails."""
        place = place_of(self.request.scope)
        if place is not None:
            return place.address
        client = self.request.scope.get("client")
        return client[0] if client else ""

    @property
    def secure(self) -> bool:
        """Whether the browser sees us over TLS: ours, or that of a proxy before us. (An Origin that came is our own.)"""
        return self.parts.options.tls or self.request.headers.get("origin", "").startswith("https://")

    def hand_cookie(self, answer: Response, secret: str, base: str, lifetime_s: float) -> None:
        """Give a browser its cookie, in place of the one that it comes with."""
        cookies = self.parts.gate.cookies
        if before := base_of(self.request):
            cookies.take_back(answer, before, secure=self.secure)
        cookies.give(answer, secret, base, lifetime_s=lifetime_s, secure=self.secure)

    def part(self, name: str) -> str:
        """A variable part of the path."""
        return str(self.request.scope["path_params"][name])

    async def session(self) -> Session:
        """The session that the path names, or SessionNotFound."""
        return await self.parts.hub.session(self.request.scope["path_params"]["id"])

    async def shown(self) -> ShownSession:
        """The same for whoever only reads it: it may be another node's. Other nodes are shown our own."""
        sight = self.parts.sight if guest_of(self.request.scope) is None else self.hub
        return await sight.session(self.part("id"))

    @property
    def asks_all(self) -> bool:
        """Whether the answer is to be of all nodes of the cluster: the caller names none, and no other node asks for it."""
        return self.parts.elsewhere is not None and self.text("node") is None and guest_of(self.request.scope) is None

    def wants_stream(self) -> bool:
        """Whether the client asked for Server-Sent Events."""
        return asks_for_stream(self.request)

    def takes_stream(self) -> bool:
        """Whether a turn is streamed: to everybody but who asked for JSON instead."""
        return takes_stream(self.request)

    def text(self, name: str) -> str | None:
        """A query parameter; None where it is absent or empty."""
        return self.request.query_params.get(name) or None

    def flag(self, name: str) -> bool:
        """A query parameter that is true or false, false where it is absent; Invalid naming it where it is neither."""
        value = self.text(name)
        if value not in (None, "true", "false"):
            raise Invalid(f"{name} must be true or false, not {value[:40]!r}", details={"field": name})
        return value == "true"

    @overload
    def integer(self, name: str, *, least: int = 0, most: int | None = None) -> int | None: ...

    @overload
    def integer(self, name: str, default: int, *, least: int = 0, most: int | None = None) -> int: ...

    def integer(self, name: str, default: int | None = None, *, least: int = 0, most: int | None = None) -> int | None:
        """A whole number from the query, or Invalid naming the parameter."""
        value = self.text(name)
        return default if value is None else whole_number(name, value, least=least, most=most)

    def cursor(self, newest: int, default: int = 0) -> int:
        """Where a stream starts: ``Last-Event-ID`` wins over ``?after=``; Invalid where that is beyond ``newest``."""
        name, value = "Last-Event-ID", self.request.headers.get("last-event-id") or None
        if value is None:
            name, value = "after", self.text("after")
        if value is None:
            return default
        after = whole_number(name, value)
        if after > newest:
            raise Invalid(f"{name} {after} is beyond the last entry, {newest}", details={"field": name, "lastSeq": newest})
        return after

    async def place_in(self, feed: Feed) -> Place:
        """The same in a session. In a cluster a cursor that is beyond the end gets what there is behind the last entry: its
        reader was shown what is not the session's any more."""
        if self.parts.cluster is None:
            return Place(self.cursor(feed.last_seq))
        after = self.cursor(sys.maxsize)
        return Place(after) if await feed.has(after) else Place(feed.last_seq, lost=after)

    def idempotency_key(self) -> str | None:
        """What the caller calls this request, to be known again; None where it does not say."""
        key = header(self.request, b"idempotency-key") or None
        if key is not None and len(key) > KEY_LENGTH:
            raise Invalid(f"Idempotency-Key is longer than {KEY_LENGTH} characters", details={"field": "Idempotency-Key"})
        return key

    async def body(self, kind: type[T], *, default: T | None = None) -> T:
        """The JSON body as ``kind``, or Invalid naming the field; ``default`` where there is none."""
        raw = await self.raw_body()
        return default if not raw and default is not None else self.decoded(raw, kind)

    def decoded(self, raw: bytes, kind: type[T]) -> T:
        """A JSON body that was read before as ``kind``, or Invalid naming the field."""
        if (why := utf8_fault(raw)) is not None:  # what is kept as it came would not notice
            raise Invalid(f"body: {why}")
        try:
            return decoders.decode(with_mime_types(raw), kind)
        except BROKEN as error:
            raise Invalid(f"body: {_complaint(error, raw)}") from error

    async def raw_body(self) -> bytes:
        """The whole body, as far as a JSON body may go."""
        limit = self.parts.options.json_limit
        limit = min(limit, STRANGER_BODY_BYTES) if self.caller is NOBODY else limit
        self._check_announced(limit)
        body, is_more = await self._piece()
        pieces, size = [body], len(body)
        while is_more and size <= limit:  # most come at once
            body, is_more = await self._piece()
            pieces.append(body)
            size += len(body)
        if size > limit:
            raise too_large(limit)
        return b"".join(pieces)

    async def chunks(self, limit: int) -> AsyncGenerator[bytes, None]:
        """The body as it comes; TooLarge as soon as it is known to be over ``limit``."""
        self._check_announced(limit)
        size, is_more = 0, True
        while is_more:
            chunk, is_more = await self._piece()
            size += len(chunk)
            if size > limit:
                raise too_large(limit)
            if chunk:
                yield chunk

    def _check_announced(self, limit: int) -> None:
        announced = header(self.request, b"content-length")
        if announced is not None and (not is_whole_number(announced) or int(announced) > limit):
            raise too_large(limit)  # the server's own parser has refused what is no number at all

    async def _piece(self) -> tuple[bytes, bool]:
        """The next piece of the body, and whether there is more; ClientDisconnect where the client has left."""
        message = await self.request.receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        return message.get("body", b""), message.get("more_body", False)


_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# An escape counts only behind an even number of backslashes.
_LONE_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*(?:%b(?!%b)|(?<!%b)%b)" % (_HIGH, _LOW, _HIGH, _LOW))


def _complaint(error: Exception, raw: bytes) -> str:
    """What is wrong with a body: half a character is named as such, where the decoder speaks of a truncated body."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if type(error) is msgspec.DecodeError and (found := _LONE_SURROGATE.search(raw, 0, EXPLAINED_BYTES)):
        escape = found[0][-6:].decode("ascii")
        return f"not valid JSON text: {escape} at byte {found.end() - 6} is a lone surrogate, half of a character"
    return str(error)


def too_large(limit: int) -> TooLarge:
    """The error for a body that is over its limit."""
    return TooLarge(f"the body is larger than {limit} bytes", details={"limit": limit})


def asks_for_stream(request: Request) -> bool:
    """Whether ``text/event-stream`` is among the types that the client accepts."""
    return "text/event-stream" in _accepted(request)


def takes_stream(request: Request) -> bool:
    """Whether the client accepts a stream: it names it, or does not name JSON. A plain client says ``*/*`` or nothing."""
    accepted = _accepted(request)
    return "text/event-stream" in accepted or "application/json" not in accepted


def _accepted(request: Request) -> set[str]:
    """The types that the client names in ``Accept``, but for those it refuses (``q=0``)."""
    found = set()
    for accepted in headers(request, b"accept"):
        for media in accepted.split(","):
            kind, *parameters = media.split(";")
            if not (parameters and any(_is_zero(each) for each in parameters)):
                found.add(kind.strip().lower())
    return found


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip().lower() == "q" and value.strip().rstrip("0") in ("", ".", "0.")


_encoder = msgspec.json.Encoder()


class JsonReply(Response):
    """JSON with the headers that every reply has. It leaves in one piece, where nobody has to wait for anything."""

    def __init__(self, body: bytes, status: int) -> None:
        # Without the usual way, which makes each of these headers anew.
        self.body, self.status_code = body, status
        self.raw_headers = [(b"content-length", b"%d" % len(body)), *_JSON_HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        exchange = exchange_of(scope) if self.raw_headers[1:] == _JSON_HEADERS else None  # a cookie may have been added
        if exchange is None or not exchange.answer_whole(
                self.status_code, b"content-length: %d\r\n%b" % (len(self.body), _JSON_HEAD), self.body):
            await super().__call__(scope, receive, send)


_JSON_HEADERS = [(b"content-type", b"application/json"), *RAW_DEFAULTS]
_JSON_HEAD = b"".join(b"%b: %b\r\n" % header for header in _JSON_HEADERS)


def reply(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    if headers:
        return Response(_encoder.encode(body), status, headers, media_type="application/json")
    return JsonReply(_encoder.encode(body), status)


def no_content() -> Response:
    """Done, and nothing to say about it."""
    return Response(status_code=204)
