"""Real nats-servers for tests: one, or a cluster of three, each with ports, files and a log of its own.

Rule 1: a server ends with its test, whatever happened: ``close`` kills it, and it dies with whoever started it.
Rule 2: a server that was killed comes back on its ports with its files, as a machine would.
Rule 3: a single one answers within a fraction of a second; three need a few seconds to find their leader, so tests share them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.tooling.processes import freeze
from trunkline.agents.keeper.proc import die_with_parent

PROGRAM = Path(sys.executable).with_name("nats-server")
WITHIN_S = 60.0
"""What comes at all comes long before: it is for a machine that is busy with others."""
POLL_S = 0.005
OWN_PORTS = (12_000, 32_000)
MAX_PAYLOAD = 8 << 20
SMALL = ("--journal-size", "64M", "--parts-size", "64M", "--checkpoints-size", "16M", "--tables-size", "8M")
"""Flags of ``trunkline cluster init`` for a disk of a test's own."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on just now, and that the system gives to nobody who asks for any: a server that was killed finds
    them free again."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(*OWN_PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue  # somebody's
        if port not in found:
            found.append(port)
    return found


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until it holds; a server tells nobody when it is ready."""
    end = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(POLL_S)


class NatsServer:
    """One server. ``more`` is added to its settings, ``storing`` to those of what it stores."""

    def __init__(self, root: Path, name: str = "n1", more: str = "", storing: str = "") -> None:
        self.root, self.name, self.more, self.storing = root, name, more, storing
        self.port, self.route_port, self.watch_port = free_ports(3)
        self.config = root / f"{name}.conf"
        self.log = root / f"{name}.log"
        self.store = root / name
        self.before: Sequence[str] = ()
        """The words before the command, such as those that give it a small disk."""
        self._process: subprocess.Popen[bytes] | None = None
        root.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> Self:
        self.start()
        self.wait_ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def settings(self) -> str:
        """What the server is started with."""
        jetstream = f'store_dir: "{self.store}", max_mem: 64M, max_file: 2G {self.storing}'
        return "\n".join((
            f"server_name: {self.name}", f"listen: 127.0.0.1:{self.port}", f"http: 127.0.0.1:{self.watch_port}",
            f"max_payload: {MAX_PAYLOAD}", f"jetstream {{ {jetstream} }}", self.more))

    def start(self) -> None:
        """Start it and return; ``wait_ready`` waits."""
        self.config.write_text(self.settings())
        with self.log.open("ab") as log:
            command = [*self.before, str(PROGRAM), "-c", str(self.config)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                             preexec_fn=partial(die_with_parent, os.getpid()))

    def wait_ready(self) -> None:
        """Wait until it takes what clients ask for."""
        until(self._is_ready, f"{self.name} is not ready: {self.log.read_text()[-2000:] if self.log.exists() else ''}")

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, and wait for that."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(how)
            self._process.wait(WITHIN_S)
            self._process = None

    def freeze(self) -> None:
        """It keeps its connections and does nothing, until ``thaw``."""
        freeze(self.pid)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def ask(self, path: str) -> Any:
        """What its monitoring says."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.watch_port}{path}", timeout=20) as answer:
            return json.load(answer)

    def bytes_on_disk(self, text: bytes) -> list[Path]:
        """The files of its store that have these bytes in them."""
        return [path for path in self.store.rglob("*") if path.is_file() and text in path.read_bytes()]

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.store, ignore_errors=True)

    def _is_ready(self) -> bool:
        assert self._process is not None and self._process.poll() is None, self.log.read_text()[-2000:]
        try:
            return bool(self.ask("/healthz")["status"] == "ok")
        except (OSError, urllib.error.HTTPError):
            return False


class NatsCluster:
    """Three servers that replicate."""

    def __init__(self, root: Path, more: str = "", storing: str = "") -> None:
        self.servers = [NatsServer(root, f"n{number}", more, storing) for number in (1, 2, 3)]
        routes = ", ".join(f"nats://127.0.0.1:{server.route_port}" for server in self.servers)
        for server in self.servers:
            server.more += f"\ncluster {{ name: tests, listen: 127.0.0.1:{server.route_port}, routes: [{routes}] }}"

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(server.url for server in self.servers)

    def __enter__(self) -> Self:
        for server in self.servers:
            server.start()
        self.wait_ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for server in self.servers:
            server.close()

    def wait_ready(self) -> None:
        """Wait until all take what clients ask for and agree on who leads."""
        for server in self.servers:
            server.wait_ready()
        until(self._agree, "no leader was found")

    def named(self, name: str) -> NatsServer:
        return next(server for server in self.servers if server.name == name)

    def _agree(self) -> bool:
        leaders = {server.ask("/jsz").get("meta_cluster", {}).get("leader") for server in self.servers}
        return len(leaders) == 1 and None not in leaders


def start_all(servers: Iterable[NatsServer]) -> None:
    """Start those that were killed, and wait for each."""
    for server in servers:
        server.start()
    for server in servers:
        server.wait_ready()
