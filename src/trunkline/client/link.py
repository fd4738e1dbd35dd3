"""A WebSocket to the hub that is taken up again by itself, as the client contract says, and what a program sees through it.

    async with client.connect() as link:
        watch = link.watch(session_id)
        async for thing in watch:               # a snapshot, then every event, once and in order
            ...
        await link.command(session_id, {"command": "cancel"})

Rule 1: what a program wants outlives the connection: watches go on where they were, commands that were not answered are sent
again under their id.
Rule 2: reading never waits for the program, so that an answer can always come through.
Rule 3: only trouble that passes is waited out; a refusal is raised.
Rule 4: an event or a state that cannot be read ends the watch that it is of, and nothing else: it would be the same over the next
connection.
Rule 5: what a watch received and the program did not take is bounded. A program that falls behind is unsubscribed and, when it
has taken what it had, subscribed again where it was: the hub has the rest.
Rule 6: what speaks WebSocket is imported by the first who needs it; most programs use plain HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from trunkline import decoders
from trunkline.client.asks import OpenAsks
from trunkline.client.http import Endpoint, Pool, error_of_fault, trust
from trunkline.client.records import ContextEvent, read_as
from trunkline.client.streams import Patience, Relocate
from trunkline.client.views import Fault, HubState, PendingAsk, ServerFrame, SessionState, SessionView
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Forbidden, Invalid, NotFound, TrunklineError, Unauthorized, Unavailable

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

PING_S = 20.0
CLOSE_S = 1.0


def lost() -> tuple[type[BaseException], ...]:
    """What a connection that breaks raises."""
    from websockets.exceptions import ConnectionClosed
    return (ConnectionClosed, OSError)


@asynccontextmanager
async def connected(endpoint: Endpoint, path: str = "/ws", headers: Mapping[str, str] | None = None
                    ) -> AsyncIterator[ClientConnection]:
    """A WebSocket to an address of the hub; Unavailable when it cannot be had, or breaks."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidHandshake, InvalidStatus
    parts = endpoint.parts()
    scheme = "wss" if parts.scheme == "https" else "ws"
    address = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"
    troubles: tuple[type[BaseException], ...] = (*lost(), InvalidHandshake, TimeoutError)
    try:
        async with connect(address, ssl=trust(endpoint), compression=None, max_size=None, ping_interval=PING_S,
                           ping_timeout=PING_S, close_timeout=CLOSE_S, proxy=None, additional_headers=headers) as socket:
            yield socket
    except InvalidStatus as error:
        raise _refusal(endpoint, error.response.status_code, bytes(error.response.body or b"")) from error
    except troubles as error:
        raise Unavailable(f"no WebSocket to the hub at {endpoint.url}: {str(error) or type(error).__name__}") from error


def _refusal(endpoint: Endpoint, status: int, body: bytes) -> TrunklineError:
    kind = {400: Invalid, 401: Unauthorized, 403: Forbidden, 404: NotFound}.get(status, Unavailable)
    try:
        return error_of_fault(decoders.decode(body, Fault))
    except BROKEN:
        return kind(f"the hub at {endpoint.url} refused the WebSocket with {status}")


KEPT = 1_000
"""Things that are received ahead of the program."""

HUB = "*"


class WatchSnapshot(msgspec.Struct, frozen=True):
    """The state after ``seq``: forget what you knew. ``after_gap``: the hub could not go on where we were."""

    session_id: str
    seq: int
    raw: bytes
    after_gap: bool = False

    def session(self) -> SessionState:
        """The state of a session."""
        return read_as(self.raw, SessionState)

    def sessions(self) -> list[SessionView]:
        """The newest sessions, of a watch of all of them."""
        return read_as(self.raw, HubState).sessions


class Watch:
    """One session, or all of them. Iterate over it; ``position`` is where the program is."""

    def __init__(self, session_id: str, after: int | None, types: str | None, *, again: Callable[[Watch], None]) -> None:
        self.session_id = session_id
        self.position = after
        self._received = after
        self._types = types
        self._again = again
        self._things: deque[WatchSnapshot | ContextEvent] = deque()
        self._failure: BaseException | None = None
        self._arrived = asyncio.Event()
        self._gap = False
        self.behind = False
        """The program is slow, and what comes is not kept for now."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchSnapshot | ContextEvent:
        while not self._things:
            if self._failure is not None:
                raise self._failure
            if self.behind:
                self.behind = False
                self._again(self)
            self._arrived.clear()
            await self._arrived.wait()
        thing = self._things.popleft()
        self.position = thing.seq if isinstance(thing, WatchSnapshot) else self._number(thing)
        return thing

    def subscribe(self, subscription: str) -> dict[str, Any]:
        """The frame that takes the watch up where it is."""
        frame: dict[str, Any] = {"type": "subscribe", "id": subscription,
                                 "sessions": HUB if self.session_id == HUB else [self.session_id]}
        if self._received is not None:
            frame["after"] = self._received
        if self._types is not None:
            frame["types"] = self._types
        return frame

    def gap(self) -> None:
        """The hub cannot go on where we were; a snapshot follows."""
        self._gap = True

    def snapshot(self, seq: int, raw: bytes) -> None:
        """The hub sent the state."""
        gap, self._gap = self._gap, False
        self._received = seq
        self._put(WatchSnapshot(self.session_id, seq, raw, gap))

    def event(self, event: ContextEvent) -> bool:
        """The hub sent an event; False when it is one too many for now."""
        if self.behind:
            return True
        number = self._number(event)
        if self._received is not None and number <= self._received:
            return True
        if len(self._things) >= KEPT:
            self.behind = True
            return False
        self._received = number
        self._put(event)
        return True

    def fail(self, error: TrunklineError) -> None:
        """It is over: raised when everything before is taken."""
        self._failure = self._failure or error
        self._arrived.set()

    def _put(self, thing: WatchSnapshot | ContextEvent) -> None:
        self._things.append(thing)
        self._arrived.set()

    def _number(self, event: ContextEvent) -> int:
        return (event.pos or 0) if self.session_id == HUB else event.seq


VERSIONS = ("1.0.0",)
"""Of the Agent Context Protocol, newest first."""
WELCOME_S = 15.0

log = logging.getLogger(__name__)

_frame = decoders.of(ServerFrame)
_encode = msgspec.json.Encoder().encode


class Link:
    """One program's line to the hub. Use as an async context manager."""

    def __init__(self, pool: Pool, *, limit_s: float, relocate: Relocate) -> None:
        self._pool = pool
        self._patience = Patience(limit_s)
        self._relocate = relocate
        self._socket: ClientConnection | None = None
        self._watches: dict[str, Watch] = {}
        self._unanswered: dict[str, tuple[bytes, asyncio.Future[dict[str, Any]]]] = {}
        self._asks = OpenAsks()
        self._numbers = 0
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._welcomed: asyncio.Future[None] | None = None
        self._wishes: set[asyncio.Task[None]] = set()
        self.connections = 0
        """How often the hub has welcomed us."""

    async def __aenter__(self) -> Self:
        self._welcomed = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())
        try:
            await self._welcomed
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up; watches and commands that are still open end with Unavailable."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, *self._wishes, return_exceptions=True)
        self._give_up(Unavailable("the link was closed"))

    @property
    def pending(self) -> list[PendingAsk]:
        """What waits for somebody right now, in every session, whatever is watched."""
        return self._asks.pending

    async def asks(self) -> AsyncGenerator[list[PendingAsk], None]:
        """What waits for somebody, now and whenever that changes."""
        async for pending in self._asks.changes():
            yield pending

    def watch(self, session_id: str = HUB, *, after: int | None = None, types: str | None = None) -> Watch:
        """Follow one session after a seq, or all of them after a pos. Without a position a snapshot comes first."""
        watch = Watch(session_id, after, types, again=self._take_up)
        if self._failure is not None:
            raise self._failure
        self._take_up(watch)
        return watch

    async def unwatch(self, watch: Watch) -> None:
        """Follow it no more."""
        for subscription in [name for name, each in self._watches.items() if each is watch]:
            await self._drop(subscription)
        watch.fail(Unavailable("it is not watched any more"))

    async def command(self, session_id: str, command: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Carry out a command; returns what came of it, or raises why not. A lost connection never does it twice."""
        if self._failure is not None:
            raise self._failure
        name = key or secrets.token_hex(16)
        text = _encode({"type": "command", "id": name, "sessionId": session_id, "command": dict(command)})
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._unanswered[name] = (text, answer)
        try:
            await self._send(text)
            return await answer
        finally:
            self._unanswered.pop(name, None)

    # One connection after the other.

    async def _run(self) -> None:
        try:
            while True:
                try:
                    await self._one_connection()
                    trouble: TrunklineError = Unavailable(f"the hub at {self._pool.endpoint.url} hung up")
                except Unavailable as error:
                    trouble = error
                await self._patience.wait(trouble)
                await self._find_again()
        except TrunklineError as error:
            self._give_up(error)

    async def _find_again(self) -> None:
        try:
            await self._relocate()
        except Unavailable as error:
            await self._patience.wait(error)

    async def _one_connection(self) -> None:
        async with connected(self._pool.endpoint) as socket:
            await self._greet(socket)
            self._socket = socket
            try:
                await self._take_up_everything()
                async for text in socket:
                    await self._take(_read_frame(text))
            finally:
                self._socket = None

    async def _greet(self, socket: ClientConnection) -> None:
        hello: dict[str, Any] = {"type": "hello", "versions": VERSIONS}
        if self._pool.endpoint.token is not None:
            hello["token"] = self._pool.endpoint.token
        await socket.send(_encode(hello), text=True)
        async with asyncio.timeout(WELCOME_S):
            welcome = _read_frame(await socket.recv())
        if welcome.type != "welcome":
            raise error_of_fault(welcome.error) if welcome.error else Unavailable("the hub did not welcome us")
        self._asks.renew(welcome.pending)
        self.connections += 1
        self._patience.progress()
        if self._welcomed is not None and not self._welcomed.done():
            self._welcomed.set_result(None)

    async def _take_up_everything(self) -> None:
        watches, self._watches = list(dict.fromkeys(self._watches.values())), {}
        for watch in watches:
            if watch.behind:
                self._watches[self._new_name()] = watch  # it comes back by itself, when the program has caught up
            else:
                await self._subscribe(watch)
        for text, _ in list(self._unanswered.values()):
            await self._send(text)

    # Frames.

    async def _take(self, frame: ServerFrame) -> None:
        try:
            await self._take_readable(frame)
        except Unavailable as unreadable:
            log.warning("a frame of the hub's is left out: %s", unreadable.message)
            if (watch := self._watches.get(frame.subscription or "")) is not None:
                await self._drop(frame.subscription or "")
                watch.fail(unreadable)

    async def _take_readable(self, frame: ServerFrame) -> None:
        watch = self._watches.get(frame.subscription or "")
        if frame.type == "event":
            event = ContextEvent(bytes(frame.event), frame.pos)
            self._asks.on_event(event)
            if watch is not None and not watch.event(event):
                await self._drop(frame.subscription or "", keep=watch)
        elif frame.type == "ack":
            self._answered(frame)
        elif frame.type == "snapshot":
            if frame.session_id == HUB:
                self._asks.renew(read_as(frame.state, HubState).pending)
            if watch is not None:
                watch.snapshot(frame.seq, bytes(frame.state))
        elif frame.type == "gap" and watch is not None:
            watch.gap()

    def _answered(self, frame: ServerFrame) -> None:
        name = frame.id or ""
        error = error_of_fault(frame.error) if frame.error is not None else None
        if name in self._unanswered and not self._unanswered[name][1].done():
            if error is None:
                self._unanswered[name][1].set_result(frame.result)
            else:
                self._unanswered[name][1].set_exception(error)
        elif error is not None and name in self._watches:
            self._watches.pop(name).fail(error)

    async def _drop(self, subscription: str, keep: Watch | None = None) -> None:
        del self._watches[subscription]
        if keep is not None:
            self._watches[self._new_name()] = keep
        await self._send(_encode({"type": "unsubscribe", "id": self._new_name(), "subscription": subscription}))

    def _take_up(self, watch: Watch) -> None:
        """Subscribe as soon as there is somebody to subscribe with."""
        for name in [name for name, each in self._watches.items() if each is watch]:
            del self._watches[name]
        if self._socket is None:
            self._watches[self._new_name()] = watch
            return
        wish = asyncio.create_task(self._subscribe(watch))
        self._wishes.add(wish)
        wish.add_done_callback(self._wishes.discard)

    async def _subscribe(self, watch: Watch) -> None:
        name = self._new_name()
        self._watches[name] = watch
        await self._send(_encode(watch.subscribe(name)))

    async def _send(self, text: bytes) -> None:
        """Send a frame. What a lost connection swallows is sent again over the next."""
        if self._socket is not None:
            with suppress(*lost()):
                await self._socket.send(text, text=True)

    def _new_name(self) -> str:
        self._numbers += 1
        return f"w{self._numbers}"

    def _give_up(self, error: TrunklineError) -> None:
        self._failure = self._failure or error
        if self._welcomed is not None and not self._welcomed.done():
            self._welcomed.set_exception(error)
        for watch in self._watches.values():
            watch.fail(error)
        for _, answer in self._unanswered.values():
            if not answer.done():
                answer.set_exception(error)
        self._asks.end(error)


def _read_frame(text: str | bytes) -> ServerFrame:
    """A frame of the hub's; Unavailable where it is none: the next connection may fare better."""
    try:
        return _frame.decode(text)
    except BROKEN as error:
        raise Unavailable(f"the hub sent what is no frame: {error}") from error
