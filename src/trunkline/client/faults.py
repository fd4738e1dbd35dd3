"""An HTTP error answer, back as the error that the hub raised: the inverse of the one place in ``server/`` that writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trunkline.client.http import Response
from trunkline.client.sse import EventParser
from trunkline.client.views import Fault
from trunkline.dialects.outside import BROKEN
from trunkline.errors import BY_CODE, Forbidden, LocalError, NotFound, TooLarge, TrunklineError, Unauthorized, Unavailable

_BY_STATUS: dict[int, type[TrunklineError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 413: TooLarge}
"""For answers that are not the hub's own, such as a proxy's."""


def error_of(response: Response) -> TrunklineError:
    """The error that this answer stands for: the hub's error body, or the error packet it sends to who asked for a stream."""
    try:
        body = msgspec.json.decode(_json_of(response), type=dict[str, Any])
        if body.get("type") == "error":
            return error_of_packet(body, response.status)
        fault = msgspec.convert(body, Fault)
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


def _json_of(response: Response) -> bytes:
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return response.body
    events = EventParser().feed(response.body)
    return events[0].data if events else b""


def _unnamed(response: Response) -> TrunklineError:
    text = response.body[:200].decode("utf-8", "replace").strip()
    return _class_of(response.status)(f"the hub answered {response.status}" + (f": {text}" if text else ""))


def _class_of(status: int) -> type[TrunklineError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in (502, 503, 504):
        return Unavailable
    return LocalError if 400 <= status < 500 else TrunklineError
