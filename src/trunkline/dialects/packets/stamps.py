"""The packets' timestamp: UTC with microseconds and ``+00:00``, as in ``2026-01-22T19:13:30.917345+00:00``."""

from __future__ import annotations

from trunkline.dialects.moments import Moments

stamp = Moments(b"%b%06d+00:00", 1).stamp
"""A packet's timestamp as bytes, to be spliced between quotes."""


def timestamp(at_us: int) -> str:
    """A packet's timestamp of a moment in microseconds since the epoch."""
    return stamp(at_us).decode()
