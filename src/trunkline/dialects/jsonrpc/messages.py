"""What a JSON-RPC peer says, as values; ids, params and results are the peer's own bytes."""

from __future__ import annotations

from msgspec import Raw, Struct

from trunkline.dialects.signals import Malformed

CANCEL_REQUEST = "$/cancel_request"

NULL = Raw(b"null")

ID_BYTES = 256
"""Bytes of a request's id. It is kept until the answer; what peers use are numbers and UUIDs."""


class RpcError(Struct, frozen=True, gc=False):
    """The ``error`` member of an answer."""

    code: int
    message: str
    data: Raw | None = None


class Request(Struct, frozen=True, gc=False):
    """The peer wants an answer; hand ``id`` back to ``send_result`` or ``send_error`` as it is. It does not hold its line."""

    id: Raw
    method: str
    params: Raw | None


class Notification(Struct, frozen=True, gc=False):
    """The peer reports something and wants no answer."""

    method: str
    params: Raw | None


class Response(Struct, frozen=True, gc=False):
    """The answer to our request ``id``: exactly one of ``result`` and ``error`` is set."""

    id: int
    result: Raw | None = None
    error: RpcError | None = None


Message = Request | Notification | Response | Malformed
