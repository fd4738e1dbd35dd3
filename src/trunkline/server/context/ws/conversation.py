"""One client on ``/ws``, from its hello to its end.

Rule 1: the first frame is the hello, within HELLO_S. Until then nothing is sent.
Rule 2: every frame that has an id is answered with an ack that has the same.
Rule 3: commands are begun in the order in which they came, and carried out to their end even if the client leaves. A slow one
does not hold up the next; too many at once hold up the client.
"""

from __future__ import annotations

import asyncio
import logging

from msgspec import UNSET

from trunkline import __version__
from trunkline.dialects.context.commands import CommandEnvelope, decode_command
from trunkline.dialects.context.filters import parse_types
from trunkline.errors import HubStopping, Invalid, TooLarge, TrunklineError, Unauthorized
from trunkline.hub import Hub
from trunkline.journal.base import RowFilter
from trunkline.journal.gap import stands_beyond
from trunkline.server.auth.credentials import Caller, check_scope
from trunkline.server.auth.scopes import command_scope
from trunkline.server.call import Parts
from trunkline.server.context.snapshot import snapshot_of
from trunkline.server.context.ws import frames
from trunkline.server.context.ws.cursors import AnyCursor, HubCursor, SessionCursor
from trunkline.server.context.ws.delivery import EventDelivery
from trunkline.server.context.ws.frames import HUB, Ack, CommandFrame, Hello, Ping, Pong, Subscribe, Unsubscribe
from trunkline.server.websocket import NOT_LET_IN, NOT_TEXT, PeerGone, Socket
from trunkline.session.commands.refused import check_id

log = logging.getLogger("trunkline.server")

HELLO_S = 5.0
CURSORS = 500
"""Sessions that one client may follow one by one; beyond that it follows all of them."""
COMMANDS_AT_ONCE = 32
LISTED = 200
"""Sessions in a snapshot of the hub; the others are in ``GET /sessions``."""


class Conversation:
    """One client that was let in."""

    def __init__(self, parts: Parts, caller: Caller, socket: Socket) -> None:
        self._parts = parts
        self._hub: Hub = parts.hub
        self._caller = caller
        self._socket = socket
        self._sight = parts.sight
        self._delivery = delivery_of(parts, socket)
        self._commands: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(COMMANDS_AT_ONCE)

    async def run(self, version: str) -> None:
        """Welcome the client, then listen and deliver until either side ends it."""
        elsewhere = self._parts.elsewhere
        await self._send(frames.Welcome(
            version=version, hub=frames.HubInfo(name="trunkline", version=__version__), scope=self._caller.scope,
            token_id=self._caller.token_id, name=self._caller.name, pos=self._delivery.pos, pending=self._sight.pending(),
            node=elsewhere.node if elsewhere is not None else UNSET))
        delivering = asyncio.create_task(self._delivery.run())
        listening = asyncio.create_task(self._listen())
        self._parts.streams.opened(delivering, self._delivery.watches, self._caller.token_id)
        try:
            await asyncio.wait((delivering, listening), return_when=asyncio.FIRST_COMPLETED)
            ended = delivering if delivering.done() else listening
            await self._socket.close_after(
                ended, is_live=self._parts.tokens.is_live(self._caller.token_id), is_stopping=self._hub.closing)
        finally:
            delivering.cancel()
            listening.cancel()
            await asyncio.gather(delivering, listening, *self._commands, return_exceptions=True)

    async def _send(self, frame: frames.ServerFrames) -> None:
        await self._socket.send_text(frames.encode(frame))

    async def _receive(self) -> str:
        """The client's next frame."""
        text = await self._socket.receive()
        if text is None:
            await self._socket.close(NOT_TEXT, "frames are text")
            raise PeerGone
        return text

    async def _listen(self) -> None:
        while True:
            text = await self._receive()
            try:
                await self._take(frames.decode(text))
            except Unauthorized as error:
                await self._send(frames.refusal(frames.id_of(text), error))
                await self._socket.close(NOT_LET_IN, error.message)
                raise PeerGone from error
            except TrunklineError as error:
                await self._send(frames.refusal(frames.id_of(text), error))

    async def _take(self, frame: frames.ClientFrames) -> None:
        if isinstance(frame, Ping):
            await self._send(Pong(id=frame.id))
            return
        if isinstance(frame, Hello):
            raise Invalid("hello was said already")
        self._parts.tokens.check_live(self._caller.token_id)
        if isinstance(frame, CommandFrame):
            await self._command(frame)
            return
        check_id(frame.id)
        if isinstance(frame, Subscribe):
            await self._subscribe(frame)
        else:
            await self._unsubscribe(frame)

    # Commands.

    async def _command(self, frame: CommandFrame) -> None:
        await self._room.acquire()
        task = asyncio.create_task(self._carry_out(frame))
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        task.add_done_callback(lambda _: self._room.release())

    async def _carry_out(self, frame: CommandFrame) -> None:
        try:
            answer = await self._executed(frame)
        except TrunklineError as error:
            answer = frames.refusal(frame.id, error)
        except Exception as error:  # the command's boundary: its sender must know, and the conversation goes on
            answer = frames.refusal(frame.id, self._foreseen(error))
        try:
            await self._send(answer)
        except PeerGone:
            return  # who comes back and sends the command again gets the same answer

    def _foreseen(self, error: Exception) -> TrunklineError:
        """What the client learns of a failure that is none of the tree."""
        if self._hub.closing:
            return HubStopping("the hub is stopping")
        log.error("a command failed", exc_info=error)
        return TrunklineError("the hub failed to carry it out; its log says more")

    async def _executed(self, frame: CommandFrame) -> Ack:
        elsewhere = self._parts.elsewhere
        owner = await elsewhere.owner(frame.session_id) if elsewhere is not None else None
        if elsewhere is None or owner is None:
            return await self._executed_here(frame)
        envelope = CommandEnvelope(id=check_id(frame.id), command=decode_command(frame.command))
        return Ack(id=frame.id, ok=True, result=await elsewhere.command(owner, self._caller, frame.session_id, envelope))

    async def _executed_here(self, frame: CommandFrame) -> Ack:
        session = await self._hub.session(frame.session_id)
        try:
            check_id(frame.id)
            command = decode_command(frame.command)
            check_scope(self._caller, command_scope(command, session.fold))
        except TrunklineError as error:
            await session.refused(bytes(frame.command), error, command_id=frame.id, by=self._caller.name)
            raise
        outcome = await session.execute(command, command_id=frame.id, by=self._caller.name)
        return Ack(id=frame.id, ok=True, result=outcome.result)

    # Subscriptions.

    async def _subscribe(self, frame: Subscribe) -> None:
        cursors = await self._cursors(frame)
        for cursor in cursors:
            self._delivery.cover(cursor)
        try:
            await self._send(Ack(id=frame.id, ok=True))
            for cursor in cursors:
                await self._start(cursor, _after_of(frame, cursor))
        except TrunklineError:
            self._delivery.drop(frame.id)
            raise

    async def _cursors(self, frame: Subscribe) -> list[AnyCursor]:
        """The cursors that a subscription needs, or why it cannot be."""
        if self._delivery.has(frame.id):
            raise Invalid(f"there is a subscription {frame.id!r} already", details={"field": "id"})
        wanted = parse_types(None if frame.types is UNSET else frame.types)
        _check_after(frame)
        names = [HUB] if frame.sessions == HUB else list(dict.fromkeys(frame.sessions))
        if not names:
            raise Invalid("sessions must not be empty", details={"field": "sessions"})
        if len(names) + self._delivery.cursors > CURSORS:
            raise TooLarge(f"more than {CURSORS} sessions; subscribe to '*'", details={"limit": CURSORS})
        if frame.sessions == HUB:
            return [HubCursor(frame.id, self._delivery.feed, wanted)]
        return [SessionCursor(frame.id, await self._sight.session(name), wanted) for name in names]

    async def _start(self, cursor: AnyCursor, after: int | None) -> None:
        """Say to the client where it starts, and start there."""
        session_id = cursor.session.id if isinstance(cursor, SessionCursor) else HUB
        if after is not None and await self._goes_on(cursor, after):
            await self._send(frames.Resumed(subscription=cursor.subscription, session_id=session_id, seq=after))
            self._delivery.begin(cursor, after)
            return
        if after is not None:
            newest = cursor.session.feed.last_seq if isinstance(cursor, SessionCursor) else self._delivery.feed.last_pos
            await self._send(frames.Gap(subscription=cursor.subscription, session_id=session_id, from_=after, floor=0,
                                            seq=newest))
        snapshot = await self._snapshot(cursor, session_id)
        await self._send(snapshot)
        self._delivery.begin(cursor, snapshot.seq)

    async def _goes_on(self, cursor: AnyCursor, after: int) -> bool:
        """Whether the client can go on from where it has been."""
        if isinstance(cursor, SessionCursor):
            return await cursor.session.feed.has(after) and not (self._parts.elsewhere and await _is_beyond(cursor, after))
        return await self._delivery.feed.reaches(after)

    async def _snapshot(self, cursor: AnyCursor, session_id: str) -> frames.SnapshotFrame:
        if isinstance(cursor, SessionCursor):
            found = await snapshot_of(self._hub, cursor.session)
            return frames.SnapshotFrame(subscription=cursor.subscription, session_id=session_id, seq=found.seq,
                                        state=frames.state(found.state))
        pos = self._delivery.feed.last_pos  # before the list: what happens meanwhile may be in it, and comes as an event too
        state = frames.HubState(pending=self._sight.pending(), sessions=await self._sight.list(RowFilter(limit=LISTED)))
        return frames.SnapshotFrame(subscription=cursor.subscription, session_id=session_id, seq=pos,
                                    state=frames.state(state))

    async def _unsubscribe(self, frame: Unsubscribe) -> None:
        if not self._delivery.has(frame.subscription):
            raise Invalid(f"there is no subscription {frame.subscription!r}", details={"field": "subscription"})
        self._delivery.drop(frame.subscription)
        await self._send(Ack(id=frame.id, ok=True))


def delivery_of(parts: Parts, socket: Socket) -> EventDelivery:
    """What brings a client its events."""
    if parts.cluster is None:
        return EventDelivery(parts.hub, socket)
    from trunkline.server.context.ws.by_session import DeliveryBySession  # of a cluster's: nobody else loads it

    return DeliveryBySession(parts.sight, socket)


async def _is_beyond(cursor: SessionCursor, after: int) -> bool:
    """Whether the client has seen what is no part of the session any more: another node has gone on with it."""
    following = await cursor.session.feed.read(after=after, limit=1)
    return bool(following) and stands_beyond(after, following[0].event)


def _check_after(frame: Subscribe) -> None:
    after = frame.after
    if after is UNSET:
        return
    if isinstance(after, dict) if frame.sessions == HUB else isinstance(after, int) and len(frame.sessions) != 1:
        raise Invalid("after must be a pos for '*', a seq for one session, a seq by session id for several",
                      details={"field": "after"})
    if min(after.values() if isinstance(after, dict) else [after], default=0) < 0:
        raise Invalid("after must not be negative", details={"field": "after"})


def _after_of(frame: Subscribe, cursor: AnyCursor) -> int | None:
    if isinstance(frame.after, dict) and isinstance(cursor, SessionCursor):
        return frame.after.get(cursor.session.id)
    return frame.after if isinstance(frame.after, int) else None
