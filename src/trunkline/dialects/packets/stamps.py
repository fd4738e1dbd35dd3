"""The packets' timestamp: UTC with microseconds and ``+00:00``, as in ``2026-01-22T19:13:30.917345+00:00``.

Rule 1: the clock is the caller's; a moment comes in as microseconds since the epoch.
Rule 2: chunks that were read together have one moment, and those after it the same second: both are remembered. What is
remembered is replaced whole, so threads that meet here see one or the other.
"""

from __future__ import annotations

from datetime import UTC, datetime

_US_PER_SECOND = 1_000_000

_second: tuple[int, bytes] = (-_US_PER_SECOND, b"")
"""When the newest second began, in microseconds, and the part of a timestamp that stays the same for it, dot included."""

_moment: tuple[int, bytes] = (-1, b"")
"""The newest moment and its timestamp."""


def stamp(at_us: int) -> bytes:
    """A packet's timestamp as bytes, to be spliced between quotes."""
    global _moment, _second
    known, made = _moment
    if known != at_us:
        began, fixed = _second
        if not began <= at_us < began + _US_PER_SECOND:
            began, fixed = _second = _second_of(at_us)
        made = b"%b%06d+00:00" % (fixed, at_us - began)
        _moment = (at_us, made)
    return made


def _second_of(at_us: int) -> tuple[int, bytes]:
    at_s = at_us // _US_PER_SECOND
    return at_s * _US_PER_SECOND, datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()


def timestamp(at_us: int) -> str:
    """A packet's timestamp of a moment in microseconds since the epoch."""
    return stamp(at_us).decode()
