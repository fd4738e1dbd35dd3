"""What a chat in the terminal costs: the time until somebody can type, and its memory, at first and after a long answer."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Self

from benchmarks.machine import HERE, HubProcess, rss_mb
from benchmarks.scenarios import Figure, Scale
from benchmarks.wire import Api

START_MOST_MS = 600
MEMORY_MOST_MB = 60
CHUNKS = 20_000
READY, ENDED = "›".encode(), "that-was-all"
WITHIN_S = 60.0


def chat(scale: Scale) -> list[Figure]:
    """(s) from the command to the line that takes a prompt, with a hub that runs; and the chat's memory."""
    if find_spec("trunkline.cli.commands.chat") is None:
        return []  # an older tree, in benchmarks.against
    starts, fresh, used = [], [], []
    with HubProcess() as hub:
        for _ in range(scale.rounds):
            session = Api(hub).new_session()
            with _Chat(hub, session) as terminal:
                starts.append(terminal.until(READY) * 1000)
                fresh.append(rss_mb(terminal.pid))
        session = Api(hub).call("POST", "/sessions", {"agent": "demo", "cwd": hub.work})["id"]
        with _Chat(hub, session) as terminal:
            terminal.until(READY)
            terminal.type(f"/burst {scale.of(CHUNKS)} 100\r/echo {ENDED}\r")
            terminal.until(f"\x1b[0m /echo {ENDED}".encode())  # above the line, behind all that came before
            used.append(rss_mb(terminal.pid))
    start, memory, after = statistics.median(starts), statistics.median(fresh), used[0]
    return [
        Figure("s  trunkline chat until one can type", f"{start:.0f} ms", f"<= {START_MOST_MS} ms", start <= START_MOST_MS),
        Figure("s  its memory", f"{memory:.1f} MB", f"<= {MEMORY_MOST_MB} MB", memory <= MEMORY_MOST_MB),
        Figure(f"s  its memory after {scale.of(CHUNKS):,} chunks", f"{after:.1f} MB", "", None),
    ]


class _Chat:
    """``trunkline chat`` in a terminal of its own."""

    def __init__(self, hub: HubProcess, session: str) -> None:
        self._env = {**os.environ, "TRUNKLINE_TOKEN": hub.token, "TRUNKLINE_URL": f"http://{hub.host}:{hub.port}",
                     "TERM": "xterm", "XDG_CONFIG_HOME": str(hub.folder / "config"), "TRUNKLINE_DATA": str(hub.folder / "data"),
                     "PROMPT_TOOLKIT_NO_CPR": "1"}
        self._command = [sys.executable, "-m", "trunkline", "chat", session]

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self._began = time.monotonic()
        self._process = subprocess.Popen(self._command, stdin=slave, stdout=slave, stderr=slave, env=self._env, cwd=HERE.parent,
                                         start_new_session=True)
        os.close(slave)
        self.pid = self._process.pid
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(10)
        os.close(self._master)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def until(self, mark: bytes) -> float:
        """Read until this is shown; returns the seconds since the command was started."""
        seen = b""
        while mark not in seen:
            if not select.select([self._master], [], [], WITHIN_S)[0]:
                raise RuntimeError(f"{mark!r} was not shown: {seen[-500:]!r}")
            seen = seen[-len(mark):] + os.read(self._master, 65536)
        return time.monotonic() - self._began
