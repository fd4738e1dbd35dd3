"""Moments as text: microseconds since the epoch, in the form that a language of ours has for them.

Rule 1: the clock is the caller's.
Rule 2: chunks that were read together have one moment, and those after it the same second: both are remembered. What is
remembered is replaced whole, so threads that meet here see one or the other.
"""

from __future__ import annotations

from datetime import UTC, datetime

US_PER_SECOND = 1_000_000


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
            if not began <= at_us < began + US_PER_SECOND:
                began, fixed = self._second = _second_of(at_us)
            made = self._form % (fixed, (at_us - began) // self._step_us)
            self._moment = (at_us, made)
        return made


def _second_of(at_us: int) -> tuple[int, bytes]:
    at_s = at_us // US_PER_SECOND
    return at_s * US_PER_SECOND, datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.").encode()
