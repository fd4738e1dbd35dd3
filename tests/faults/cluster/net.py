"""A link between two processes of this machine: a port that passes bytes on to another one, until it is told otherwise.

Rule 1: it changes no byte and keeps their order. Each way of each connection has a thread, so one way can stand still alone.
Rule 2: a way that stands still loses nothing: what waits passes when it goes on, as with a network that comes back.
Rule 3: its threads and sockets end with ``close``.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterable
from typing import Final

BLOCK: Final = 65536
RESET: Final = struct.pack("ii", 1, 0)


class Link:
    """Listens on ``port`` and passes on to ``target``. Forth is to the target, back is from it."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._forth, self._back = threading.Event(), threading.Event()
        self._delay_s = 0.0
        self._refuses = False
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._is_open = True
        self.port: int = self._listener.getsockname()[1]
        self.mend()
        threading.Thread(target=self._accept, daemon=True).start()

    def mend(self) -> None:
        """Pass everything on again."""
        self._refuses = False
        self._delay_s = 0.0
        self._forth.set()
        self._back.set()

    def cut(self) -> None:
        """End every connection without a word, and each new one at once."""
        self._refuses = True
        for pair in self._current():
            _reset(*pair)

    def stall(self, *, forth: bool = True, back: bool = True) -> None:
        """Let nothing pass, one way or both; connections stay open, and new ones hear nothing."""
        if forth:
            self._forth.clear()
        if back:
            self._back.clear()

    def slow(self, delay_s: float) -> None:
        """Each piece takes so much longer, both ways."""
        self._delay_s = delay_s

    def close(self) -> None:
        """End it."""
        self._is_open = False
        self.mend()
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for somebody
        self._listener.close()
        for pair in self._current():
            _reset(*pair)

    def _current(self) -> list[tuple[socket.socket, socket.socket]]:
        with self._lock:
            return list(self._pairs)

    def _accept(self) -> None:
        while self._is_open:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            if self._refuses:
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            _reset(client)
            return
        server.settimeout(None)
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (client, server)
        with self._lock:
            self._pairs.add(pair)
        back = threading.Thread(target=self._pass, args=(server, client, self._back), daemon=True)
        back.start()
        self._pass(client, server, self._forth)
        back.join()
        with self._lock:
            self._pairs.discard(pair)

    def _pass(self, source: socket.socket, sink: socket.socket, flows: threading.Event) -> None:
        try:
            while data := source.recv(BLOCK):
                flows.wait()
                if self._delay_s:
                    time.sleep(self._delay_s)
                sink.sendall(data)
        except OSError:
            pass  # cut
        _reset(source, sink)


def cut_all(links: Iterable[Link]) -> None:
    """Cut each."""
    for link in links:
        link.cut()


def stall_all(links: Iterable[Link], *, forth: bool = True, back: bool = True) -> None:
    """Let nothing pass through any, one way or both."""
    for link in links:
        link.stall(forth=forth, back=back)


def slow_all(links: Iterable[Link], delay_s: float) -> None:
    """Slow each down."""
    for link in links:
        link.slow(delay_s)


def mend_all(links: Iterable[Link]) -> None:
    """Let everything pass again."""
    for link in links:
        link.mend()


def _reset(*sides: socket.socket) -> None:
    for side in sides:
        try:
            side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            side.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for bytes of it
        except OSError:
            pass
        side.close()
