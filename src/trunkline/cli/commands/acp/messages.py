"""Messages as the bridge sees them: the few members it looks at, and what it adds to them on their way to the hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from trunkline import decoders
from trunkline.dialects.acp.methods import SESSION_FORK, SESSION_LOAD, SESSION_NEW, SESSION_RESUME
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc import MAX_LINE
from trunkline.dialects.outside import BROKEN

UPDATE_HEAD = b'{"jsonrpc":"2.0","method":"session/update"'
CURSOR_HEAD = b'{"jsonrpc":"2.0","method":"_trunkline/cursor"'
OPENING = frozenset({SESSION_NEW, SESSION_LOAD, SESSION_RESUME, SESSION_FORK})
"""The requests after whose answer the editor has a session open."""

NOT_TEXT = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Not UTF-8"}}'
"""The answer to a line that is none."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}:,]|[^\s\[\]{}:,"]+')

_encode = msgspec.json.Encoder().encode


class EditorMessage(msgspec.Struct):
    """What distinguishes messages."""

    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Params(msgspec.Struct, rename="camel"):
    """What the bridge wants to know of a request's params, or of an answer's result."""

    session_id: str = ""
    seq: int = 0
    request_id: Raw = Raw(b"null")


class _Ours(msgspec.Struct, rename="camel"):
    env_allow: tuple[str, ...] = ()


class _Meta(msgspec.Struct):
    trunkline: _Ours = msgspec.field(default_factory=_Ours)


class InitializeResult(msgspec.Struct):
    """The hub's answer to initialize: which variables the agent may see."""

    meta: _Meta = msgspec.field(name="_meta", default_factory=_Meta)


_envelope = decoders.of(EditorMessage)
_params = decoders.of(Params)


def read(line: bytes) -> EditorMessage | None:
    """A line's envelope; None for what is no message."""
    try:
        return _envelope.decode(line)
    except BROKEN:
        return None


def params_of(raw: Raw | UnsetType) -> Params:
    """The members that the bridge knows; empty where they are not."""
    try:
        return _params.decode(raw) if raw is not UNSET else Params()
    except BROKEN:
        return Params()


def env_allow_of(result: Raw | UnsetType) -> tuple[str, ...]:
    """The patterns of variables that the hub's answer to initialize names."""
    try:
        return decoders.decode(result, InitializeResult).meta.trunkline.env_allow if result is not UNSET else ()
    except BROKEN:
        return ()


def request(request_id: bytes, method: str, params: Any) -> bytes:
    """A request as a line."""
    body = params if isinstance(params, bytes) else _encode(params)
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (request_id, _encode(method), body)


def refusal(request_id: bytes, message: str) -> bytes:
    """An answer of our own, when there is no hub to give one."""
    error = {"code": int(ErrorCode.INTERNAL_ERROR), "message": " ".join(message.split())}
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (request_id, _encode(error))


def too_long(beginning: bytes) -> bytes:
    """The answer to a line that is longer than what is taken: to the request that it is, where its beginning shows its id."""
    error = {"code": int(ErrorCode.INVALID_REQUEST), "message": f"A message must not be longer than {MAX_LINE >> 20} MiB"}
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_request_id(beginning), _encode(error))


def _request_id(beginning: bytes) -> bytes:
    """The id of a request that was cut off; null where it is not seen, or where it may be no request."""
    members: dict[bytes, bytes] = {}
    depth, before = 0, [b"", b""]
    for token in _TOKEN.findall(beginning):
        if depth == 1 and before[1] == b":":
            members.setdefault(before[0], token)
        depth += (token in b"{[") - (token in b"}]")
        before = [before[1], token]
    found = members.get(b'"id"', b"null")
    return found if b'"method"' in members and _is_id(found) else b"null"


def _is_id(token: bytes) -> bool:
    try:
        return type(msgspec.json.decode(token)) in (str, int)
    except BROKEN:
        return False


def taken_back(request_id: bytes) -> bytes:
    """Tells the editor that nobody waits for its answer any more."""
    return b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%b}}' % request_id


def cancel_of(session_id: str, key: str) -> bytes:
    """Ends the prompt with this key, and nobody else's turn."""
    params = {"sessionId": session_id, "_meta": {"trunkline": {"key": key}}}
    return b'{"jsonrpc":"2.0","method":"session/cancel","params":%b}' % _encode(params)


def with_meta(params: Raw | UnsetType, ours: Mapping[str, Any], *, inside: str | None = None) -> bytes:
    """Params with ``_meta.trunkline`` (or ``<inside>._meta.trunkline``) filled in; what stands there already stays."""
    members = _members(params)
    if inside is not None:
        members[inside] = Raw(with_meta(members.get(inside, UNSET), ours))
        return _encode(members)
    meta = _members(members.get("_meta", UNSET))
    meta["trunkline"] = Raw(_encode({**ours, **_members(meta.get("trunkline", UNSET))}))
    members["_meta"] = Raw(_encode(meta))
    return _encode(members)


def with_after(line: bytes, after: int) -> bytes:
    """A request with the position that its sender has reached."""
    members = _members(Raw(line))
    params = _members(members.get("params", UNSET))
    meta = _members(params.get("_meta", UNSET))
    meta["trunkline"] = {**_members(meta.get("trunkline", UNSET)), "after": after}
    return _encode({**members, "params": {**params, "_meta": meta}})


def _members(raw: Raw | UnsetType) -> dict[str, Any]:
    try:
        return dict(decoders.decode(raw, dict[str, Raw])) if raw is not UNSET else {}
    except BROKEN:
        return {}  # params that are no object: the hub says what is wrong with them
