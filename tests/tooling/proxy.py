"""A loopback TCP proxy before a hub: a network that stalls, cuts and half-closes, on command or at random.

Rule 1: it passes bytes on and changes none; the browser talks to its address, and the hub sees that address as its own.
Rule 2: what goes wrong at random depends on a seed and on how many bytes have passed, never on the clock.
Rule 3: its threads and sockets end with ``close``.
"""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
from collections import Counter
from types import TracebackType
from typing import Literal, Self

Fault = Literal["cut", "half-close", "stall"]
FAULTS: tuple[Fault, ...] = ("cut", "half-close", "stall")
BLOCK = 4096
RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Listens on a port of its own and passes on to ``target``, a port of this machine, which may change."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.faults: Counter[str] = Counter()
        self._chance: random.Random | None = None
        self._between = (0, 0)
        self._stall_s = 0.0
        self._flows = threading.Event()
        self._flows.set()
        self._refuses = False
        self._links: set[_Link] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_open = True
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, and listen no more."""
        self._is_open = False
        self._flows.set()
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End every connection without a word, as a lost network does in the end."""
        for link in self._current():
            link.cut()

    def half_close(self) -> None:
        """Tell both sides of every connection that no more comes, and go on listening to them."""
        for link in self._current():
            link.half_close()

    def stall(self) -> None:
        """Hold back every byte from now on; connections stay open."""
        self._flows.clear()

    def flow(self) -> None:
        """Pass on what was held back, and what comes."""
        self._flows.set()

    def refuse(self) -> None:
        """End every connection, and every new one at once."""
        self._refuses = True
        self.cut()

    def accept(self) -> None:
        """Take connections again."""
        self._refuses = False

    def trouble(self, seed: int, *, between: tuple[int, int] = (2_000, 40_000), stall_s: float = 0.3) -> None:
        """From now on something goes wrong with each connection after some bytes; what, and when, follows from the seed."""
        self._chance = random.Random(seed)
        self._between = between
        self._stall_s = stall_s

    def calm(self) -> None:
        """No more trouble."""
        self._chance = None

    def next_fault(self) -> tuple[int, Fault] | None:
        """After how many bytes a new connection, or one that has just stalled, has trouble, and which."""
        with self._lock:
            chance = self._chance
            return None if chance is None else (chance.randint(*self._between), chance.choice(FAULTS))

    def wait_to_flow(self) -> None:
        """Return when bytes may pass."""
        self._flows.wait()

    def wait_out_a_stall(self) -> None:
        """Hold one connection for as long as a stall takes."""
        threading.Event().wait(self._stall_s)

    def forget(self, link: _Link) -> None:
        """The connection is over."""
        with self._lock:
            self._links.discard(link)

    def _current(self) -> list[_Link]:
        with self._lock:
            return list(self._links)

    def _accept(self) -> None:
        while self._is_open:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        if self._refuses:
            _reset(client)
            return
        try:
            hub = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            _reset(client)
            return
        hub.settimeout(None)
        link = _Link(self, client, hub)
        with self._lock:
            self._links.add(link)
        link.run()


class _Link:
    """One connection of the browser's and its counterpart at the hub."""

    def __init__(self, proxy: Proxy, client: socket.socket, hub: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._hub = hub
        self._is_over = False
        self._fault = proxy.next_fault()
        self._passed = 0

    def run(self) -> None:
        """Pass bytes both ways until the connection is over."""
        try:
            open_sides = {self._client, self._hub}
            while open_sides and not self._is_over:
                ready, _, _ = select.select(list(open_sides), [], [], 0.2)
                for side in ready:
                    if not self._pass_on(side):
                        open_sides.discard(side)
        except (OSError, ValueError):  # a socket that was closed by ``cut``
            pass
        finally:
            self.cut()
            self._proxy.forget(self)

    def cut(self) -> None:
        """Both sides, without a word."""
        self._is_over = True
        _reset(self._client)
        _reset(self._hub)

    def half_close(self) -> None:
        """No more to either side."""
        for side in (self._client, self._hub):
            try:
                side.shutdown(socket.SHUT_WR)
            except OSError:
                continue  # that side is gone already

    def _pass_on(self, side: socket.socket) -> bool:
        data = side.recv(BLOCK)
        self._proxy.wait_to_flow()
        other = self._hub if side is self._client else self._client
        if not data:
            other.shutdown(socket.SHUT_WR)
            return False
        self._passed += len(data)
        if self._fault is not None and self._passed >= self._fault[0]:
            return self._go_wrong(self._fault[1], other, data)
        other.sendall(data)
        return True

    def _go_wrong(self, fault: Fault, other: socket.socket, data: bytes) -> bool:
        self._proxy.faults[fault] += 1
        if fault == "stall":
            self._proxy.wait_out_a_stall()
            other.sendall(data)
            again = self._proxy.next_fault()
            self._fault = None if again is None else (self._passed + again[0], again[1])
            return True
        other.sendall(data[:len(data) // 2])
        if fault == "cut":
            self.cut()
        else:
            other.shutdown(socket.SHUT_WR)
        return False


def _reset(side: socket.socket) -> None:
    try:
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        side.close()
    except OSError:
        return  # gone already
