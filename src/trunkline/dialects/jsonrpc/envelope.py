"""One line to what it carries, and what is wrong with it where it is no message."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from trunkline import decoders
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc.messages import RpcError
from trunkline.dialects.outside import BROKEN


class Envelope(Struct, gc=False):
    """All that a line may carry; which members are there decides what it is."""

    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Addressed(Struct, gc=False):
    """The least a wrong request must have to be answered."""

    id: Raw
    method: Raw


ENVELOPE = decoders.of(Envelope)
_ADDRESSED = decoders.of(Addressed)
_ARRAY = decoders.of(list[Raw])
_MEMBERS = decoders.of(dict[str, Raw])
_STRING = decoders.of(str)
_INTEGER = decoders.of(int, strict=False)


def present(raw: Raw | UnsetType) -> Raw | None:
    return None if raw is UNSET else raw


def read_error(raw: Raw) -> RpcError:
    """An error in whatever shape it came: the request that it answers must not stay open."""
    try:
        members = _MEMBERS.decode(raw)
    except BROKEN:
        return RpcError(ErrorCode.INTERNAL_ERROR, shortened(raw), raw)
    message = members.get("message")
    return RpcError(_error_code(members.get("code")), _error_text(raw if message is None else message), members.get("data"))


def _error_code(raw: Raw | None) -> int:
    try:
        return ErrorCode.INTERNAL_ERROR if raw is None else _INTEGER.decode(raw)
    except BROKEN:
        return ErrorCode.INTERNAL_ERROR


def _error_text(raw: Raw) -> str:
    try:
        return _STRING.decode(raw)
    except BROKEN:
        return shortened(raw)


def addressed(text: bytes) -> Addressed | None:
    """Id and method of a line that is a request but for the type of its method."""
    try:
        return _ADDRESSED.decode(text)
    except BROKEN:
        return None


def is_id(raw: Raw) -> bool:
    """Whether these bytes may be the id of a request: a string, a number or null."""
    return bytes(memoryview(raw)[:1]) not in (b"{", b"[", b"t", b"f")


def is_array(text: bytes) -> bool:
    try:
        _ARRAY.decode(text)
    except BROKEN:
        return False
    return True


def reason_of(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, msgspec.ValidationError):
        return f"not a message: {error}"
    # msgspec says "truncated" for half a surrogate pair, too.
    return f"not JSON: {str(error).replace('truncated', 'truncated, or has half a surrogate pair')}"


def shortened(raw: Raw) -> str:
    return bytes(memoryview(raw)[:200]).decode("utf-8", "replace")
