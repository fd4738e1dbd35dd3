"""Our errors as JSON-RPC errors: one table, for every answer of the face."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import (
    BY_CODE,
    AgentAuthRequired,
    Invalid,
    MethodNotAllowed,
    NotFound,
    TooLarge,
    TrunklineError,
    Unauthorized,
    Unsupported,
)

_CODES: tuple[tuple[type[TrunklineError], ErrorCode], ...] = (
    (AgentAuthRequired, ErrorCode.AUTH_REQUIRED),
    (Unauthorized, ErrorCode.AUTH_REQUIRED),
    (NotFound, ErrorCode.RESOURCE_NOT_FOUND),
    (MethodNotAllowed, ErrorCode.METHOD_NOT_FOUND),
    (Invalid, ErrorCode.INVALID_PARAMS),
    (Unsupported, ErrorCode.INVALID_PARAMS),
    (TooLarge, ErrorCode.INVALID_PARAMS),
)


class RpcFault(msgspec.Struct):
    """An error as an editor gets it."""

    code: int
    message: str
    data: dict[str, Any]


def fault_of(error: TrunklineError) -> RpcFault:
    """An error as an editor gets it. An agent's own number is kept."""
    return written_fault(error.code, error.message, error.details, error.agent_code)


def written_fault(code: str, message: str, details: Any = None, agent_code: str | None = None) -> RpcFault:
    """The same, of an error that was written down."""
    data: dict[str, Any] = {"code": code}
    if details:
        data["details"] = details
    return RpcFault(_number(code, agent_code), " ".join(message.split()), data)


def _number(code: str, agent_code: str | None) -> int:
    kind = BY_CODE.get(code, TrunklineError)
    for wanted, number in _CODES:
        if issubclass(kind, wanted):
            return number
    if agent_code is not None and is_whole_number(agent_code.removeprefix("-")) and abs(int(agent_code)) < 1 << 31:
        return int(agent_code)
    return ErrorCode.INTERNAL_ERROR
