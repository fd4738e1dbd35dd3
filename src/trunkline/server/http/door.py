"""Connections come in here: accepted a few at a time, counted from the first moment, TLS or not.

Rule 1: a connection has its place (``connections.py``) before anything is read from it, also before the handshake of TLS,
which has a deadline.
Rule 2: few are accepted at a time, so that the requests of those who are here are read before the next come.
Rule 3: when descriptors run short, accepting stops for a moment, and who comes waits in the system's queue. The last ones are
kept for the agents' pipes and the journal; a stranger makes room before these are touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable

from trunkline.server.http.address import peer_address
from trunkline.server.http.connections import ConnectionPlace, Connections

AT_ONCE = 32
HANDSHAKE_S = 20.0
"""As long as the head of a request may take."""
REST_S = 1.0
"""As asyncio does it: when nothing was closed meanwhile, trying more often only costs."""

log = logging.getLogger("trunkline.server")

MakeProtocol = Callable[[ConnectionPlace], asyncio.Protocol]


class Door:
    """Accepts what comes in on one listening socket. ``files_most``: the first descriptor that is not for connections."""

    def __init__(self, listener: socket.socket, connections: Connections, make_protocol: MakeProtocol, *, files_most: int,
                 tls: ssl.SSLContext | None = None) -> None:
        self._listener = listener
        self._connections = connections
        self._make_protocol = make_protocol
        self._files_most = files_most
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._arriving: dict[asyncio.Task[None], socket.socket] = {}
        self._resting: asyncio.TimerHandle | None = None

    def open(self, backlog: int) -> None:
        """Begin."""
        self._listener.setblocking(False)
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is accepted inherits it
        self._listener.listen(backlog)
        self._go_on()

    def close(self) -> None:
        """Accept no more; who is in the middle of its handshake is let go."""
        if self._resting is not None:
            self._resting.cancel()
        self._loop.remove_reader(self._listener.fileno())
        for connection in self._arriving.values():
            _hang_up(connection)

    async def wait_closed(self) -> None:
        """Until nobody is on the threshold."""
        if self._arriving:
            await asyncio.wait(self._arriving)

    def _go_on(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listener.fileno(), self._ready)

    def _rest(self, why: str) -> None:
        log.warning("accepting no connections for %g s: %s", REST_S, why)
        self._loop.remove_reader(self._listener.fileno())
        self._resting = self._loop.call_later(REST_S, self._go_on)

    def _ready(self) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # descriptors or memory of the system: it would be reported again at once
                self._connections.make_room()
                self._rest(error.strerror or str(error))
                return
            if not self._take(connection, peer[0]):
                self._rest(f"only {self._files_most} descriptors are for connections")
                return

    def _take(self, connection: socket.socket, peer: str) -> bool:
        """Give a connection its place; False where descriptors are too few for it."""
        # The system hands out the lowest number that is free: it shows how many are in use.
        is_short = connection.fileno() >= self._files_most
        if is_short and not self._connections.make_room():
            connection.close()
            return False
        place = self._connections.enter(peer_address(peer), lambda: _hang_up(connection))
        task = self._loop.create_task(self._arrive(connection, place))
        self._arriving[task] = connection
        task.add_done_callback(lambda task: self._arriving.pop(task))
        return not is_short

    async def _arrive(self, connection: socket.socket, place: ConnectionPlace) -> None:
        connection.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._make_protocol(place), connection, ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_S if self._tls else None)
        except OSError:  # it left, was too slow, or does not speak TLS
            place.leave()
            connection.close()


def _hang_up(connection: socket.socket) -> None:
    """End a connection that a transport is being made of: it finds it ended, and cleans up."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
