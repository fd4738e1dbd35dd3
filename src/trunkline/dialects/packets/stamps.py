"""The packets' timestamp: UTC with microseconds and ``+00:00``, as in ``2026-01-22T19:13:30.917345+00:00``.

Rule: the clock is the caller's; a moment comes in as microseconds since the epoch.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

US_PER_SECOND = 1_000_000


@lru_cache(maxsize=256)
def second(at_s: int) -> bytes:
    """The part of a timestamp that stays the same for a second, dot included."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()


def stamp(at_us: int) -> bytes:
    """A packet's timestamp as bytes, to be spliced between quotes."""
    at_s, us = divmod(at_us, US_PER_SECOND)
    return b"%b%06d+00:00" % (second(at_s), us)


def timestamp(at_us: int) -> str:
    """A packet's timestamp of a moment in microseconds since the epoch."""
    return stamp(at_us).decode()
