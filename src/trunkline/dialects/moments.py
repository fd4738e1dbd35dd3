"""Moments as text: microseconds since the epoch, in the form that a language of ours has for them.

Rule 1: the clock is the caller's.
Rule 2: chunks that were read together have one moment, and those after it the same second: both are remembered. What is
remembered is replaced whole, so threads that meet here see one or the other.
Rule 3: a moment that no year of four digits has (the time of a file is what somebody set) is told as the nearest that one has.
"""

from __future__ import annotations

from datetime import UTC, datetime

US_PER_SECOND = 1_000_000
FIRST_US = -30_610_224_000 * US_PER_SECOND
LAST_US = 253_402_300_800 * US_PER_SECOND - 1
"""The years 1000 to 9999."""


class Moments:
    """One form of timestamps: ``form`` takes the second, dot included, and what is past of it in steps of ``step_us``."""

    __slots__ = ("_form", "_moment", "_second", "_step_us")

    def __init__(self, form: bytes, step_us: int) -> None:
        self._form = form
        self._step_us = step_us
        self._second = (-US_PER_SECOND, b"")
        """When the newest second began, in microseconds, and the part of a timestamp that stays the same for it."""
        self._moment = (-1, b"")
        """The newest moment and its timestamp."""

    def stamp(self, at_us: int) -> bytes:
        """The timestamp of a moment, to be spliced between quotes."""
        known, made = self._moment
        if known != at_us:
            began, fixed = self._second
            within = at_us
            if not began <= at_us < began + US_PER_SECOND:
                within = min(max(at_us, FIRST_US), LAST_US)
                began, fixed = self._second = _second_of(within)
            made = self._form % (fixed, (within - began) // self._step_us)
            self._moment = (at_us, made)
        return made


def _second_of(at_us: int) -> tuple[int, bytes]:
    at_s = at_us // US_PER_SECOND
    return at_s * US_PER_SECOND, datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()
