"""A node's connection to NATS: one for all that the node does there. It comes back by itself.

Rule 1: a hub starts and goes on without it. ``start`` returns at once; ``up`` says how it is, ``watch`` tells of each change.
Rule 2: what is sent while it is down is refused, not kept: the library would send it later, when nobody waits for it any more.
Rule 3: a denied publish is told to whoever sent it. The server tells it apart from the answer, which then never comes.
Rule 4: one subscription has one handler at a time. A handler that waits starts a task.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from nats import errors as nats_errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.client import JetStreamContext

from trunkline.cluster.client import NodeClient
from trunkline.cluster.credentials import Credentials, read_credentials
from trunkline.cluster.requests import Requests
from trunkline.errors import ClusterUnavailable, Invalid
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

RECONNECT_WAIT_S = 0.2
CONNECT_WITHIN_S = 2
PING_EVERY_S = 2
PINGS_MISSED = 2
"""A frozen server is noticed after 6 s; with the library's own figures it takes minutes."""
ANSWER_WITHIN_S = 5.0
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""A node's or pool's name: one token of a subject, and one label of a host name."""
_DENIED = re.compile(r'permissions violation for publish to "([^"]+)"', re.IGNORECASE)


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where the cluster is, and what opens it."""

    servers: tuple[str, ...]
    """``nats://`` or ``tls://``, each with a host and a port."""
    node: str
    credentials: Path | None = None
    ca: Path | None = None
    """Certificates to trust in place of the system's own."""

    def __post_init__(self) -> None:
        check_name("node", self.node)
        if not self.servers or any(urlsplit(server).scheme not in ("nats", "tls") for server in self.servers):
            raise Invalid("a cluster's address begins with nats:// or tls://")

    @property
    def is_tls(self) -> bool:
        """Whether all that is sent has to be encrypted."""
        return any(urlsplit(server).scheme == "tls" for server in self.servers)


def check_name(what: str, name: str) -> None:
    """Invalid where a name does not fit into a subject."""
    if not NAME.fullmatch(name):
        raise Invalid(f"{what}: small letters, digits and - only, at most 63, not {name!r}")


Handler = Callable[[Msg], Awaitable[None]]
Watcher = Callable[[bool], None]


class Connection:
    """One node's connection. ``client`` and ``streams`` are the library's own, for what is not offered here."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.node = address.node
        self.up = False
        self.changed_at = time.monotonic()
        """When it last came or went."""
        self.client: NodeClient
        self.requests: Requests
        self.streams: JetStreamContext
        self._came = asyncio.Event()
        self._connecting: asyncio.Task[None] | None = None
        self.on_denied: list[Callable[[str], None]] = []
        """Called with the subject, in small letters, of what the server did not let this node publish."""
        self._watchers: list[Watcher] = []
        self._last_error = ""
        self._closing = False

    async def start(self) -> None:
        """Begin to connect; Invalid where the key or the certificates cannot be read."""
        key, tls = await Lane(1).run(_read_files, self.address)
        self.client = NodeClient(key, must_be_tls=self.address.is_tls)
        self.requests = Requests(self.client, inbox_prefix(self.node))
        self.streams = self.client.jetstream(timeout=ANSWER_WITHIN_S)
        self._connecting = asyncio.create_task(self._connect(tls))

    async def wait_up(self, within_s: float) -> None:
        """Wait until it is up; ClusterUnavailable with the reason where that takes too long."""
        try:
            async with asyncio.timeout(within_s):
                await self._came.wait()
        except TimeoutError:
            why = f": {self._last_error}" if self._last_error else ""
            raise ClusterUnavailable(f"no connection to {', '.join(self.address.servers)}{why}") from None

    async def wait_until_up(self) -> None:
        """The same, however long it takes."""
        if not self.up:
            await self._came.wait()

    async def close(self) -> None:
        """End it. What is under way is refused."""
        self._closing = True
        if self._connecting is not None:
            self._connecting.cancel()
            with suppress(asyncio.CancelledError):
                await self._connecting
            with suppress(nats_errors.Error, OSError, RuntimeError):  # what is left to be written goes into a line that was cut
                await self.client.close()
        self._set_up(False)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Have each coming (True) and going (False) told; the result ends that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    async def request(self, subject: str, body: bytes = b"", *, headers: dict[str, str] | None = None,
                      within_s: float = ANSWER_WITHIN_S) -> Msg:
        """The first answer. NodeAway: nobody listens. NodeSilent: nothing came in time. ClusterDenied: not permitted."""
        self.check_up()
        return await self.requests.ask(subject, body, headers, within_s)

    async def request_many(self, subject: str, body: bytes, take: Callable[[Msg], bool], *,
                           within_s: float = ANSWER_WITHIN_S) -> None:
        """Hand each answer to ``take`` until that says True: it was the last one. Errors as for ``request``."""
        self.check_up()
        await self.requests.ask_many(subject, body, within_s, take)

    async def publish(self, subject: str, body: bytes = b"", *, headers: dict[str, str] | None = None, reply: str = "") -> None:
        """Send and wait for nothing."""
        self.check_up()
        try:
            await self.client.publish(subject, body, reply=reply, headers=headers)
        except (nats_errors.Error, OSError) as error:
            raise ClusterUnavailable(f"cannot publish to {subject}: {error}") from error

    async def subscribe(self, subject: str, handler: Handler, *, queue: str = "") -> Subscription:
        """Have ``handler`` called for each message, one after the other. It lasts over reconnects, not over gaps."""
        try:
            return await self.client.subscribe(subject, queue=queue, cb=handler)
        except (nats_errors.Error, OSError) as error:
            raise ClusterUnavailable(f"cannot subscribe to {subject}: {error}") from error

    async def unsubscribe(self, subscription: Subscription) -> None:
        """Hear no more of it; one that has ended already is no error."""
        with suppress(nats_errors.Error, OSError):
            await subscription.unsubscribe()

    def new_inbox(self) -> str:
        """A subject that only this node may listen to."""
        return self.client.new_inbox()

    def check_up(self) -> None:
        """ClusterUnavailable while it is down."""
        if not self.up:
            why = f" ({self._last_error})" if self._last_error else ""
            raise ClusterUnavailable(f"this node has no connection to its cluster{why}")

    async def _connect(self, tls: ssl.SSLContext | None) -> None:
        await self.client.connect(
            list(self.address.servers), name=f"trunkline {self.node}", tls=tls, inbox_prefix=inbox_prefix(self.node),
            max_reconnect_attempts=-1, reconnect_time_wait=RECONNECT_WAIT_S,  # type: ignore[arg-type]  # takes fractions
            connect_timeout=CONNECT_WITHIN_S, ping_interval=PING_EVERY_S, max_outstanding_pings=PINGS_MISSED,
            error_cb=self._on_error, disconnected_cb=self._on_down, reconnected_cb=self._on_up)
        await self.requests.listen()
        await self._on_up()

    async def _on_up(self) -> None:
        log.info("connected to %s", self.client.connected_url and self.client.connected_url.netloc)
        self._last_error = ""
        self._set_up(True)

    async def _on_down(self) -> None:
        if not self._closing:
            log.warning("the connection to the cluster was lost")
        self._set_up(False)

    async def _on_error(self, error: Exception) -> None:
        if isinstance(error, ConnectionError) and self._last_error:
            return  # how a connection ended for which the server has told the reason
        text = str(error) or type(error).__name__
        denied = _DENIED.search(text)
        if denied is not None:
            for tell in (self.requests.deny, *self.on_denied):
                tell(denied[1].lower())
        if text != self._last_error:  # the same one comes with each try
            log.warning("%s", text)
        if not (self._last_error and isinstance(error, ConnectionResetError)):  # a server that refuses says why, then hangs up
            self._last_error = text

    def _set_up(self, up: bool) -> None:
        if up == self.up:
            return
        self.up, self.changed_at = up, time.monotonic()
        if up:
            self._came.set()
        else:
            self._came.clear()
            self.requests.lose()
        for watcher in list(self._watchers):
            watcher(up)


def inbox_prefix(node: str) -> str:
    """Where answers to a node come: a name of its own, so that no other node can listen to them."""
    return f"_INBOX.{node}"


def _read_files(address: Address) -> tuple[Credentials | None, ssl.SSLContext | None]:
    key = None if address.credentials is None else read_credentials(address.credentials)
    if not address.is_tls:
        return key, None
    try:
        return key, ssl.create_default_context(cafile=address.ca)
    except (OSError, ssl.SSLError) as error:
        raise Invalid(f"cannot read the certificates in {address.ca}: {error}") from error
