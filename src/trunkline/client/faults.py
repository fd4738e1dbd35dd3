"""An HTTP error answer, back as the error that the hub raised: the inverse of the one place in ``server/`` that writes it."""

from __future__ import annotations

import msgspec

from trunkline.client.http import Response
from trunkline.client.views import Fault
from trunkline.errors import Forbidden, LocalError, NotFound, TooLarge, TrunklineError, Unauthorized, Unavailable

_BY_STATUS: dict[int, type[TrunklineError]] = {401: Unauthorized, 403: Forbidden, 404: NotFound, 413: TooLarge}
"""For answers that are not the hub's own, such as a proxy's."""


def _by_code(root: type[TrunklineError]) -> dict[str, type[TrunklineError]]:
    """Every error of the tree under its code; where a class shares its parent's code, the child stands for it."""
    table = {root.code: root}
    for child in root.__subclasses__():
        table |= _by_code(child)
    return table


_CLASSES = _by_code(TrunklineError)


def error_of(response: Response) -> TrunklineError:
    """The error that this answer stands for."""
    try:
        fault = msgspec.json.decode(response.body, type=Fault)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _unnamed(response)
    known = _CLASSES.get(fault.code)
    details = fault.details if known else {**(fault.details or {}), "code": fault.code}
    return (known or _class_of(response.status))(fault.message, details=details, agent_code=fault.agent_code)


def _unnamed(response: Response) -> TrunklineError:
    text = response.body[:200].decode("utf-8", "replace").strip()
    return _class_of(response.status)(f"the hub answered {response.status}" + (f": {text}" if text else ""))


def _class_of(status: int) -> type[TrunklineError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status in (502, 503, 504):
        return Unavailable
    return LocalError if 400 <= status < 500 else TrunklineError
