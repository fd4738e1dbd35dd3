"""The official Python client, in a process that does nothing else: reader and relay are one, so it tells its own figures."""

from __future__ import annotations

import json
import subprocess
import time
from types import TracebackType
from typing import Any, Self

from benchmarks.machine import HERE
from benchmarks.peers.places import INSTALLED
from benchmarks.relays.relay import Pace, Relay, Window


class SdkClient(Relay):
    """Agents that are children of the client's process."""

    name = "agent-client-protocol 0.12.1"

    def __enter__(self) -> Self:
        begin = time.monotonic()
        self._process = subprocess.Popen(
            [str(INSTALLED / "sdk" / "bin" / "python"), "-m", "benchmarks.peers.sdk_client", str(self.stub)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE.parent)
        assert self._process.stdout is not None
        self._process.stdout.readline()
        self.start_s = time.monotonic() - begin
        self.pid = self._process.pid
        self._sessions = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()  # its agents end with their pipes
        self._process.wait()
        super().__exit__(kind, error, trace)

    def grow(self, sessions: int) -> None:
        if sessions > self._sessions:
            self._ask(do="grow", sessions=sessions)
            self._sessions = sessions
            self.keep_agents()

    def window(self, pace: Pace) -> Window:
        return Window(**self._ask(do="window", **pace._asdict()))

    def echo_s(self, rest_s: float = 0.0) -> float:
        time.sleep(rest_s)
        return float(self._ask(do="echo")["took_s"])

    def create_s(self) -> float:
        return float(self._ask(do="create")["took_s"])

    def _ask(self, **asked: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer
