"""(A) What the tunnel between two nodes costs: the same requests at the session's owner, and at a gateway that asks the owner.

Both are hubs in memory, in processes of their own, with a nats-server between them, all on this machine. The two ways are
interleaved. CPU is that of all three processes together.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.machine import HERE, cpu_s, rss_mb
from benchmarks.scenarios import Figure, Scale

MIB = 1 << 20
LARGE = 50
"""MiB of the file that is sent and fetched: the largest upload that is taken."""
SMALL = 300
"""Small requests of each kind in a round."""
STALLED_MOST_MB = 16.0
"""What a reader that stalls may make a gateway and an owner hold: a window each, twice over."""
TOKEN = "bench-token-0123456789abcdef"


class Took(NamedTuple):
    """What one request took."""

    wall_s: float
    cpu_s: float


def tunnel(scale: Scale) -> list[Figure]:
    """Figures of the owner itself, and of the way through a gateway."""
    with TemporaryDirectory(prefix="trunkline-bench-") as folder, _nodes(Path(folder)) as nodes:
        rounds = [nodes.round(max(10, scale.of(SMALL))) for _ in range(scale.rounds)]
        held = nodes.stalled()
    figures = [Figure(f"A  {what}, owner / gateway", _shown(rounds, what, unit), "reported", None)
               for what, unit in (("a small answer, p50", "ms"), ("50 MiB fetched", "MB/s"), ("50 MiB sent", "MB/s"))]
    cpu = [statistics.median(each[way]["50 MiB fetched"].cpu_s * 1000 / LARGE for each in rounds) for way in (0, 1)]
    return [
        *figures,
        Figure("A  CPU per MiB fetched, owner / gateway", f"{cpu[0]:.1f} / {cpu[1]:.1f} ms", "reported", None),
        Figure("A  memory for a reader that stalls", f"{held:.1f} MB", "<= 16 MB", held <= STALLED_MOST_MB),
    ]


def _shown(rounds: list[tuple[dict[str, Took], dict[str, Took]]], what: str, unit: str) -> str:
    walls = [statistics.median(each[way][what].wall_s for each in rounds) for way in (0, 1)]
    if unit == "ms":
        return f"{walls[0] * 1000:.2f} / {walls[1] * 1000:.2f} ms"
    return f"{LARGE * MIB / walls[0] / 1e6:.0f} / {LARGE * MIB / walls[1] / 1e6:.0f} MB/s"


class _Nodes:
    """The owner's and the gateway's address, and the processes behind them."""

    def __init__(self, ports: list[int], pids: list[int], work: Path) -> None:
        self._connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=120) for port in ports]
        self._ports, self._pids = ports, pids
        (work / "large.bin").write_bytes(os.urandom(LARGE * MIB))
        self._large = (work / "large.bin").read_bytes()
        made = self._call(0, "POST", "/sessions", json.dumps({"agent": "demo", "cwd": str(work)}).encode())
        self._session = f"/sessions/{json.loads(made)['id']}"

    def round(self, small: int) -> tuple[dict[str, Took], dict[str, Took]]:
        """Each kind of request, at the owner and at the gateway in turn."""
        took: tuple[dict[str, Took], dict[str, Took]] = ({}, {})
        pairs = [[self._timed(way, "GET", f"{self._session}/queue") for way in (0, 1)] for _ in range(small)]
        for way in (0, 1):
            took[way]["a small answer, p50"] = Took(statistics.median(pair[way].wall_s for pair in pairs), 0.0)
            took[way]["50 MiB fetched"] = self._timed(way, "GET", f"{self._session}/files/content?path=large.bin")
            took[way]["50 MiB sent"] = self._timed(way, "POST", f"{self._session}/files?path=sent.bin", self._large)
        return took

    def stalled(self) -> float:
        """Megabytes that both processes hold more while a client has begun to read a large file and does not go on."""
        self._call(1, "GET", f"{self._session}/files/content?path=large.bin")
        before = sum(map(rss_mb, self._pids[:2]))
        stalled = http.client.HTTPConnection("127.0.0.1", self._ports[1], timeout=120)
        stalled.request("GET", f"{self._session}/files/content?path=large.bin", headers=_headers())
        stalled.getresponse().read(1)
        time.sleep(2)
        held = sum(map(rss_mb, self._pids[:2])) - before
        stalled.close()
        return held

    def _timed(self, way: int, method: str, path: str, body: bytes | None = None) -> Took:
        began, cpu = time.perf_counter(), sum(map(cpu_s, self._pids))
        self._call(way, method, path, body)
        return Took(time.perf_counter() - began, sum(map(cpu_s, self._pids)) - cpu)

    def _call(self, way: int, method: str, path: str, body: bytes | None = None) -> bytes:
        connection = self._connections[way]
        connection.request(method, path, body, _headers())
        answer = connection.getresponse()
        raw = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {raw[:500]!r}")
        return raw


def _headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}


@contextmanager
def _nodes(folder: Path) -> Iterator[_Nodes]:
    """A nats-server, the owner and the gateway; all of them end with the block."""
    (folder / "work").mkdir()
    started: list[subprocess.Popen[bytes]] = []
    try:
        nats = _nats(folder, started)
        ports = [_node(folder, nats, name, started) for name in ("owner", "gateway")]
        yield _Nodes(ports, [process.pid for process in (*started[1:], started[0])], folder / "work")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)


def _nats(folder: Path, started: list[subprocess.Popen[bytes]]) -> str:
    """Start a server on a port of its choice; its address."""
    program, ports = Path(sys.executable).with_name("nats-server"), folder / "ports"
    ports.mkdir()
    started.append(subprocess.Popen([str(program), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(ports)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for _ in range(500):
        found = list(ports.glob("*.ports"))
        if found and found[0].stat().st_size:
            said: dict[str, Any] = json.loads(found[0].read_text())
            return str(said["nats"][0])
        time.sleep(0.02)
    raise RuntimeError("the nats-server did not start")


def _node(folder: Path, nats: str, name: str, started: list[subprocess.Popen[bytes]]) -> int:
    """Start a node; the port that it listens on."""
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.node", nats, name, str(folder / f"data-{name}")], cwd=HERE.parent,
            stdout=subprocess.PIPE, stderr=log, env={**os.environ, "TRUNKLINE_TOKEN": TOKEN})
    started.append(process)
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    if "listening on" not in line:
        raise RuntimeError(f"the node did not start: {(folder / f'{name}.log').read_text()[-2000:]}")
    return int(line.rpartition(":")[2])
