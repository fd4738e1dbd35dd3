"""The way to one hub over HTTP: connections that are kept alive (h11 on asyncio streams), requests, and answers or errors back.

Rule 1: a connection carries one exchange at a time; it goes back to the pool only when both sides are done with it.
Rule 2: a request is sent a second time only when it is safe: the connection was an old one, nothing of an answer had
come, and the request may be repeated (GET and the like, or one with an ``Idempotency-Key``).
Rule 3: what goes wrong below HTTP leaves here as ``Unavailable``, naming the address and the reason.
Rule 4: an error that the hub answered is that error of ``trunkline.errors``, by its code.
Rule 5: what answers may be no hub, or a hostile one: an answer has an end in time and in size.
Rule 6: a hub that moved is looked for once, and only sent again what it may get twice.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import h11
import msgspec

from trunkline import decoders
from trunkline.client.records import EventParser, read_as
from trunkline.client.views import Fault
from trunkline.dialects.outside import BROKEN
from trunkline.errors import (
    BY_CODE,
    Forbidden,
    Invalid,
    LocalError,
    NotFound,
    TooLarge,
    TrunklineError,
    Unauthorized,
    Unavailable,
)

CONNECT_TIMEOUT_S = 10.0
READ_BYTES = 1 << 18
"""What the hub writes at most in one go."""
IDLE_CONNECTIONS = 4
ANSWER_MOST = 1 << 30
"""Bytes of an answer, which is held in memory: the longest are files."""
ERROR_MOST = 1 << 20
"""Bytes of an answer that is an error."""
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})


class Endpoint(msgspec.Struct, frozen=True):
    """Where a hub is and what lets us in. ``certificate`` is the hub's own (PEM file), trusted instead of the system's list."""

    url: str
    token: str | None = None
    certificate: str | None = None

    def parts(self) -> SplitResult:
        """The address taken apart; anything but http(s)://host is the caller's mistake."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(f"{self.url!r} is not the address of a hub; it looks like http://127.0.0.1:7420")
        return parts

    def is_loopback(self) -> bool:
        """Whether what we send stays on this machine."""
        return is_loopback(self.parts().hostname or "")


class HttpRequest(msgspec.Struct, frozen=True):
    """One request, before it has an address."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    repeats: bool = False
    """The hub knows it again by an id in its body."""

    def repeatable(self) -> bool:
        """Whether sending it twice does what sending it once does."""
        return self.repeats or self.method in _REPEATABLE or any(name == "Idempotency-Key" for name, _ in self.headers)


class HttpResponse(msgspec.Struct, frozen=True):
    """An answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes


def is_loopback(host: str) -> bool:
    """Whether ``host`` can only be this machine. A name that must be looked up is not, except ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trust(endpoint: Endpoint) -> ssl.SSLContext | None:
    """How to check the hub's certificate: exactly the one we were given, else the system's authorities."""
    if endpoint.parts().scheme != "https":
        return None
    if endpoint.certificate is None:
        return ssl.create_default_context()
    context = ssl.create_default_context(cafile=endpoint.certificate)
    # The hub of this data directory is known by its certificate, not by its name, and need not be self-signed.
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


class Connection:
    """One socket to the hub and the h11 state that goes with it."""

    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._endpoint = endpoint
        self._reader = reader
        self._writer = writer
        self._state = h11.Connection(our_role=h11.CLIENT)
        self._exchanges = 0
        self._answered = False

    @classmethod
    async def open(cls, endpoint: Endpoint) -> Connection:
        """Connect, or raise Unavailable."""
        parts = endpoint.parts()
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=trust(endpoint), limit=READ_BYTES)
        except (OSError, TimeoutError) as error:
            raise Unavailable(f"no hub answers at {endpoint.url}: {_reason(error)}") from error
        return cls(endpoint, reader, writer)

    async def send(self, request: HttpRequest) -> h11.Response:
        """Send the request and wait for the answer's head."""
        self._exchanges += 1
        self._answered = False
        try:
            self._writer.write(self._encode(request))
            await self._writer.drain()
            event = await self._next()
        except (OSError, h11.RemoteProtocolError) as error:
            raise Unavailable(f"the hub at {self._endpoint.url} hung up: {_reason(error)}") from error
        assert isinstance(event, h11.Response)
        return event

    def was_stale(self) -> bool:
        """After a failed send: the hub had closed this kept connection and never saw, or never answered, the request."""
        return self._exchanges > 1 and not self._answered

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Ends at its true end; a body that is cut short is Unavailable."""
        while True:
            try:
                event = await self._next()
            except (OSError, h11.RemoteProtocolError) as error:
                raise Unavailable(f"the hub at {self._endpoint.url} hung up in mid-answer: {_reason(error)}") from error
            if isinstance(event, h11.EndOfMessage):
                return
            assert isinstance(event, h11.Data)
            yield bytes(event.data)

    async def whole(self, most: int) -> bytes:
        """The body; Unavailable where it is longer than that."""
        pieces, size = [], 0
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if size > most:
                    raise Unavailable(f"the hub at {self._endpoint.url} answered with more than {most >> 10} KiB")
                pieces.append(chunk)
        return b"".join(pieces)

    def reusable(self) -> bool:
        """Start the next exchange, if this one ended cleanly on both sides."""
        if self._state.our_state is not h11.DONE or self._state.their_state is not h11.DONE or self._reader.at_eof():
            return False
        self._state.start_next_cycle()
        return True

    def alive(self) -> bool:
        """Whether the hub has not closed it while it lay idle, as far as the loop has seen."""
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def close(self) -> None:
        """Close the socket; how the other side takes it does not matter any more."""
        self._writer.close()
        with suppress(OSError, TimeoutError):  # a reset or a slow TLS goodbye: nothing is lost with it
            async with asyncio.timeout(1):
                await self._writer.wait_closed()

    def _encode(self, request: HttpRequest) -> bytes:
        parts = self._endpoint.parts()
        headers = [("Host", parts.netloc), *request.headers]
        if self._endpoint.token is not None:
            headers.append(("Authorization", f"Bearer {self._endpoint.token}"))
        if request.body:
            headers.append(("Content-Length", str(len(request.body))))
        head = h11.Request(method=request.method, target=parts.path.rstrip("/") + request.path, headers=headers)
        pieces = [self._state.send(head)]
        if request.body:
            pieces.append(self._state.send(h11.Data(data=request.body)))
        pieces.append(self._state.send(h11.EndOfMessage()))
        return b"".join(piece for piece in pieces if piece)

    async def _next(self) -> h11.Event:
        while True:
            event = self._state.next_event()
            if event is h11.NEED_DATA:
                data = await self._reader.read(READ_BYTES)
                self._answered = self._answered or bool(data)
                self._state.receive_data(data)
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionResetError("the connection was closed before an answer")
            elif isinstance(event, h11.Event) and not isinstance(event, h11.InformationalResponse):
                return event


class Pool:
    """The connections to one endpoint; a few are kept for the next request."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._idle: list[Connection] = []

    async def ask(self, request: HttpRequest, *, timeout_s: float, most: int = ANSWER_MOST) -> HttpResponse:
        """Send a request and read its whole answer."""
        try:
            async with asyncio.timeout(timeout_s):
                connection, head = await self.begin(request)
                try:
                    body = await connection.whole(most if head.status_code < 400 else min(most, ERROR_MOST))
                except BaseException:
                    await connection.close()
                    raise
                await self.put_back(connection)
        except TimeoutError as error:
            raise Unavailable(f"the hub at {self.endpoint.url} did not answer {request.method} {request.path} "
                              f"within {timeout_s:g} s") from error
        return HttpResponse(head.status_code, headers_of(head), body)

    async def begin(self, request: HttpRequest) -> tuple[Connection, h11.Response]:
        """Send a request; the caller reads the body from the connection and gives it back or closes it."""
        connection = await self._take()
        try:
            return connection, await connection.send(request)
        except Unavailable:
            await connection.close()
            if not (connection.was_stale() and request.repeatable()):
                raise
        except BaseException:
            await connection.close()
            raise
        return await self._begin_anew(request)

    async def put_back(self, connection: Connection) -> None:
        """Keep the connection for the next request, or close it."""
        if connection.reusable() and len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            await connection.close()

    async def move(self, endpoint: Endpoint) -> None:
        """The hub is somewhere else now."""
        if endpoint != self.endpoint:
            await self.close()
            self.endpoint = endpoint

    async def close(self) -> None:
        """Close what is idle; what is in use belongs to its user."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()

    async def _take(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.alive():
                return connection
            await connection.close()
        return await Connection.open(self.endpoint)

    async def _begin_anew(self, request: HttpRequest) -> tuple[Connection, h11.Response]:
        connection = await Connection.open(self.endpoint)
        try:
            return connection, await connection.send(request)
        except BaseException:
            await connection.close()
            raise


def headers_of(head: h11.Response) -> dict[str, str]:
    """Header names are lower case, as h11 gives them."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no connection within {CONNECT_TIMEOUT_S:g} s"
    return str(error) or type(error).__name__


_BY_STATUS: dict[int, type[TrunklineError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 413: TooLarge}
"""For answers that are not the hub's own, such as a proxy's."""


def error_of(response: HttpResponse) -> TrunklineError:
    """The error that this answer stands for: the hub's error body, or the error packet it sends to who asked for a stream."""
    try:
        body = decoders.decode(_json_of(response), dict[str, Any])
        if body.get("type") == "error":
            return error_of_packet(body, response.status)
        fault = decoders.convert(body, Fault)
    except BROKEN:
        return _unnamed(response)
    return _error(fault.code, response.status, fault.message, fault.details, fault.agent_code)


def error_of_packet(packet: Mapping[str, Any], status: int = 500) -> TrunklineError:
    """The error that an error packet stands for; its code word is ``details.code``."""
    details = packet.get("details")
    details = dict(details) if isinstance(details, Mapping) else {}
    code, agent_code = str(details.pop("code", "")), details.pop("agentCode", None)
    return _error(code, status, str(packet.get("message", "")), details or None, None if agent_code is None else str(agent_code))


def error_of_fault(fault: Fault) -> TrunklineError:
    """The error that an error body stands for, wherever it was found."""
    return _error(fault.code, 500, fault.message, fault.details, fault.agent_code)


def _error(code: str, status: int, message: str, details: dict[str, Any] | None, agent_code: str | None) -> TrunklineError:
    known = BY_CODE.get(code)
    if known is None:
        return _class_of(status)(message, details={**(details or {}), "code": code}, agent_code=agent_code)
    return known(message, details=details, agent_code=agent_code)


def _json_of(response: HttpResponse) -> bytes:
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return response.body
    events = EventParser().feed(response.body)
    return events[0].data if events else b""


def _unnamed(response: HttpResponse) -> TrunklineError:
    text = response.body[:200].decode("utf-8", "replace").strip()
    return _class_of(response.status)(f"the hub answered {response.status}" + (f": {text}" if text else ""))


def _class_of(status: int) -> type[TrunklineError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in (502, 503, 504):
        return Unavailable
    return LocalError if 400 <= status < 500 else TrunklineError


TIMEOUT_S = 30.0
START_TIMEOUT_S = 180.0
"""Starting a session starts an agent, and some are fetched from a registry on their first start."""
RECONNECT_S = 60.0

JSON_BODY = (("Content-Type", "application/json"), ("Accept", "application/json"))

T = TypeVar("T")


class HubRequests:
    """A hub that takes requests."""

    def __init__(self, url: str, token: str | None = None, *, certificate: str | None = None, timeout_s: float = TIMEOUT_S,
                 reconnect_s: float = RECONNECT_S, find: Callable[[], Awaitable[Endpoint]] | None = None) -> None:
        endpoint = Endpoint(url.rstrip("/"), token, certificate)
        endpoint.parts()
        self._pool = Pool(endpoint)
        self._timeout_s = timeout_s
        self._reconnect_s = reconnect_s
        self._find = find

    @property
    def endpoint(self) -> Endpoint:
        """Where the hub was last found."""
        return self._pool.endpoint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close idle connections; streams close with their iterators."""
        await self._pool.close()

    async def _get(self, path: str, type_: type[T]) -> T:
        return read(await self._ask(HttpRequest("GET", path)), type_)

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = await self._ask(post(path, body))
        return read(response, dict[str, Any]) if response.body else {}

    async def _ask(self, request: HttpRequest, *, timeout_s: float | None = None) -> HttpResponse:
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        try:
            response = await self._pool.ask(request, timeout_s=limit_s)
        except Unavailable:
            if self._find is None or not request.repeatable():
                raise
            await self._relocate()
            response = await self._pool.ask(request, timeout_s=limit_s)
        if not 200 <= response.status < 300:
            raise error_of(response)
        return response

    async def _relocate(self) -> None:
        if self._find is not None:
            await self._pool.move(await self._find())


def read(response: HttpResponse, kind: type[T]) -> T:
    """An answer's body as ``kind``; Unavailable where it is none, as from a proxy that answers in the hub's place."""
    return read_as(response.body, kind)


def json_of(body: Mapping[str, Any]) -> bytes:
    """A body."""
    return msgspec.json.encode(body)


def post(path: str, body: Mapping[str, Any]) -> HttpRequest:
    """A request with a body."""
    return HttpRequest("POST", path, json_of(body), JSON_BODY)


def path_of(*parts: str, **query: str | int | None) -> str:
    """An address: its parts are quoted; what is None is left out."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = {key: value for key, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
