"""A node's tunnels: which message is whose, who beats, how many there may be.

Rule 1: a message is handed on at once; a request that comes in is a task of its own. So none holds up the others.
Rule 2: a tunnel belongs to the two nodes that its subject names: whatever a third one sends is another tunnel's.
Rule 3: who sends to a tunnel that is not there is told so: its other end was started anew.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable

from nats import errors as nats_errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from trunkline.cluster.connection import Connection, check_name
from trunkline.cluster.requests import NO_RESPONDERS, STATUS
from trunkline.cluster.tunnel.frames import Kind, decode
from trunkline.cluster.tunnel.heads import RequestHead, check_size, decode_request, encode_head
from trunkline.cluster.tunnel.link import PACE, Link, Pace
from trunkline.cluster.tunnel.subjects import Address, Way, heard_at, read_subject
from trunkline.errors import (
    ClusterDenied,
    ClusterUnavailable,
    HubStopping,
    NodeSilent,
    NodeVersion,
    TooManyRequests,
    TrunklineError,
)

log = logging.getLogger("trunkline.cluster")

TUNNELS_MOST = 2_000
"""Open at a node at once, both ways: as many as connections (``server/http/connections.py``)."""
OF_ONE_NODE = 1_000
"""Of these, opened by one other node: the next gateway finds room."""

Serve = Callable[[Link, RequestHead], Awaitable[None]]
"""Answers what one tunnel asks for."""


class Switch:
    """The tunnels of one node. ``serve`` answers those that others open; without it nobody may."""

    def __init__(self, connection: Connection, serve: Serve | None = None, pace: Pace = PACE) -> None:
        self.node = connection.node
        self._connection = connection
        self._pace = pace
        self.serve = serve
        """Set before ``start``, where it needs what is made with this switch."""
        self._links: dict[Address, Link] = {}
        """By where messages to this end come in."""
        self._opened_by: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: list[Subscription] = []
        self._beating: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._links)

    async def start(self) -> None:
        """Listen, from now on and over reconnects. The connection has to be up."""
        ways: tuple[Way, ...] = ("back", "http") if self.serve is not None else ("back",)
        for way in ways:
            self._listening.append(await self._connection.subscribe(heard_at(self.node, way), self._on_message))
        await self._heard()
        self._connection.on_denied.append(self._on_denied)
        self._beating = asyncio.create_task(self._beat())

    async def _heard(self) -> None:
        """Wait until the server knows what this node listens to: whoever asks from now on finds it."""
        try:
            for _ in range(2):  # the library's ping overtakes what waits to be sent; the second one does not
                await self._connection.client.flush()
        except (nats_errors.Error, OSError) as error:
            raise ClusterUnavailable(f"the connection was lost: {error}") from error

    async def stop(self) -> None:
        """End every tunnel; whoever is at the other end is told that this node stops."""
        if self._beating is not None:
            self._beating.cancel()
        if self._on_denied in self._connection.on_denied:
            self._connection.on_denied.remove(self._on_denied)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in list(self._links.values()):
            await self.close(link, HubStopping(f"{self.node} is stopping"))
        listening, self._listening = self._listening, []
        if self._connection.up:
            for each in listening:
                await each.unsubscribe()

    async def open(self, node: str, head: RequestHead) -> Link:
        """A tunnel to a node, with its request's head sent. It ends with ``close``."""
        check_name("node", node)  # clients name it, too
        check_size(head)
        if len(self._links) >= TUNNELS_MOST:
            raise TooManyRequests(f"{self.node} has {TUNNELS_MOST} tunnels open")
        tunnel = secrets.token_hex(8)
        own = Address(self.node, "back", tunnel, node)
        link = self._add(Address(node, "http", tunnel, self.node), own)
        try:
            await link.send(Kind.OPEN, encode_head(head))
        except BaseException:  # who is cancelled while much is sent, too: the other node may have its request already
            await self.close(link)
            raise
        return link

    async def close(self, link: Link, why: TrunklineError | None = None, *, is_done: bool = False) -> None:
        """Forget a tunnel, and end it where it is not; ``is_done``: both ends have all that they need."""
        if self._links.pop(link.own, None) is not None and link.own.way == "http":
            self._opened_by[link.own.sender] -= 1
        if is_done:
            link.fail(NodeSilent("this tunnel was closed"))
        await link.close(why)

    def _add(self, peer: Address, own: Address) -> Link:
        link = self._links[own] = self._link(peer, own)
        return link

    def _link(self, peer: Address, own: Address) -> Link:
        return Link(peer, own, self._publish, asyncio.get_running_loop().time(), self._pace)

    async def _publish(self, subject: str, data: bytes, reply: str) -> None:
        await self._connection.publish(subject, data, reply=reply)

    async def _on_message(self, message: Msg) -> None:
        own = read_subject(message.subject)
        link = self._links.get(own)
        if not message.data and message.headers and message.headers.get(STATUS) == NO_RESPONDERS:
            if link is not None:
                link.nobody_listens()
        elif link is not None:
            if not link.receive(message.data, asyncio.get_running_loop().time()):
                await link.say_end(link.failure)
        else:
            await self._on_stranger(own, message.data)

    def _on_denied(self, subject: str) -> None:
        for link in self._links.values():
            if link.peer.subject.lower() == subject:
                link.fail(ClusterDenied(f"this node may not publish to {link.peer.subject}"))

    async def _on_stranger(self, own: Address, data: bytes) -> None:
        """A message to no tunnel of ours: a new one, or one that was ours before this node was started anew."""
        peer = Address(own.sender, "back" if own.way == "http" else "http", own.tunnel, self.node)
        link = self._link(peer, own)
        try:
            frame = decode(data)
            if frame.kind is Kind.END:
                return
            if frame.kind is not Kind.OPEN or own.way == "back":
                raise NodeSilent(f"{self.node} does not know this tunnel; it was started anew, or has ended it")
            self._check_room(own.sender)
            self._begin(link, data, decode_request(frame.body))
        except TrunklineError as error:
            if isinstance(error, NodeVersion):
                log.warning("%s sent a message of another version: %s", own.sender, error.message)
            await link.say_end(error)

    def _check_room(self, sender: str) -> None:
        if len(self._links) >= TUNNELS_MOST or self._opened_by[sender] >= OF_ONE_NODE:
            raise TooManyRequests(f"{self.node} has too many tunnels open", details={"retryAfterS": 1})

    def _begin(self, link: Link, data: bytes, head: RequestHead) -> None:
        assert self.serve is not None, "it would not listen"
        self._links[link.own] = link
        self._opened_by[link.own.sender] += 1
        link.receive(data, link.heard_at)
        task = asyncio.create_task(self._answer(link, head))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, link: Link, head: RequestHead) -> None:
        assert self.serve is not None, "it would not listen"
        await link.take()  # the OPEN itself
        try:
            if link.failure is None:  # where this process stood still for long, nobody waits for it any more
                await self.serve(link, head)
        except TrunklineError as error:
            await self.close(link, error)
        except asyncio.CancelledError:
            await self.close(link, HubStopping(f"{self.node} is stopping"))
            raise
        except Exception as error:  # the request's boundary: the node goes on
            log.error("%s %s failed", head.method, head.path, exc_info=error)
            await self.close(link, NodeSilent(f"{self.node} failed to answer; its log says more"))
        else:
            await self.close(link, is_done=True)

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        looked_at = loop.time()
        while True:
            await asyncio.sleep(self._pace.beat_s / 2)
            before, looked_at = looked_at, loop.time()
            if looked_at - before > self._pace.silent_s / 2:
                self._excuse(looked_at)  # it was this process that stood still
            await self._beat_all(looked_at)

    def _excuse(self, now: float) -> None:
        for link in self._links.values():
            link.heard_at = now

    async def _beat_all(self, now: float) -> None:
        for link in list(self._links.values()):
            try:
                await link.beat(now, can_say=self._connection.up)
            except (ClusterUnavailable, NodeSilent):
                continue  # whoever waits at it was told
