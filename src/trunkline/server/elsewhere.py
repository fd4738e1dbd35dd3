"""What other nodes of the cluster answer: a session's owner, or the node that somebody names.

Only a hub in a cluster loads this.

Rule 1: what is refused here is refused here: Host, Origin, credential and scope were looked at before anything is sent. The other
node looks at the scope again.
Rule 2: what is sent of the caller is who it is and how far it may go. The token stays here.
Rule 3: what the other node says of its answer counts as far as ``foreign.py`` lets it.
Rule 4: a stream that another node sends ends with the caller's token, as one of our own does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import msgspec
from starlette.types import Receive, Scope, Send

from trunkline import decoders
from trunkline.cluster.tunnel.duplex import Duplex
from trunkline.cluster.tunnel.gateway import Gateway, Owner, TunnelReply
from trunkline.cluster.tunnel.heads import REASON_LENGTH, Claim, made_session
from trunkline.dialects.context.commands import CommandEnvelope
from trunkline.dialects.outside import BROKEN
from trunkline.errors import (
    BY_CODE,
    ClusterDenied,
    Conflict,
    NodeAway,
    NodeSilent,
    NodeUnknown,
    NotOwner,
    TrunklineError,
    Unauthorized,
)
from trunkline.hub import Accepted
from trunkline.hub.sight import Sight
from trunkline.server import acp
from trunkline.server.auth.guests import NOBODY, Caller
from trunkline.server.call import HttpCall, Reply
from trunkline.server.files.preview_keys import Previews
from trunkline.server.foreign import confined
from trunkline.server.sessions.prompt import Prompted
from trunkline.server.sse import Streams

if TYPE_CHECKING:
    from trunkline.cluster.showing.sight import ClusterSight

log = logging.getLogger("trunkline.server")


class _Done(msgspec.Struct):
    result: dict[str, Any]


class _Told(msgspec.Struct):
    code: str
    message: str
    details: dict[str, Any] | None = None


_done, _told = decoders.of(_Done), decoders.of(_Told)

_accepted = decoders.of(Accepted)

At = Literal["any", "owner", "shown", "node", "placed"]
ACCEPTED, DONE, ERRORS = 202, (200, 204), 400
MADE_MOST = 1000
"""Sessions that are remembered until the directory has them; that takes a second."""


OwnerOf = Callable[[str], Awaitable[Owner | None]]
"""The node that owns the session of an id; None where no other node does."""
Away = Callable[[str], str | None]
"""Why a node cannot be asked; None while it is there, as far as is known."""


class Elsewhere:
    """Sends a call to the node that it is for."""

    def __init__(self, node: str, gateway: Gateway, owner_of: OwnerOf, away: Away = lambda node: None, *,
                 is_known: Callable[[str], bool] = lambda node: True, sight: ClusterSight | None = None, asks_nobody: str = ""
                 ) -> None:
        """``is_known``: whether a node that is away was ever there. ``sight``: what is shown here without asking; without one
        everybody is asked. ``asks_nobody``: why this node can ask no other."""
        self.node = node
        self._gateway = gateway
        self._owner_of = owner_of
        self._away, self._is_known = away, is_known
        self._sight = sight
        self._asks_nobody = asks_nobody
        self._made: dict[str, Owner] = {}
        """Sessions that were started through this node lately: the directory may not have them yet."""
        if sight is not None:
            gateway.on_seq = sight.expect

    async def owner(self, session: str) -> Owner | None:
        """The other node that owns a session; None where none does."""
        owner = await self._known_owner(session)
        return None if owner is None or owner.node == self.node else owner

    async def _known_owner(self, session: str) -> Owner | None:
        return await self._owner_of(session) or self._made.get(session)

    def is_away(self, node: str) -> bool:
        """Whether a node is known not to be there."""
        return self._away(node) is not None

    def shown_for(self, node: str) -> Sight | None:
        """What is shown in place of a node that is away; None while it is there."""
        return self._sight if self.is_away(node) else None

    def owner_of_ask(self, ask_id: str) -> Owner | None:
        """The other node that has the session in which this is asked."""
        node = self._sight.owner_of_ask(ask_id) if self._sight is not None else None
        return None if node is None else Owner(node)

    async def ask_all(self, call: HttpCall, within_s: float, path: str) -> tuple[dict[str, bytes], list[str]]:
        """What every other node that runs sessions answers for itself under this path, with the call's own parameters, and
        which of them did not, in time."""
        nodes = [] if self._sight is None else self._sight.others()
        asking = [self._ask_one(call, node, within_s, path) for node in nodes]
        answers = dict(zip(nodes, await asyncio.gather(*asking), strict=True))
        return ({node: body for node, body in answers.items() if body is not None},
                [node for node, body in answers.items() if body is None])

    async def _ask_one(self, call: HttpCall, node: str, within_s: float, path: str) -> bytes | None:
        if self.is_away(node):
            return None

        async def find() -> Owner:
            return Owner(node)

        asked = [(name, value) for name, value in call.request.query if name not in ("after", "wait")]
        query = urlencode([*asked, ("node", node)]).encode()
        try:
            async with asyncio.timeout(within_s):
                status, body = await self._gateway.call(find, _claim(call.caller), "GET", path, b"",
                                                        query=query)
        except (TrunklineError, TimeoutError) as error:
            log.info("%s did not answer for itself: %s", node, error)
            return None
        return body if status == 200 else None

    def editor_socket(self, owner: Owner, caller: Caller) -> AbstractAsyncContextManager[Duplex]:
        """A WebSocket for an editor at that node, open for as long as somebody is in it."""
        async def find() -> Owner:
            return Owner(owner.node)  # it is for all of the editor's sessions there, whichever epoch each is in

        return self._gateway.socket(find, _claim(caller), acp.PATH, [(b"host", b"localhost")])

    async def command(self, owner: Owner, caller: Caller, session: str, envelope: CommandEnvelope) -> dict[str, Any]:
        """Have the owner carry out a command; its result, or the error that stood in its way."""
        async def find() -> Owner:
            return await self.owner(session) or owner

        self.check_there(owner.node)
        status, body = await self._gateway.call(find, _claim(caller), "POST", f"/sessions/{session}/commands",
                                                msgspec.json.encode(envelope), session=session)
        if status == 200:
            return _done.decode(body).result
        raise written_error(body)

    async def have_done(self, owner: Owner, caller: Caller, path: str, body: bytes | AsyncIterator[bytes], *, session: str = ""
                        ) -> bytes:
        """Have another node do something that it does for nodes alone; its answer, or the error that stood in its way. With a
        ``session`` only where that node has it, in that epoch."""
        async def find() -> Owner:
            return owner

        self.check_there(owner.node)
        status, answer = await self._gateway.call(find, _claim(caller), "POST", path, body, session=session)
        if status >= 400:
            raise written_error(answer)
        return answer

    async def reply(self, call: HttpCall, at: At) -> Reply | None:
        """The other node's answer; None where this node answers."""
        owner = await self._find(call, at)
        return None if owner is None or owner.node == self.node else await self.ask(owner, call)

    async def prompt(self, call: HttpCall) -> Prompted | Reply | None:
        """Have the owner take a prompt; None where that is this node. Whoever wants to read its turn reads it here: what is shown
        is in the cluster. Where the session cannot be shown yet, and to others, the owner's answer is passed on."""
        owner, session_id = await self._find(call, "owner"), call.part("id")
        if owner is None or owner.node == self.node:
            return None
        if self._sight is None or not self._sight.shows(session_id) or not call.takes_stream():
            return await self.ask(owner, call)
        answer = await self._ask(owner, call, _for_json(call.request.scope))
        told = await answer.whole()
        if answer.status != ACCEPTED:
            raise written_error(told)  # who reads packets gets it as one
        accepted = _accepted.decode(told)
        session = await self._sight.session(session_id)
        await session.feed.has(accepted.seq)
        return Prompted(session, accepted, (await call.place_in(session.feed)).after)

    async def ask(self, owner: Owner, call: HttpCall, receive: Receive | None = None) -> Reply:
        """What that node answers to this call; NodeAway, at once and with the reason, where it is known not to be there.
        ``receive`` brings the body where it was read here already."""
        answer = await self._ask(owner, call, call.request.scope, receive)
        return GuardedReply(answer, call.parts.streams, call.caller.token_id) if _is_stream(answer) else answer

    async def _ask(self, owner: Owner, call: HttpCall, scope: Scope, receive: Receive | None = None) -> TunnelReply:
        self.check_there(owner.node)
        found: Owner | None = owner
        session = call.request.path_params.get("id", "")

        async def find() -> Owner:
            nonlocal found
            if not session:
                return owner  # a node was named
            known, found = found, None  # each further try looks anew: it may have moved
            now = known or await self._known_owner(session)
            if now is None:
                raise NotOwner(f"session {session} moved while it was asked for; ask again")
            if now.node == self.node:
                raise Conflict(f"session {session} came to this node while it was asked for; nothing was done: ask again")
            return now

        answer = await self._gateway.ask(find, _claim(call.caller), scope, receive or call.request.receive, session=session)
        self._note(owner, call, answer)
        answer.raw_headers = confined(answer.raw_headers, is_preview="key" in call.request.path_params)
        return answer

    def check_there(self, node: str) -> None:
        """NodeAway, with the reason, where a node is known not to be there, NodeUnknown where it never was, ClusterDenied where
        this one can ask nobody: nobody need wait for that."""
        if self._asks_nobody:
            raise ClusterDenied(self._asks_nobody)
        if (why := self._away(node)) is not None:
            if not self._is_known(node):
                raise NodeUnknown(f"the cluster has no node {node}", details={"node": node})
            raise NodeAway(f"{why}; nothing was done", details={"node": node})

    def _note(self, owner: Owner, call: HttpCall, answer: TunnelReply) -> None:
        """Remember what an answer says of sessions: who asked will ask for it here. Of those of others it says nothing."""
        made = made_session(answer.raw_headers)
        if made and answer.status < ERRORS:
            if self._sight is not None and self._sight.is_others(made, owner.node):
                return
            self._made[made] = Owner(owner.node)
            if self._sight is not None:
                self._sight.expect(made, answer.seq)
            if len(self._made) > MADE_MOST:
                del self._made[next(iter(self._made))]
        elif self._sight is not None and answer.status in DONE and call.request.method == "DELETE" and (
                call.request.scope["path"] == f"/sessions/{call.part('id')}"):
            self._made.pop(call.part("id"), None)
            self._sight.removed(call.part("id"))

    async def _find(self, call: HttpCall, at: At) -> Owner | None:
        named = call.text("node") if at == "node" else Previews.node_of(call.request.path_params.get("key", ""))
        if named:
            return Owner(named)
        session = call.request.path_params.get("id")
        if session is None or at not in ("owner", "shown"):
            return None
        if at == "shown" and self._sight is not None and self._sight.shows(session):
            return None
        return await self._known_owner(session)


def written_error(body: bytes) -> TrunklineError:
    """The error that another node's answer tells of. None of them has this node's clients log in again."""
    try:
        told = _told.decode(body)
    except BROKEN:
        return NodeSilent("another node refused, and does not say why")
    if told.code == Unauthorized.code:  # who asks is logged in here
        return NodeSilent(f"another node refused: {told.message[:REASON_LENGTH]}")
    return BY_CODE.get(told.code, TrunklineError)(told.message[:REASON_LENGTH], details=told.details)


def _claim(caller: Caller) -> Claim | None:
    return None if caller is NOBODY else Claim(caller.token_id, caller.name, caller.scope)


def _for_json(scope: Scope) -> Scope:
    """The same request from somebody who does not want to be sent a stream."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (b"accept", b"last-event-id")]
    return {**scope, "headers": [*headers, (b"accept", b"application/json")]}


def _is_stream(answer: TunnelReply) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in answer.raw_headers)


class GuardedReply:
    """An answer that ends with the token that it was asked for with."""

    def __init__(self, answer: TunnelReply, streams: Streams, token_id: str) -> None:
        self.raw_headers = answer.raw_headers
        self._answer = answer
        self._streams = streams
        self._token_id = token_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on until it ends, or the token does."""
        passing = asyncio.create_task(self._answer(scope, receive, send))
        self._streams.opened(passing, lambda session_id, event_type: False, self._token_id)
        try:
            await asyncio.wait((passing,))
            if passing.cancelled():
                await send({"type": "http.response.body", "body": b""})  # as a stream of our own ends
            else:
                passing.result()
        finally:
            passing.cancel()
