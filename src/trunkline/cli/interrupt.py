"""Ctrl-C outside of a running loop: while modules are imported and settings are read.

Rule: as long as nothing was begun there is nothing to wind up; the process ends at once, with the exit code that shells expect
and without Python's account of where it was.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

from trunkline.cli.exits import EXIT_INTERRUPTED


def leave_on_interrupt() -> None:
    """Let Ctrl-C end the process; who started us to ignore it, as ``nohup`` does, is obeyed."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def raise_on_interrupt() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again: from here on there is something to wind up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_INTERRUPTED)
