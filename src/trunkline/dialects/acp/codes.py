"""The error codes of the protocol. Any other int32 may come, too."""

from __future__ import annotations

import enum

from trunkline.errors import AgentAuthRequired, Forbidden, Invalid, NotFound, TrunklineError, Unsupported


class ErrorCode(enum.IntEnum):
    """Why a request was refused."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTH_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002


_CODES: tuple[tuple[type[TrunklineError], ErrorCode], ...] = (
    (Invalid, ErrorCode.INVALID_PARAMS),
    (Forbidden, ErrorCode.INVALID_PARAMS),
    (NotFound, ErrorCode.RESOURCE_NOT_FOUND),
    (Unsupported, ErrorCode.METHOD_NOT_FOUND),
    (AgentAuthRequired, ErrorCode.AUTH_REQUIRED),
)


def rpc_code_of(error: TrunklineError) -> ErrorCode:
    """The protocol's code for an error of ours."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ErrorCode.INTERNAL_ERROR)
