"""Processes under test: the hub, the bare agent; their CPU time and memory."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent
AGENT = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'agent.py'))}"
START_S = 30.0

CPU_CLOCK = 2
"""Which of a process's clocks: user and system time of all its threads, as the scheduler counts it (``clock_getcpuclockid``)."""


def cpu_s(pid: int) -> float:
    """User and system time that a process has used, in seconds; ProcessLookupError where it is gone.

    By its clock: ``/proc`` tells hundredths of a second, which is a fifteenth of what fan-out uses in a window."""
    try:
        return time.clock_gettime(~pid << 3 | CPU_CLOCK)
    except OSError:
        raise ProcessLookupError(f"process {pid} is gone") from None


def rss_mb(pid: int) -> float:
    """Resident memory of a process, in megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no VmRSS for {pid}")


class HubProcess:
    """A hub of its own, with a data folder of its own, that ends with the block."""

    def __init__(self, *, memory: bool = False, agent: str = AGENT, flags: Sequence[str] = ()) -> None:
        self._memory = memory
        self._agent = agent
        self._flags = flags

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="trunkline-bench-"))
        (self.folder / "work").mkdir()
        self.token = "bench-token-0123456789abcdef"
        command = [sys.executable, "-m", "benchmarks.memoryhub"] if self._memory else [
            sys.executable, "-m", "trunkline", "serve", "--no-open"]
        command += ["--port", "0", "--data", str(self.folder / "data"), "--agent", f"bench={self._agent}", *self._flags]
        env = {**os.environ, "TRUNKLINE_TOKEN": self.token, "XDG_CONFIG_HOME": str(self.folder / "config")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled; this one is when it first starts
        self.started_at = time.monotonic()
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env=env, cwd=HERE.parent)
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode()
        if "listening on" not in line:
            raise RuntimeError(f"the hub did not start: {(self.folder / 'log').read_text()[-2000:]}")
        self.host, port = line.split("//")[1].strip().rstrip("/").split(":")
        self.port = int(port)
        self.pid = self._process.pid
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def editor(self) -> BareAgent:
        """``trunkline acp`` before this hub, with the benchmark's agent behind it."""
        env = {**os.environ, "TRUNKLINE_TOKEN": self.token, "TRUNKLINE_URL": f"http://{self.host}:{self.port}",
               "XDG_CONFIG_HOME": str(self.folder / "config"), "TRUNKLINE_DATA": str(self.folder / "data")}
        return BareAgent([sys.executable, "-m", "trunkline", "acp", "--agent", "bench"], env)

    @property
    def work(self) -> str:
        """The folder that sessions work in."""
        return str(self.folder / "work")


class BareAgent:
    """The same agent with nothing in between: a pipe, a line, ``json.loads``."""

    def __init__(self, command: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        self._command = list(command) or shlex.split(AGENT)
        self._env = env

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._env)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._id = 0
        self._ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        self._session = self._ask("session/new", {"cwd": "/", "mcpServers": []})["sessionId"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._in.close()
        self._process.wait(10)

    def prompt(self, text: str) -> int:
        """Send a prompt and read to its end; returns how many updates came."""
        self._send("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]})
        updates = 0
        for line in self._out:
            if "method" not in json.loads(line):
                return updates
            updates += 1
        raise RuntimeError("the agent ended")

    def texts(self, text: str) -> Iterator[str]:
        """Send a prompt; the text of each chunk, as soon as it is there."""
        self._send("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]})
        for line in self._out:
            message = json.loads(line)
            if "method" not in message:
                return
            if message["method"] == "session/update":
                yield message["params"]["update"]["content"]["text"]

    def first_update_s(self, text: str, rest_s: float = 0.0) -> float:
        """Seconds from the prompt to its first update, after some rest; what else the turn brings is read and not counted."""
        time.sleep(rest_s)
        begin = time.perf_counter()
        self._send("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]})
        json.loads(self._out.readline())
        took = time.perf_counter() - begin
        while "method" in json.loads(self._out.readline()):
            pass
        return took

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._send(method, params)
        return json.loads(self._out.readline())["result"]

    def _send(self, method: str, params: dict[str, Any]) -> None:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()
