"""The bytes of HTTP: uvicorn's protocol on httptools, with bounds on what a client may send and on how long it may take.

Rule 1: whatever the client owes us has a deadline: the head of a request, its body, the reading of its answer, the next request.
A friend (``connections.py``) owes less: its body may take any time as long as something comes, and it may read as slowly as it
likes. Time in which we do not read, or have not answered, is ours.
Rule 2: a head is what comes before the body. What follows a chunked body (trailers) is read and forgotten.
Rule 3: how long a request is must be beyond doubt, whoever reads it: what two servers could read in two ways is refused.
Rule 4: what is kept of a client is bounded: the head, the framing of a body, requests that wait behind one another.
Rule 5: answers come in the order of their requests (RFC 9112, 9.3.2). What is refused behind others is refused when those are
answered; it is the last answer, says ``Connection: close``, and what came behind it was not read.
Rule 6: what came at once is not parsed at once: after PARSED_S, and while a request waits for who takes its body, the rest waits
and nothing more is read. One read may bring 40,000 chunks of one byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any, Final
from urllib.parse import unquote
from weakref import ref

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, parse_url
from uvicorn._types import ASGIVersions
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from trunkline.dialects.outside import is_whole_number
from trunkline.errors import Invalid, TooSlow
from trunkline.server import acp
from trunkline.server.auth.cookies import split_base
from trunkline.server.context import ws
from trunkline.server.http.address import Network, counted_address
from trunkline.server.http.answer import CYCLE
from trunkline.server.http.connections import KEY, ConnectionPlace, carrying
from trunkline.server.http.exchange import Exchange
from trunkline.server.openapi import ErrorBody

HEAD_BYTES = 64 << 10
HEAD_S = 20.0
BODY_S = 20.0
"""For a whole body of a stranger's, who has nothing longer to say than a token."""
BODY_IDLE_S = 60.0
"""For the next piece of a friend's: longer than any connection that lives is silent while it sends."""
STALL_S = 60.0
"""For a stranger to take what it asked for: parts of the page, files of a preview."""
KEEP_ALIVE_S = 75
STRANGER_IDLE_S = 15.0
"""A browser that loads the login page asks for the next part of it within a second, and comes again where it has to."""
CLOSE_S = 5.0
"""For the last words to be read."""
PIPELINED = 16
"""Requests that may wait behind the one being answered. Browsers and proxies send none."""
FRAMING_BYTES = 64 << 10
FRAMING_RATIO = 8
"""Bytes around a chunked body: trailers and long chunk headers, and the five or so that each small chunk takes."""
PARSED_BYTES = 4 << 10
"""Parsed between two looks at the clock: some 700 of the smallest chunks, or 1,000 of the smallest headers, in 3 ms. What is
known to be body has no pieces to be parsed, and is taken whole."""
PARSED_S = 0.005
"""After this long others have their turn."""


ASGI: Final[ASGIVersions] = {"version": "3.0", "spec_version": "2.3"}


class HubProtocol(HttpToolsProtocol):
    """One connection."""

    cycle: Exchange
    flow: _Flow

    def __init__(self, place: ConnectionPlace, proxies: Sequence[Network], **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self.place = place
        self._proxies = proxies
        self._in_head, self._in_body = True, False
        self._head_bytes = self._body_bytes = self._framed_bytes = 0
        self._codings: list[bytes] = []
        self._has_body = False
        self._length = 0
        """Of the body, where its head says so."""
        self._unanswered = 0
        self._since = self._head_at = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._is_handed_over = False
        self._refusal: str | None = None
        """What is sent when all that came before it is answered; nothing that came behind it is read."""
        self._unparsed = bytearray()
        self._turn: asyncio.Handle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        """Expect a request, soon."""
        super().connection_made(transport)
        self.flow = _Flow(transport, self._turned)
        if self.place.has_left:
            transport.abort()
        self.place.drop = transport.abort
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is expected."""
        self.place.leave()
        self._unwatch()
        self._unparsed.clear()
        super().connection_lost(exc)
        self._let_go()

    def _let_go(self) -> None:
        """Hold nothing that holds this: of what only holds itself a crowd that comes and goes would leave so much that the full
        collection which frees it holds the loop (cli/hosting/collecting.py)."""
        if self.cycle is not None:
            self.cycle.transport = self.transport
        self.flow.let_go()
        self.pipeline.clear()
        self.parser = self.cycle = self.scope = None  # type: ignore[assignment]  # as uvicorn does with its parser

    def data_received(self, data: bytes) -> None:
        """Parse it, behind what waits to be parsed."""
        if len(data) <= PARSED_BYTES and not self._unparsed:
            self._parse(data)
            return
        self._unparsed += data
        if self._turn is None:
            self._parse_unparsed()

    def _parse_unparsed(self) -> None:
        """Go on until somebody has to take a body, or others have waited long enough."""
        self._turn = None
        until = monotonic() + PARSED_S
        while self._unparsed and self._may_parse() and not self.flow.read_paused:
            size = max(PARSED_BYTES, self._length - self._body_bytes if self._in_body else 0)
            piece = bytes(self._unparsed[:size])
            del self._unparsed[:size]
            self._parse(piece)
            if monotonic() >= until:
                break
        self._go_on()

    def _may_parse(self) -> bool:
        return not (self._is_handed_over or self._refusal is not None or self.transport.is_closing())

    def _go_on(self) -> None:
        """Take a turn for what is left; read on where nothing is."""
        if not self._may_parse():
            self._unparsed.clear()  # uvicorn, too, forgets what came behind an upgrade or a refusal
        elif self._unparsed and self._turn is None and not self.flow.read_paused:
            self._turn = self.loop.call_soon(self._parse_unparsed)
        if self._is_handed_over or self.flow.read_paused or self.transport.is_closing():
            return
        if not self._unparsed and not self.transport.is_reading():
            self.transport.resume_reading()
        elif self._unparsed and self.transport.is_reading():
            self.transport.pause_reading()

    def _parse(self, data: bytes) -> None:
        """Parse, then look at what it has come to."""
        if self._refusal is not None:
            return
        in_head, in_body = self._in_head, self._in_body
        self._feed(data)
        if self._is_handed_over or self.transport.is_closing():
            return
        if self._in_head and in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.send_400_response("The request's head is too large.")
                return
        elif self._in_body and in_body:
            self._framed_bytes += len(data)
            if self.place.is_friend:
                self._since = self.loop.time()
            if self._framed_bytes > FRAMING_BYTES + (1 + FRAMING_RATIO) * self._body_bytes:
                self.send_400_response("There is more around the request's body than in it.")
                return
        self._watch()

    # What the parser calls. It does what uvicorn's does, in one function each: a request passes all of them, and when nothing of
    # it is in the processor's caches each function costs more than what it does.

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head, self._head_bytes, self._since = True, 0, self.loop.time()
        self._codings, self._has_body, self._length = [], False, 0
        self.url, self.expect_100_continue, self.headers = b"", False, []
        self.scope = {  # type: ignore[typeddict-item]  # the rest comes with the head
            "type": "http", "asgi": ASGI, "http_version": "1.1", "server": self.server, "client": self.client,
            "scheme": self.scheme, "root_path": "", "headers": self.headers, "state": {},  # type: ignore[typeddict-item]
            "extensions": {KEY: carrying(self.place)},
        }

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; what comes after the body is none."""
        if not self._in_head:
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        elif name == b"transfer-encoding":
            self._codings.append(value.lower())
            self._has_body = True
        elif name == b"content-length":
            self._has_body = True
            self._length = int(value) if is_whole_number(value) else 0
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Its head is here."""
        self._check_head()
        self._in_head, self._in_body = False, True
        self._body_bytes = self._framed_bytes = 0
        self._since = self._head_at = self.loop.time()
        scope, parser = self.scope, self.parser
        scope["method"] = parser.get_method().decode("ascii")
        wants_upgrade = parser.should_upgrade()
        if wants_upgrade and self._should_upgrade():
            return
        url = parse_url(self.url)
        scope["raw_path"], scope["query_string"] = url.path, url.query or b""
        path = url.path.decode("ascii")
        scope["path"] = unquote(path) if "%" in path else path
        before, self._unanswered = self.cycle, self._unanswered + 1
        # Where an upgrade is not ours to make, the parser has its doubts about what follows.
        keep_alive = scope["http_version"] != "1.0" and parser.should_keep_alive() and not wants_upgrade
        self.cycle = Exchange(scope, self.transport, self.flow, self.loop, keep_alive=keep_alive,
                              expects_continue=self.expect_100_continue, on_response=self.on_response_complete)
        scope["extensions"][CYCLE] = ref(self.cycle)  # type: ignore[assignment]  # ASGI leaves open what is in there
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:  # answers come in the order of their requests
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def on_body(self, body: bytes) -> None:
        """A piece of its body."""
        self._body_bytes += len(body)
        exchange = self.cycle
        if (self.parser.should_upgrade() and self._should_upgrade()) or exchange.response_complete:
            return
        exchange.body += body
        if len(exchange.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        if exchange.is_awaited:
            exchange.message_event.set()

    def on_message_complete(self) -> None:
        """It is here to its end."""
        self._in_body, self._since = False, self.loop.time()
        self.place.whole()
        exchange = self.cycle
        if exchange is not None and not self.parser.should_keep_alive():
            exchange.keep_alive = False  # a trailer may say so too, and then the parser listens to nothing more
        if (self.parser.should_upgrade() and self._should_upgrade()) or exchange.response_complete:
            return
        exchange.more_body = False
        if exchange.is_awaited:
            exchange.message_event.set()

    def on_response_complete(self) -> None:
        """It is answered."""
        self._unanswered -= 1
        self._since = self.loop.time()
        self.server_state.total_requests += 1
        if not self.transport.is_closing():  # uvicorn's timer for the next request is not set: ``_watch`` has one
            if self.flow.read_paused:
                self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
        if self._refusal is not None and not self._unanswered and not self.transport.is_closing():
            self._refuse(self._refusal)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in its turn. In the middle of its own answer that would become part of it."""
        if self._unanswered and not self._in_body:
            self._refusal = msg
            return
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
            return
        self._refuse(msg)

    def _refuse(self, msg: str) -> None:
        super().send_400_response(msg)
        self.loop.call_later(CLOSE_S, self.transport.abort)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over. What speaks WebSocket is loaded by the first who asks for it."""
        from trunkline.server.http.ws_protocol import QuietProtocol, RoomyProtocol
        kind = RoomyProtocol if self._path() == acp.PATH else QuietProtocol
        self._is_handed_over = True
        self._unwatch()
        self.place.begin(self._address(self.headers))
        self.ws_protocol_class = partial(kind, self.place)  # type: ignore[assignment]  # uvicorn only calls it
        super().handle_websocket_upgrade()
        self._let_go()

    def _should_upgrade_to_ws(self) -> bool:
        """Only these addresses speak WebSocket; elsewhere the wish is ignored, as HTTP allows."""
        return self._path() in (ws.PATH, acp.PATH)

    def _path(self) -> str:
        return split_base(self.url.partition(b"?")[0].decode("latin-1"))[1]

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("Invalid HTTP request received.")
        except HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            else:
                self._unsupported_upgrade_warning()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.place.begin(self.place.address if not self._proxies else self._address(cycle.scope["headers"]))
        task = self.loop.create_task(cycle.run_asgi(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _address(self, headers: Any) -> str:
        if not self._proxies or self.client is None:
            return self.place.address
        return counted_address(self.client[0], headers, self._proxies)

    def _check_head(self) -> None:
        """Invalid, where others could read something else in it. (httptools makes a refusal of it.)"""
        if len(self.pipeline) >= PIPELINED:
            raise Invalid("too many requests wait behind one another")
        version = self.parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise Invalid("this is not HTTP/1.1")
        self.scope["http_version"] = version
        if self._codings and (self._codings != [b"chunked"] or version != "1.1"):
            raise Invalid("a body is sent chunked or with its length")
        if self._has_body and self.parser.should_upgrade():
            # The parser takes an upgrade for granted, and the body for the first words of another protocol.
            raise Invalid("a request for an upgrade has no body")
        if not self.url.startswith(b"/"):
            self._check_absolute()

    def _check_absolute(self) -> None:
        """An address with a host in it must name the Host that is asked: that is the one we look at."""
        _, is_absolute, rest = self.url.partition(b"://")
        hosts = [value for name, value in self.headers if name == b"host"]
        if is_absolute and [rest.partition(b"/")[0].partition(b"?")[0].lower()] != [host.lower() for host in hosts]:
            raise Invalid("the address and the Host are not the same")

    # Deadlines: one timer, which is moved only where it would come too late.

    def _due(self) -> float | None:
        """When what the client owes us now is due; None where it owes nothing."""
        is_friend = self.place.is_friend
        if self.flow.write_paused:
            return None if is_friend else self._since + STALL_S
        if self._in_body and not is_friend:
            return self._head_at + BODY_S
        if self.flow.read_paused:
            return None
        if self._in_head:
            return self._since + HEAD_S
        if self._in_body:
            return self._since + BODY_IDLE_S
        if self._unanswered:
            return None
        return self._since + (KEEP_ALIVE_S if is_friend else STRANGER_IDLE_S)

    def _turned(self) -> None:
        """Reading or writing was held up, or goes on."""
        self._since = self.loop.time()
        self._watch()
        if self._unparsed:
            self._go_on()

    def _watch(self) -> None:
        due = None if self.place.has_left else self._due()
        if due is None or (self._timer is not None and self._timer_at <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = self.loop.call_at(due, self._look)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        due = self._due()
        if due is not None and due <= self.loop.time():
            self._late()
        else:
            self._watch()

    def _late(self) -> None:
        """End it; who sends a body and has got nothing yet learns why."""
        if self._in_body and self.cycle is not None and not self.cycle.response_started and not self.pipeline:
            self.transport.write(_too_slow())
            self.transport.close()
            self.loop.call_later(CLOSE_S, self.transport.abort)
        else:
            self.transport.abort()


class _Flow(FlowControl):
    """Says when reading or writing was held up, or goes on."""

    def __init__(self, transport: asyncio.Transport, turned: Callable[[], None]) -> None:
        super().__init__(transport)
        self._turned_to = turned

    def let_go(self) -> None:
        """Nobody is told any more."""
        self._turned_to = _tell_nobody

    def resume_reading(self) -> None:
        """We can take more."""
        if self.read_paused:
            super().resume_reading()
            self._turned_to()

    def pause_writing(self) -> None:
        """The client does not take what we say."""
        if not self.write_paused:
            super().pause_writing()
            self._turned_to()

    def resume_writing(self) -> None:
        """It goes on."""
        if self.write_paused:
            super().resume_writing()
            self._turned_to()


def _tell_nobody() -> None:
    pass


def _too_slow() -> bytes:
    error = TooSlow("the request's body did not come in time")
    body = msgspec.json.encode(ErrorBody(error.code, error.message, error.recoverable))
    head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
    return STATUS_LINE[error.http_status] + head + body
