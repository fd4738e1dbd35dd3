"""The gateway's end: a request goes to the node that owns its session, and the answer back to whoever asked.

Rule 1: what fails before the answer's head is an error of the tree; afterwards the answer is cut: nobody takes it for whole.
Rule 2: a client that leaves ends its tunnel, at once.
Rule 3: an owner that lives but does not answer has ``REPLY_S``, from the last of the body on.
Rule 4: what is short is one message, and may be sent again (``repeating.py``). What is long is sent as it comes, once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from msgspec.structs import replace
from starlette.types import Message, Receive, Scope, Send

from trunkline.cluster.tunnel.duplex import SWITCHED, Duplex
from trunkline.cluster.tunnel.frames import Kind
from trunkline.cluster.tunnel.heads import BODY_BYTES, Claim, Headers, ReplyHead, RequestHead, decode_reply, passed_on, refusal_in
from trunkline.cluster.tunnel.link import Link
from trunkline.cluster.tunnel.repeating import WITHIN_S, is_repeatable, repeated
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import ClientDisconnect, NodeSilent, NotOwner, TrunklineError

log = logging.getLogger("trunkline.cluster")

REPLY_S = 90.0
"""The longest that a route makes anybody wait on purpose is 60 s (``/handover?wait=``)."""


ANSWER_BYTES = 1 << 20
"""Of an answer that is taken whole: what a command answers is short."""


class Owner(NamedTuple):
    """Where a session is: the node, and the how manieth owner of the session that makes it; 0 where that is all the same."""

    node: str
    epoch: int = 0


FindOwner = Callable[[], Awaitable[Owner]]
"""Looks the owner up, again for each try: it may change."""


class Gateway:
    """Asks other nodes on behalf of this one's clients."""

    def __init__(self, switch: Switch, *, reply_s: float = REPLY_S, within_s: float = WITHIN_S) -> None:
        """``within_s``: how long a request that may be repeated is."""
        self._switch = switch
        self._reply_s = reply_s
        self._within_s = within_s
        self.on_seq: Callable[[str, int], None] = lambda session, seq: None
        """Told with each answer how far the session was at its owner then."""

    async def ask(self, find: FindOwner, claim: Claim | None, scope: Scope, receive: Receive, *, session: str = ""
                  ) -> TunnelReply:
        """Send a request; its answer when its head is here. ``claim``: who asks, as this node found out."""
        first = await receive()
        body, is_whole = _read(first)
        head = RequestHead(
            method=scope["method"], path=scope["path"], query=scope["query_string"], headers=passed_on(scope["headers"]),
            scheme=scope["scheme"], claim=claim, session=session,
            body=body if is_whole and len(body) <= BODY_BYTES else None)
        if not is_repeatable(head):
            return await self._ask_owner(find, head, first, receive)
        return await repeated(lambda: self._ask_owner(find, head, first, receive), self._within_s)

    async def call(self, find: FindOwner, claim: Claim | None, method: str, path: str, body: bytes | AsyncIterator[bytes], *,
                   session: str = "", query: bytes = b"") -> tuple[int, bytes]:
        """The same for whoever is no HTTP client: the status and all of a short answer."""
        scope: Scope = {"method": method, "path": path, "query_string": query, "scheme": "http", "headers": [
            (b"host", b"localhost"), (b"content-type", b"application/json"), (b"accept", b"application/json")]}
        answer = await self.ask(find, claim, scope, WholeCall(_pieces(body)).receive, session=session)
        return answer.status, await answer.whole()

    async def _ask_owner(self, find: FindOwner, head: RequestHead, first: Message, receive: Receive) -> TunnelReply:
        """Ask the owner; where it is not the owner any more, and did nothing, the one that is."""
        owner = await find()
        try:
            return await self._try(owner, head, first, receive)
        except NotOwner:
            moved = await find()
            if moved == owner or head.body is None:
                raise
        return await self._try(moved, head, first, receive)

    async def _try(self, owner: Owner, head: RequestHead, first: Message, receive: Receive) -> TunnelReply:
        link = await self._switch.open(owner.node, replace(head, epoch=owner.epoch))
        upload = Upload(link, receive, self._reply_s)
        pumping = asyncio.create_task(upload.run(first if head.body is None else None))
        try:
            reply = await upload.reply()
            if reply.status == NotOwner.http_status:  # it has the session, and is about to hand it over
                raise NotOwner(f"{owner.node} is handing session {head.session} over; ask again in a moment")
        except BaseException as error:
            await self._leave(link, pumping, error if isinstance(error, TrunklineError) else None)
            if upload.client_left:
                raise ClientDisconnect from error
            raise
        if reply.seq and head.session:
            self.on_seq(head.session, reply.seq)
        return TunnelReply(reply, link, lambda is_done: self._leave(link, pumping, None, is_done=is_done))

    @asynccontextmanager
    async def socket(self, find: FindOwner, claim: Claim | None, path: str, headers: Headers, *, session: str = ""
                     ) -> AsyncIterator[Duplex]:
        """A WebSocket at the owner, open for as long as somebody is in here; what the owner refuses it with where it does."""
        owner = await find()
        head = RequestHead(method="GET", path=path, headers=passed_on(headers), scheme="ws", claim=claim, session=session,
                           epoch=owner.epoch)
        link = await self._switch.open(owner.node, head)
        try:
            async with asyncio.timeout(self._reply_s):
                await accepted(link)
            yield Duplex(link)
        except TimeoutError:
            raise NodeSilent(f"{owner.node} did not answer within {self._reply_s:g} s") from None
        finally:
            await self._switch.close(link)

    async def _leave(self, link: Link, pumping: asyncio.Task[None], why: TrunklineError | None, *, is_done: bool = False) -> None:
        pumping.cancel()
        with suppress(asyncio.CancelledError):
            await pumping
        await self._switch.close(link, why, is_done=is_done)


async def accepted(link: Link) -> None:
    """Wait until the owner has let a WebSocket in; raises why not."""
    frame = await link.take()
    if frame.kind is Kind.HEAD and decode_reply(frame.body).status == SWITCHED:
        return
    body = b""
    while frame.kind is not Kind.LAST:
        frame = await link.take()
        body += frame.body
    raise refusal_in(body)


class Upload:
    """A request's body on its way, and the wait for the answer's head."""

    def __init__(self, link: Link, receive: Receive, reply_s: float) -> None:
        self._link = link
        self._receive = receive
        self._reply_s = reply_s
        self._deadline: asyncio.Timeout | None = None
        self.client_left = False

    async def run(self, first: Message | None) -> None:
        """Send the body, as far as it did not go with the head; then stay until the client leaves, which ends the tunnel."""
        try:
            message: Message | None = first
            while message is not None:
                body, is_last = _read(message)
                await self._link.send_body(body, Kind.LAST if is_last else None)
                self._give_time()
                message = None if is_last else await self._receive()
            while (await self._receive())["type"] == "http.request":
                continue
        except ClientDisconnect:
            pass
        except TrunklineError:
            return  # whoever waits for the answer learns it
        self.client_left = True
        await self._link.close()

    async def reply(self) -> ReplyHead:
        """The head of the answer."""
        try:
            async with asyncio.timeout(self._reply_s) as self._deadline:
                frame = await self._link.take()
        except TimeoutError:
            raise NodeSilent(f"{self._link.peer.to} did not answer within {self._reply_s:g} s") from None
        finally:
            self._deadline = None
        if frame.kind is not Kind.HEAD:
            raise NodeSilent(f"{self._link.peer.to} answered without a head")
        return decode_reply(frame.body)

    def _give_time(self) -> None:
        """More of the body went: the owner has its time from now on."""
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._reply_s)


class WholeCall:
    """A client that sends what it has, reads all, and stays until then."""

    def __init__(self, pieces: AsyncIterator[tuple[bytes, bool]]) -> None:
        self._pieces = pieces
        self.answer = bytearray()
        self.is_done = False

    async def receive(self) -> Message:
        """The next piece of its body."""
        async for body, is_last in self._pieces:
            return {"type": "http.request", "body": body, "more_body": not is_last}
        await asyncio.get_running_loop().create_future()
        raise AssertionError("it waits until it is ended")

    async def send(self, message: Message) -> None:
        """Take some of the answer."""
        if message["type"] == "http.response.body":
            self.answer += message["body"]
            self.is_done = not message["more_body"]
            if len(self.answer) > ANSWER_BYTES:
                raise NodeSilent(f"the owner's answer is longer than {ANSWER_BYTES} bytes")


async def _pieces(body: bytes | AsyncIterator[bytes]) -> AsyncIterator[tuple[bytes, bool]]:
    """A body in pieces, each with whether it is the last."""
    if isinstance(body, bytes):
        yield body, True
        return
    async for piece in body:
        yield piece, False
    yield b"", True


class TunnelReply:
    """An owner's answer, on its way to whoever asked."""

    def __init__(self, head: ReplyHead, link: Link, leave: Callable[[bool], Awaitable[None]]) -> None:
        self.status = head.status
        self.raw_headers = head.headers
        self.seq = head.seq
        self._link = link
        self._leave = leave

    async def whole(self) -> bytes:
        """All of it, where it is short; NodeSilent where it is cut."""
        taken = WholeCall(_pieces(b""))
        await self({}, taken.receive, taken.send)
        if not taken.is_done:
            raise NodeSilent("the owner's answer was cut")
        return bytes(taken.answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on, as fast as the client takes it. Returns in the middle of it where there is no more."""
        is_done = False
        try:
            await send({"type": "http.response.start", "status": self.status, "headers": self.raw_headers})
            while not is_done:
                frame = await self._link.take()
                is_done = frame.kind is Kind.LAST
                await send({"type": "http.response.body", "body": frame.body, "more_body": not is_done})
        except TrunklineError as error:
            log.warning("an answer of %s was cut: %s", self._link.peer.to, error.message)
        finally:
            await self._leave(is_done)


def _read(message: Message) -> tuple[bytes, bool]:
    """A piece of a body, and whether it is the last; ClientDisconnect where the client has left."""
    if message["type"] != "http.request":
        raise ClientDisconnect
    return message.get("body", b""), not message.get("more_body", False)
