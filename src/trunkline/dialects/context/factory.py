"""``create_event``: an event with the next number of its session and the time, for programs that make events themselves.

Rule 1: this is the one module below the session that reads the clock, and only when the caller brings no ``now``.
Rule 2: nothing in the hub uses it: a session's writer numbers and stamps its events itself (``encode_event``).
Rule 3: the counters are the process's own; a session's counter is freed by ``reset_sequence``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar, overload

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.events import EventBase

_EventT = TypeVar("_EventT", bound=EventBase)

_last: dict[str, int] = {}


@overload
def create_event(session_id: str, payload: _EventT, now: int | datetime | None = None) -> _EventT: ...


@overload
def create_event(session_id: str, payload: Mapping[str, Any], now: int | datetime | None = None) -> dict[str, Any]: ...


def create_event(
    session_id: str, payload: EventBase | Mapping[str, Any], now: int | datetime | None = None
) -> EventBase | dict[str, Any]:
    """The payload with its envelope: a typed event comes back typed, a mapping as a dict with the envelope first.

    What the payload says of the envelope itself stands, and the counter goes on all the same. ``now`` is microseconds
    since 1970 or a datetime with a zone. A mapping is not looked at: it may be an event that this version does not know.
    """
    seq = _last[session_id] = _last.get(session_id, 0) + 1
    stamp = iso_ms(_microseconds(now))
    if not isinstance(payload, EventBase):
        return {"seq": seq, "sessionId": session_id, "timestamp": stamp, **payload}
    return msgspec.structs.replace(
        payload,
        seq=payload.seq or seq,
        session_id=payload.session_id or session_id,
        timestamp=payload.timestamp or stamp,
    )


def reset_sequence(session_id: str) -> None:
    """Let the session's next event be number 1; an unknown session is one already."""
    _last.pop(session_id, None)


def reset_all_sequences() -> None:
    """Let every session's next event be number 1."""
    _last.clear()


def _microseconds(now: int | datetime | None) -> int:
    if now is None:
        return time.time_ns() // 1000
    if isinstance(now, datetime):
        return round(now.timestamp() * 1_000_000)
    return now
