"""Asks a hub for ``/healthz``, or another path, again and again, in a process of its own, and says at the end how long the
slowest answer took.

Time in which the hub or the prober could have run and was not let (others use the machine) does not count: the kernel keeps it
per thread in ``schedstat``. Of the hub's other threads the one that waited longest counts as well: it may have had the
interpreter. Without that file all of the time counts.

    with Prober(hub) as prober: ...
    prober.worst_ms
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

PAUSE_S = 0.005


class Prober:
    """Probes a hub from its beginning to its end. ``pid`` and ``url`` are the hub's; ``token`` is for a path that needs one."""

    def __init__(self, pid: int, url: str, path: str = "/healthz", token: str = "") -> None:
        self.worst_ms = self.worst_raw_ms = 0.0
        self.answers = 0
        host, _, port = url.removeprefix("http://").partition(":")
        self._words = [sys.executable, __file__, host, port, str(pid), path, token]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        out, _ = self._process.communicate(b"", timeout=60)
        said = json.loads(out)
        self.worst_ms, self.worst_raw_ms, self.answers = said["worst_ms"], said["worst_raw_ms"], said["answers"]


def waited_ns(pid: int, thread: int = 0) -> int:
    """How long a thread of a process, the main one if none is named, was ready to run and did not."""
    try:
        with open(f"/proc/{pid}/task/{thread or pid}/schedstat", "rb", buffering=0) as file:
            return int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def waits_of(pid: int) -> dict[int, int]:
    """The same for each thread of a process."""
    try:
        return {int(thread): waited_ns(pid, int(thread)) for thread in os.listdir(f"/proc/{pid}/task")}
    except OSError:
        return {}


def held_off_ns(pid: int, before: dict[int, int], now: dict[int, int]) -> int:
    """How long the main thread was kept from running: by others, or by a thread of its own that was."""
    grown = {thread: waited - before.get(thread, 0) for thread, waited in now.items()}
    return grown.pop(pid, 0) + max(grown.values(), default=0)


def probe(host: str, port: int, pid: int, path: str, token: str, stopped: Callable[[], bool]) -> dict[str, float]:
    """Ask until stopped."""
    connection = socket.create_connection((host, port))
    credential = f"Authorization: Bearer {token}\r\n" if token else ""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{credential}\r\n".encode()
    worst = worst_raw = 0.0
    answers = 0
    while not stopped():
        hubs, own = waits_of(pid), waited_ns(os.getpid())
        start = time.perf_counter_ns()
        connection.sendall(request)
        answer = _answer(connection)
        took = time.perf_counter_ns() - start
        assert answer.startswith(b"HTTP/1.1 200"), answer[:100]
        held_off = held_off_ns(pid, hubs, waits_of(pid)) + waited_ns(os.getpid()) - own
        worst = max(worst, (took - held_off) / 1e6)
        worst_raw = max(worst_raw, took / 1e6)
        answers += 1
        time.sleep(PAUSE_S)
    return {"worst_ms": worst, "worst_raw_ms": worst_raw, "answers": answers}


def _answer(connection: socket.socket) -> bytes:
    """One answer, whole: a head that tells its length, and so many bytes."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + body


if __name__ == "__main__":
    print("ready", flush=True)
    host, port, pid, path, token = sys.argv[1:6]
    said = probe(host, int(port), int(pid), path, token, lambda: bool(select.select([sys.stdin], [], [], 0)[0]))
    print(json.dumps(said), flush=True)
