"""The error codes of the protocol. Any other int32 may come, too."""

from __future__ import annotations

import enum


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
