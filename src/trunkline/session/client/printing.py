"""What a command of the hub's own terminal prints, sent while it runs.

Rule 1: at most one piece in PIECE_S seconds, however fast the command prints; the first waits as long.
Rule 2: bounded: of more than PIECE_CHARS between two pieces the end is sent, and after RUNNING_OUTPUT_CHARS nothing. All is in
the terminal's output, which its call's result shows.
"""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Callable
from typing import Final

from trunkline.session.interpret.calls.output import PIECE_CHARS, RUNNING_OUTPUT_CHARS

PIECE_S: Final = 0.25

EmitPiece = Callable[[int, str], bool]
"""Takes a piece and its offset in characters; False where nobody shows it yet, so that it is kept."""


class Printing:
    """One terminal's output on its way to those who watch."""

    def __init__(self, emit: EmitPiece) -> None:
        self._emit = emit
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._chars = 0
        self._emitted = 0
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        """The command printed."""
        if self._emitted >= RUNNING_OUTPUT_CHARS:
            return
        text = self._decode(data)
        self._chars += len(text)
        self._text = (self._text + text)[-PIECE_CHARS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PIECE_S, self._due)

    def stop(self) -> None:
        """The command has ended: its call's result shows the rest."""
        self._emitted = RUNNING_OUTPUT_CHARS
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        if self._text and self._emit(self._chars - len(self._text), self._text):
            self._emitted += len(self._text)
            self._text = ""
