"""Rules 1 to 3 on a WebSocket: the smallest frames, as many as fit, hold nobody up, and who does not read makes nothing grow."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import Report
from tests.tooling.hub_process import HubProcess
from tests.tooling.prober import Prober
from tests.tooling.processes import eventually
from tests.tooling.websocket import WebSocket

NewHub = Callable[..., HubProcess]
MIB = 1 << 20
FLOOD_S = 0.6
OTHERS_WAIT_MS = 250
"""Without turns for others it was one to four seconds."""
GROWN_MIB = 10
"""Of 24 MiB of pings, whose pongs take as much."""


def frame(opcode: int, payload: bytes = b"", *, is_last: bool = True) -> bytes:
    """A client's frame, masked with zeros."""
    return bytes([(0x80 if is_last else 0) | opcode, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


FLOODS = {
    "messages that say nothing": frame(1, b"{}"),
    "empty messages": frame(1),
    "pings": frame(9),
    "empty frames of one message": frame(0, is_last=False),
}


def open_socket(hub: HubProcess, *, is_friend: bool, receive_buffer: int | None = None) -> WebSocket:
    """Somebody on ``/ws``, who has said hello or has no token."""
    line = WebSocket(hub.wire.host, hub.wire.port, receive_buffer=receive_buffer)
    if is_friend:
        assert line.hello(hub.token)["type"] == "welcome"
    return line


def read_all(connection: socket.socket) -> None:
    """Take whatever comes, until it ends."""
    try:
        while connection.recv(MIB):
            pass
    except OSError:
        return


def pour(connection: socket.socket, data: bytes, seconds: float, most: int = 1 << 40) -> int:
    """Send it again and again; how many bytes were taken."""
    sent, until = 0, time.monotonic() + seconds
    connection.settimeout(0.5)
    while sent < most and time.monotonic() < until:
        try:
            sent += connection.send(data[sent % len(data):])
        except TimeoutError:
            continue
        except OSError:
            break
    return sent


def memory_mib(pid: int) -> float:
    """What a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / MIB


@pytest.mark.parametrize("is_friend", [
    pytest.param(True, marks=pytest.mark.slow, id="friend"), pytest.param(False, id="stranger")])
def test_very_many_small_frames_hold_nobody_up(new_hub: NewHub, report: Report, is_friend: bool) -> None:
    hub = new_hub(may_hold=True)  # a turn takes 6 ms of its own; on a busy machine the guard counts some of what others took
    worst, held = 0.0, 0
    for what, small in FLOODS.items():
        with open_socket(hub, is_friend=is_friend) as line, Prober(hub.pid, hub.url) as prober:
            if what == "empty frames of one message":
                line._socket.sendall(frame(1, b"a", is_last=False))
            reading = threading.Thread(target=read_all, args=(line._socket,), daemon=True)
            reading.start()
            pour(line._socket, small * (MIB // len(small)), FLOOD_S)
        worst, held = max(worst, prober.worst_ms), held + (prober.worst_ms < OTHERS_WAIT_MS)
    report(1, f"smallest frames on a WebSocket, {'friend' if is_friend else 'stranger'}", tried=len(FLOODS), held=held,
           worst_ms=worst)


def test_pings_of_somebody_who_does_not_read_take_no_memory(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    pings = frame(9, b"x" * 125) * 4000
    with open_socket(hub, is_friend=True, receive_buffer=4096) as line:
        before = memory_mib(hub.pid)
        sent = pour(line._socket, pings, 20, 24 * MIB)
        grown = memory_mib(hub.pid) - before
    assert sent > 16 * MIB
    report(2, "pings whose answers nobody reads", tried=1, held=int(grown < GROWN_MIB))


@pytest.mark.slow
def test_a_stranger_that_does_not_read_does_not_keep_its_connection(new_hub: NewHub, report: Report) -> None:
    hub = new_hub()
    with open_socket(hub, is_friend=False, receive_buffer=4096) as line:
        pour(line._socket, frame(9, b"x" * 125) * 4000, 2)
        ports = {line._socket.getsockname()[1]}
        eventually(lambda: not ports & connected(hub), "its hello is late, and it is gone", 30)
    report(3, "a WebSocket that reads nothing, not even its end", tried=1, held=1)


def connected(hub: HubProcess) -> set[int]:
    """The ports of those who are connected to the hub."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    here = f"{hub.wire.port:04X}"
    return {int(row[2].split(":")[1], 16) for row in rows if row[1].endswith(f":{here}") and row[3] == "01"}
