"""Why a request was refused, as a number: the codes of JSON-RPC and of the Agent Client Protocol, in one place.

Any other int32 may come, too. Nothing is imported here, so that the demo agent starts as fast without the rest of us.
"""

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
