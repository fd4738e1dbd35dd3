"""Ways in which a program leaves the process that started it: ``escapes.py WAY TOKEN``. Stdlib only; runs on its own.

Whoever gets away has TOKEN among its arguments and nothing in its environment, does nothing but sleep, and (but for one) ends
by itself after ``LIFE_S``.

    double-fork    forks twice, heads a session of its own, clears its environment
    nohup          the same by one fork, deaf to SIGHUP
    deaf           deaf to SIGTERM as well
    chain          forks again and again, each parent leaving soon after
    stopped        stops itself: it hears no signal but SIGKILL and SIGCONT (whoever tests this ends it by its pid)
"""

from __future__ import annotations

import os
import signal
import sys
import time

LIFE_S = 60.0
LINK_S = 0.02
"""How soon one link of the chain forks the next; it lives ten times as long, so that whoever looks sees some of them."""

WAYS = ("double-fork", "nohup", "deaf", "chain", "stopped")


def main(way: str, token: str) -> None:
    """Leave, and come back to ``live`` as a new program with an empty environment."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if way == "double-fork" and os.fork():
        os._exit(0)
    os.execve(sys.executable, [sys.executable, "-I", "-S", os.path.abspath(__file__), way, token, "live"], {})


def live(way: str) -> None:
    """Be there, in that way."""
    if way in ("nohup", "deaf"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if way == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if way == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    until = time.monotonic() + LIFE_S
    while time.monotonic() < until:
        time.sleep(LINK_S if way == "chain" else 1.0)
        if way == "chain" and os.fork():
            time.sleep(LINK_S * 10)
            os._exit(0)


if __name__ == "__main__":
    if sys.argv[3:] == ["live"]:
        live(sys.argv[1])
    else:
        main(sys.argv[1], sys.argv[2])
