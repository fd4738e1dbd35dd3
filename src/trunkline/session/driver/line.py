"""A live line to a program that runs a session elsewhere, beside the file that is followed: what can be said by it.

What its program tells comes by ``AgentSide``: asks and their ends as signals, text by ``tell``. Answers go to whoever asked
(``elsewhere.py``).
Rule 1: a session without a line is followed as ever. One whose line is lost is, too, from then on.
Rule 2: whether there is one is in the session's state, so that everybody sees whether prompts are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from trunkline.session.recorder import Recorder


class Line(Protocol):
    """The program's end of it."""

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Raise Unsupported when the program cannot take one of the blocks."""

    def prompt(self, turn_id: str, blocks: Sequence[msgspec.Raw]) -> None:
        """Send a prompt. It comes back by the session's file; where it is not taken, ``AgentSide.not_taken`` is told."""

    def cancel(self) -> None:
        """Ask the program to end its turn; Unsupported where it cannot be asked."""


class LineEnd:
    """The session's end of it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.line: Line | None = None
        self._on_change: list[Callable[[], None]] = []

    def when_changed(self, act: Callable[[], None]) -> None:
        """Have this done when there is a line, and when there is none any more."""
        self._on_change.append(act)

    def connect(self, line: Line) -> None:
        """There is a line."""
        self.line = line
        self._changed("")

    def disconnect(self, line: Line, why: str) -> None:
        """That one is gone; another that came meanwhile stays."""
        if self.line is line:
            self.line = None
            self._changed(why)

    def reset(self) -> None:
        """An earlier hub's line is none."""
        self._recorder.at().followed.line(self.line is not None, "the hub was started again")

    def _changed(self, why: str) -> None:
        self._recorder.at().followed.line(self.line is not None, why)
        self._recorder.write()
        for act in self._on_change:
            act()
