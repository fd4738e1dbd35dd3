"""``tracing.py PID FILE TOKEN``: leaves who started it, traces a process, says so in the file, and never takes note of its end.

Stdlib only; runs on its own, is deaf to SIGTERM, and ends by itself after a minute.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

PTRACE_SEIZE = 0x4206
LIFE_S = 60.0


def main(pid: int, told: str) -> None:
    """Trace it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.ptrace(PTRACE_SEIZE, pid, 0, 0)
    with open(f"{told}.half", "w", encoding="utf-8") as file:
        file.write("traces" if done == 0 else os.strerror(ctypes.get_errno()))
    os.rename(f"{told}.half", told)
    time.sleep(LIFE_S)


if __name__ == "__main__":
    if os.fork() == 0:
        os.setsid()
        main(int(sys.argv[1]), sys.argv[2])
    os._exit(0)
