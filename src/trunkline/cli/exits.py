"""How a command ends: the exit codes of all of them, and Ctrl-C outside of a running loop, while modules are imported and
settings are read.

Rule: as long as nothing was begun there is nothing to wind up; at Ctrl-C the process ends at once, with the exit code that shells
expect and without Python's account of where it was.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_REFUSAL = 3
EXIT_MAX_TOKENS = 4
EXIT_MAX_REQUESTS = 5
EXIT_LOCKED = 75
"""Another hub has the data folder; sysexits calls this "try again"."""
EXIT_INTERRUPTED = 130
"""What shells say of a program that Ctrl-C ended."""
EXIT_BROKEN_PIPE = 141
"""What shells say of a program whose reader left."""


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
