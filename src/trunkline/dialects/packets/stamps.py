"""The packets' timestamp: UTC with microseconds and ``+00:00``, as in ``2026-01-22T19:13:30.917345+00:00``.

Rule 1: the clock is the caller's; a moment comes in as microseconds since the epoch.
Rule 2: chunks that were read together have one moment, and those after it the same second: both are remembered. What is
remembered is replaced whole, so threads that meet here see one or the other.
"""

from __future__ import annotations

from datetime import UTC, datetime

_US_PER_SECOND = 1_000_000

_second: tuple[int, bytes] = (-1, b"")
_moment: tuple[int, bytes] = (-1, b"")


def stamp(at_us: int) -> bytes:
    """A packet's timestamp as bytes, to be spliced between quotes."""
    global _moment
    known, made = _moment
    if known != at_us:
        at_s = at_us // _US_PER_SECOND
        made = b"%b%06d+00:00" % (_of_second(at_s), at_us - at_s * _US_PER_SECOND)
        _moment = (at_us, made)
    return made


def _of_second(at_s: int) -> bytes:
    """The part of a timestamp that stays the same for a second, dot included."""
    global _second
    known, made = _second
    if known != at_s:
        made = datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()
        _second = (at_s, made)
    return made


def timestamp(at_us: int) -> str:
    """A packet's timestamp of a moment in microseconds since the epoch."""
    return stamp(at_us).decode()
