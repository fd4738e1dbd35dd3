"""What a request, its answer and its end begin with, on the wire; and what of a head may pass.

Rule 1: a head carries who asks and how far they may go, as the gateway decided it. It never carries a credential: headers that
can hold one are left out, both ways.
Rule 2: a head is no larger than one over HTTP may be.
Rule 3: a header is one line: a name of HTTP's and no control character. What is not is no head.
Rule 4: an ending says one of a few errors. Whatever else it says is a broken tunnel: no node makes another's clients log out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import (
    Forbidden,
    HubStopping,
    Invalid,
    NodeAway,
    NodeSilent,
    NodeVersion,
    NotOwner,
    TooLarge,
    TooManyRequests,
    TrunklineError,
)

Headers = list[tuple[bytes, bytes]]

HEAD_BYTES = 64 << 10
"""As over HTTP (``server/http/protocol.py``)."""
BODY_BYTES = 64 << 10
"""Of a body that goes with the head: nearly all do, and are one message then."""
REASON_LENGTH = 500

_SECRET = {b"authorization", b"cookie", b"set-cookie", b"proxy-authorization", b"www-authenticate"}
_OF_ONE_CONNECTION = {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
                      b"expect", b"sec-websocket-key", b"sec-websocket-version", b"sec-websocket-extensions"}
LEFT_OUT = frozenset(_SECRET | _OF_ONE_CONNECTION)

SCHEMES = frozenset(("http", "https", "ws", "wss"))
STATUSES = frozenset((101, *range(200, 600))) - {401}
"""Of an answer. Who asks is logged in here: no other node says that it is not."""
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")

ENDS_WITH = {each.code: each for each in (
    Forbidden, HubStopping, Invalid, NodeAway, NodeSilent, NodeVersion, NotOwner, TooLarge, TooManyRequests)}


class Claim(msgspec.Struct, frozen=True, array_like=True):
    """Who asks, as the gateway knows them; ``scope`` is as far as they may go there."""

    id: str
    name: str
    scope: str


class RequestHead(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The beginning of a request."""

    method: str
    path: str
    query: bytes = b""
    headers: Headers = []
    scheme: str = "http"
    """``ws`` and ``wss``: it asks for a WebSocket."""
    body: bytes | None = None
    """All of its body, where that is short; None: pieces follow."""
    claim: Claim | None = None
    """None: nobody, for what needs no token."""
    session: str = ""
    """The session that it is about."""
    epoch: int = 0
    """Which of the session's owners the gateway looks for; 0: whoever it is."""


class ReplyHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The beginning of an answer. Of a WebSocket, 101: it is let in."""

    status: int
    headers: Headers = []
    seq: int = 0
    """The last entry that the session has at its owner, where the request is about one, or made one."""


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a tunnel is over. Without a code: its sender needs it no longer."""

    code: str = ""
    message: str = ""
    details: dict[str, str | int] | None = None


_SESSION: Final = re.compile(rb"/sessions/[A-Za-z0-9_-]{1,128}")
_encoder = msgspec.msgpack.Encoder()
encode_head = _encoder.encode
_request, _reply = decoders.packed(RequestHead), decoders.packed(ReplyHead)
_ending, _refusal = decoders.packed(Ending), decoders.of(Ending)


def passed_on(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that go through a tunnel; names are in small letters, as ASGI has them."""
    return [(name, value) for name, value in headers if name not in LEFT_OUT or (name, value) == (b"connection", b"close")]


def _are_lines(headers: Headers) -> bool:
    """Whether each header is one line of HTTP; names in small letters, as ASGI has them."""
    return all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers)


def check_size(head: RequestHead) -> None:
    """TooLarge, where it could not have come over HTTP."""
    size = len(head.path) + len(head.query) + sum(len(name) + len(value) + 4 for name, value in head.headers)
    if size > HEAD_BYTES:
        raise TooLarge(f"the head of the request is larger than {HEAD_BYTES} bytes", details={"limit": HEAD_BYTES})


def decode_request(body: bytes) -> RequestHead:
    """What an OPEN carries; Invalid where that is no request."""
    try:
        head = _request.decode(body)
    except BROKEN as error:
        raise Invalid(f"this is no request: {error}") from error
    check_size(head)
    if head.body is not None and len(head.body) > BODY_BYTES:
        raise Invalid("this is no request: a long body goes in pieces")
    if not head.path.startswith("/") or head.scheme not in SCHEMES or not _are_lines(head.headers):
        raise Invalid("this is no request: its path, its scheme or a header is not as ASGI has it")
    return msgspec.structs.replace(head, headers=passed_on(head.headers))


def decode_reply(body: bytes) -> ReplyHead:
    """What a HEAD carries; NodeSilent where that is no answer."""
    try:
        head = _reply.decode(body)
    except BROKEN as error:
        raise NodeSilent(f"the owner's answer cannot be read: {error}") from error
    if head.status not in STATUSES:
        raise NodeSilent(f"the owner's answer has the status {head.status}")
    if not _are_lines(head.headers):
        raise NodeSilent("the owner's answer has a header that is none")
    return ReplyHead(head.status, passed_on(head.headers), head.seq)


def encode_ending(error: TrunklineError | None) -> bytes:
    """What an END carries; None: it is needed no longer."""
    if error is None:
        return encode_head(Ending())
    details = {key: value for key, value in (error.details or {}).items() if isinstance(value, str | int)}
    return encode_head(Ending(error.code, error.message[:REASON_LENGTH], details or None))


def decode_ending(body: bytes) -> TrunklineError | None:
    """The same as it came."""
    try:
        ending = _ending.decode(body)
    except BROKEN as error:
        return NodeSilent(f"the other end left with words that cannot be read: {error}")
    return _error(ending) if ending.code else None


def refusal_in(body: bytes) -> TrunklineError:
    """What an owner's answer refuses a WebSocket with."""
    try:
        return _error(_refusal.decode(body))
    except BROKEN:
        return NodeSilent("the owner refused, and does not say why")


def _error(ending: Ending) -> TrunklineError:
    message = ending.message[:REASON_LENGTH]
    if ending.code not in ENDS_WITH:
        return NodeSilent(f"the other end failed: {message}")
    return ENDS_WITH[ending.code](message, details=dict(ending.details or {}) or None)


def is_session(header: tuple[bytes, bytes]) -> bool:
    """Whether it says where a session is, which is the same at every node."""
    name, value = header
    return name == b"location" and _SESSION.fullmatch(value) is not None


def made_session(headers: Headers) -> str:
    """The session that an answer says was made; empty where it says nothing of one."""
    return next((value.decode().rpartition("/")[2] for _, value in filter(is_session, headers)), "")
