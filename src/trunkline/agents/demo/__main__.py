"""Runs the demo agent on stdio: ``python -m trunkline.agents.demo [--fast] [--speed N] [--fault NAME]``."""

from __future__ import annotations

import os
import signal
import sys
import threading

from trunkline import __version__
from trunkline.agents.demo import FAULTS
from trunkline.agents.demo.agent import Agent
from trunkline.agents.demo.wire import DemoWire

USAGE = f"""usage: python -m trunkline.agents.demo [--fast] [--speed N] [--fault {"|".join(FAULTS)}]

An Agent Client Protocol agent on stdio. Send it /help for what it can do."""


def main(arguments: list[str]) -> None:
    """Read the options (by hand: a parser would double the start time) and serve until stdin ends."""
    speed, fault = 1.0, ""
    words = iter(arguments)
    for word in words:
        if word == "--fast":
            speed = float("inf")
        elif word == "--speed":
            speed = _number(next(words, ""))
        elif word == "--fault":
            fault = _known_fault(next(words, ""))
        elif word in ("--version", "--help"):
            print(f"trunkline-demo {__version__}" if word == "--version" else USAGE)
            return
        else:
            sys.exit(USAGE)
    _serve(speed, fault)


def _serve(speed: float, fault: str) -> None:
    if fault == "exit":
        sys.exit("demo: exiting at start, as --fault exit asks")
    agent = Agent(DemoWire(), speed=speed, fault=fault)
    signal.signal(signal.SIGTERM, lambda _number, _frame: _end_by_sigterm(agent))
    agent.serve()
    if agent.is_deaf:
        threading.Event().wait()
    # Turns that still run have nobody to talk to.
    os._exit(0)


def _end_by_sigterm(agent: Agent) -> None:
    if not agent.is_deaf:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def _number(word: str) -> float:
    try:
        speed = float(word)
    except ValueError:
        sys.exit(USAGE)
    return speed if speed > 0 else sys.exit(USAGE)


def _known_fault(word: str) -> str:
    return word if word in FAULTS else sys.exit(USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
