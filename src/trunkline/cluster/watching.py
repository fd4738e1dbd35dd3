"""Whether somebody is shown a session at another gateway: whoever sends notices asks all of them.

Rule 1: only who can say yes answers. No answer within a moment is a no: a notice too many is better than one too few.
Rule 2: the node that asks has looked at its own readers already.
Rule 3: an answer goes to the inbox of whoever asked, wherever else it is wanted: this node may publish what that one may not.
"""

from __future__ import annotations

from typing import Final, Protocol

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from trunkline import decoders
from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection, inbox_prefix
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Unavailable

WITHIN_S: Final = 0.3
"""A gateway answers in a few milliseconds; across networks in some tens."""


class ShownHere(Protocol):
    """Whether somebody is shown such events of a session here, or was until after ``since`` (``Streams.watching``)."""

    def __call__(self, session_id: str, event_type: str, *, since: float = ...) -> bool: ...


class _Asked(msgspec.Struct, array_like=True):
    session_id: str
    event_type: str
    since: float | None
    """Seconds since the epoch; None: right now."""


class Watching:
    """Asks the others, and answers them."""

    def __init__(self, connection: Connection, shown_here: ShownHere) -> None:
        self._connection = connection
        self._shown_here = shown_here
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Answer the others from now on."""
        self._subscription = await self._connection.subscribe(subjects.watching("*"), self._on_asked)

    async def close(self) -> None:
        """Answer no more."""
        if self._subscription is not None:
            await self._connection.unsubscribe(self._subscription)

    async def elsewhere(self, session_id: str, event_type: str, since: float, /) -> bool:
        """Whether somebody is shown it at another gateway."""
        asked = _Asked(session_id, event_type, since if since != float("inf") else None)
        subject = subjects.watching(self._connection.node)
        try:
            await self._connection.request_many(subject, msgspec.json.encode(asked), lambda answer: True, within_s=WITHIN_S)
        except Unavailable:
            return False  # nobody said yes
        return True

    async def _on_asked(self, message: Msg) -> None:
        asker = message.subject.rpartition(".")[2]
        if asker == self._connection.node or not message.reply.startswith(f"{inbox_prefix(asker)}."):
            return
        try:
            asked = decoders.decode(message.data, _Asked)
        except BROKEN:
            return
        since = float("inf") if asked.since is None else asked.since
        if self._shown_here(asked.session_id, asked.event_type, since=since):
            await self._connection.publish(message.reply)
