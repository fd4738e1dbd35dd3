"""What an agent says, taken in pieces: one read of its pipe may bring a thousand questions, or sixty megabytes of text.

Rule 1: nothing is heard out of its order. While something waits here, what comes goes behind it.
Rule 2: a piece is heard within about HOLD_S; then others have their turn. The agent is not read on meanwhile, nor while the
journal is behind, so that no more than one read and one line wait here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

from trunkline.dialects import acp
from trunkline.dialects.signals import LargeUpdate, Signal, Update
from trunkline.session.pen import Pen

PIECE = 64
"""Signals that are heard at once without a look at the clock: text in a millisecond, permissions in ten."""

HOLD_S = 0.02
"""After this long others have their turn."""

GAP_S = 0.005
"""How long others have, and how soon it is looked again whether the journal has caught up."""

_NOTHING: Iterator[bytes] = iter(())


class Hearing:
    """Hands signals on to ``hear``, in pieces where they are many."""

    def __init__(self, pen: Pen, hear: Callable[[list[Signal]], None]) -> None:
        self._pen = pen
        self._hear = hear
        self._waiting: deque[Signal] = deque()
        self._split = _NOTHING
        self.next: asyncio.Handle | None = None
        """When it goes on; None where nothing waits."""

    def heard(self, signals: list[Signal]) -> None:
        """The agent said these."""
        self._waiting.extend(signals)
        if self.next is None and type(signals[0]) is LargeUpdate:
            self._pen.hold_agent(True)
            self.next = asyncio.get_running_loop().call_later(GAP_S, self._go_on)  # its line took long to read: others first
        elif self.next is None:
            self._go_on()

    def all_heard(self) -> None:
        """Hear everything that waits, now: nothing more will come, or something has to come behind it."""
        if self.next is not None:
            self.next.cancel()
            self.next = None
        while piece := self._take():
            self._hear(piece)

    def _go_on(self) -> None:
        self.next = None
        loop = asyncio.get_running_loop()
        until = loop.time() + HOLD_S
        while not self._pen.is_behind and (piece := self._take()):
            self._hear(piece)
            if loop.time() > until:
                break
        if self._waiting or self._split is not _NOTHING:
            self._pen.hold_agent(True)
            self.next = loop.call_later(GAP_S, self._go_on)
        else:
            self._pen.drained()

    def _take(self) -> list[Signal]:
        """The next piece: a part of a large update, or some signals."""
        part = next(self._split, None)
        if part is not None:
            return [Update(part)]
        self._split = _NOTHING
        piece: list[Signal] = []
        while self._waiting and len(piece) < PIECE:
            if type(self._waiting[0]) is LargeUpdate:
                return piece or self._take_large(self._waiting.popleft())
            piece.append(self._waiting.popleft())
        return piece

    def _take_large(self, large: Signal) -> list[Signal]:
        assert type(large) is LargeUpdate
        self._split = acp.pieces_of(large.raw)
        part = next(self._split, None)
        if part is not None:
            return [Update(part)]
        self._split = _NOTHING
        return [large]
