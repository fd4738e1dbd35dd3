"""Load for the long runs: sessions whose agents stream, ask and die as they are told, and what the hub holds meanwhile."""

from __future__ import annotations

import json
import os
import shlex
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.tooling.hub_process import PUPPET, HubProcess, Session
from tests.tooling.processes import children_of, inside, resident_bytes
from tests.tooling.readers import Seen

CHUNKS, CHUNK = 400, "word " * 20
ASK = {"toolCall": {"toolCallId": "c", "title": "make it", "kind": "edit", "rawInput": {"path": "a.txt"}},
       "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                   {"optionId": "no", "name": "Reject", "kind": "reject_once"}]}
PLAYS = {
    "stream": [["say", CHUNK]] * CHUNKS + [["wait"]],
    "short": [["say", CHUNK]] * 40,
    "ask": [["ask", "session/request_permission", ASK], ["say", "done"]],
    "hang": [["say", "working"], ["wait"]],
}
"""Prompts in plain words, so that a prompt costs the journal nothing worth counting."""


def player(folder: Path) -> dict[str, str]:
    """The agent of the long runs, by its name."""
    plays = folder / "plays.json"
    plays.write_text(json.dumps(PLAYS))
    return {"player": f"{PUPPET} --plays {shlex.quote(str(plays))}"}


class Held(NamedTuple):
    """What a hub holds of the machine."""

    resident_mb: float
    files: int
    threads: int
    processes: int


def held_by(hub: HubProcess) -> Held:
    """What it holds now."""
    return Held(resident_bytes(hub.pid) / 1e6, len(os.listdir(inside(hub.pid, "fd"))), len(os.listdir(f"/proc/{hub.pid}/task")),
                len(children_of(hub.pid)))


def agent_of(session: Session) -> int | None:
    """The process that works in the session's folder, if there is one: the agent."""
    for process in session.hub.left():
        try:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            if b"puppet.py" in line and os.readlink(f"/proc/{process.pid}/cwd") == os.path.realpath(session.folder):
                return int(process.pid)
        except OSError:
            continue
    return None


def packets_after(session: Session, after: int, last: int) -> Seen:
    """The stored packets behind ``after`` up to ``last``, as a reader gets them."""
    found: Seen = []
    if last <= after:
        return found
    with session.attach(after=after) as stream:
        for packet in stream:
            assert packet.id is not None
            if packet.id > last:
                break
            found.append((packet.id, packet.data))
            if packet.id == last:
                break
    return found


class Crew:
    """Threads that each do one thing after another until time is up; what one raises ends the test."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.done = 0
        self.failures: list[str] = []

    @property
    def over(self) -> bool:
        """Whether time is up, or somebody has failed."""
        return time.monotonic() >= self._until or bool(self.failures)

    def add(self, work: Callable[[], Any], times: int | None = None) -> None:
        """Do ``work`` again and again, in a thread of its own."""
        self._threads.append(threading.Thread(target=self._repeat, args=(work, times), daemon=True))

    def run(self) -> None:
        """Work until all are through."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join(900)
        assert not any(thread.is_alive() for thread in self._threads), "somebody hangs"

    def _repeat(self, work: Callable[[], Any], times: int | None) -> None:
        while not self.over and (times is None or times > 0):
            try:
                work()
            except Exception as error:
                self.failures.append("".join(traceback.format_exception(error)))
                return
            times = None if times is None else times - 1
            with self._lock:
                self.done += 1
