"""One end of one tunnel, that somebody sends into and takes from.

Rule 1: what came is handed on without waiting (``receive``); who takes it gives credit for it.
Rule 2: when it is over, whoever waits learns why, behind what came before.
Rule 3: one task sends pieces, one takes them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from trunkline.cluster.tunnel.flow import Flow, pieces
from trunkline.cluster.tunnel.frames import PIECES, Frame, Kind
from trunkline.cluster.tunnel.heads import decode_ending, encode_ending
from trunkline.cluster.tunnel.subjects import Address
from trunkline.errors import ClusterUnavailable, NodeAway, NodeSilent, TrunklineError

BEAT_S = 2.0
"""After so long without a word from either end, one is said."""
SILENT_S = 10.0
"""After so long without a word the other end is given up: five beats, and longer than a reconnect takes."""


class Pace(NamedTuple):
    """How often an end speaks, and how long it waits for the other."""

    beat_s: float = BEAT_S
    silent_s: float = SILENT_S


PACE = Pace()

Publish = Callable[[str, bytes, str], Awaitable[None]]
"""Sends a message to a subject; the third is where the server says that nobody listens, or empty."""


class Link:
    """One end."""

    def __init__(self, peer: Address, own: Address, publish: Publish, now: float, pace: Pace = PACE) -> None:
        """``peer`` is where messages of this end go, ``own`` where those to it come in."""
        self.peer, self.own = peer, own
        self._to, self._from = peer.subject, own.subject
        self.failure: TrunklineError | None = None
        """Why it is over; None while it is not."""
        self.heard_at = self.said_at = now
        self._publish = publish
        self._pace = pace
        self._flow = Flow()
        self._came: deque[Frame] = deque()
        self._is_whole = False
        """Whether all of the other end's body is here."""
        self._has_beaten = False
        self._taker: asyncio.Future[None] | None = None
        self._sender: asyncio.Future[None] | None = None

    @property
    def _has_all(self) -> bool:
        """Whether nothing more will come: an answer is the last thing that a tunnel brings."""
        return self._is_whole and self.own.way == "back"

    async def send(self, kind: Kind, body: bytes = b"") -> None:
        """Send one message; a piece when there is credit for it. Raises why the tunnel is over where it is."""
        while kind in PIECES and not self._flow.may_send and self.failure is None:
            self._sender = asyncio.get_running_loop().create_future()
            await self._sender
        if self.failure is not None:
            raise self.failure
        await self._say(self._flow.send(kind, body), self._from if kind is Kind.OPEN else "")

    async def send_body(self, body: bytes, last: Kind | None = None) -> None:
        """Send a body in pieces; the rest of it as ``last``, or nothing of that kind."""
        parts = list(pieces(body))
        rest = parts.pop() if last is not None and parts else b""
        for part in parts:
            await self.send(Kind.PIECE, part)
        if last is not None:
            await self.send(last, rest)

    async def take(self) -> Frame:
        """The next message that is not about the tunnel itself; raises why it is over where none will come."""
        while not self._came:
            if self.failure is not None:
                raise self.failure
            self._taker = asyncio.get_running_loop().create_future()
            await self._taker
        frame = self._came.popleft()
        if frame.kind in PIECES and not self._is_whole and (credit := self._flow.take()) is not None:
            await self._say(credit)
        return frame

    async def over(self) -> None:
        """Wait for its end, and leave what comes meanwhile where it is."""
        while self.failure is None:
            self._taker = asyncio.get_running_loop().create_future()
            await self._taker

    def receive(self, data: bytes, now: float) -> bool:
        """Take in a message; False where the other end has to be told that this was the end."""
        self.heard_at = now
        if self.failure is not None:
            return True
        try:
            frame = self._flow.receive(data)
            if frame.kind is Kind.END:
                self.fail(decode_ending(frame.body) or NodeSilent("the other end has left"))
            elif frame.kind is Kind.CREDIT:
                _wake(self._sender)
            elif frame.kind is not Kind.BEAT:
                self._keep(frame)
        except TrunklineError as error:
            self.fail(error)
            return False
        return True

    def _keep(self, frame: Frame) -> None:
        self._is_whole = self._is_whole or frame.kind is Kind.LAST
        self._came.append(frame)
        _wake(self._taker)

    def nobody_listens(self) -> None:
        """The server found nobody to give a message to: the first one, or a beat."""
        if self._has_beaten:
            self.fail(NodeSilent(f"{self.peer.to} went away before it had answered"))
        else:
            self.fail(NodeAway(f"{self.peer.to} is not connected; nothing was done"))

    def fail(self, why: TrunklineError) -> None:
        """It is over."""
        if self.failure is not None:
            return
        self.failure = why
        _wake(self._taker)
        _wake(self._sender)

    async def close(self, why: TrunklineError | None = None) -> None:
        """End it, and say so where the other end does not know."""
        if self.failure is None:
            self.fail(why or NodeSilent("this end has left"))
            await self.say_end(why)

    async def say_end(self, why: TrunklineError | None) -> None:
        """Tell the other end that it is over."""
        try:
            await self._publish(self._to, self._flow.send(Kind.END, encode_ending(why)), "")
        except ClusterUnavailable:
            return  # it will hear nothing, and find that out

    async def beat(self, now: float, *, can_say: bool) -> None:
        """Say that this end is there, where neither has said anything for a while; give the other end up after a long one."""
        if self.failure is not None or self._has_all:
            return
        if now - self.heard_at >= self._pace.silent_s:
            silent = NodeSilent(f"{self.peer.to} has said nothing for {self._pace.silent_s:g} s")
            self.fail(silent)
            await self.say_end(silent)
        elif can_say and now - min(self.heard_at, self.said_at) >= self._pace.beat_s:
            self._has_beaten = True
            self.said_at = now
            await self._say(self._flow.send(Kind.BEAT), self._from)

    async def _say(self, data: bytes, reply: str = "") -> None:
        """Publish; a message that cannot be sent is lost, and so is the tunnel."""
        self.said_at = asyncio.get_running_loop().time()
        try:
            await self._publish(self._to, data, reply)
        except ClusterUnavailable as error:
            is_first = self.own.way == "back" and reply and not self._has_beaten
            lost: TrunklineError = error if is_first else NodeSilent(error.message)  # of the first, nothing was sent at all
            self.fail(lost)
            raise lost from error


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
