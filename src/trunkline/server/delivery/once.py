"""Webhooks and pushes of a cluster: sent by one node at a time, and by another where that one stopped.

    lease ``notices``            who sends        (``cluster/tables/lease.py``)
    ``notices.webhooks``         what was read and is owed
    ``notices.push``             up to where pushes are done
    ``notices.shown``            which devices show which asks

Rule 1: the records are claimed when the lease was taken, so that the sender before this one can write them no more.
Rule 2: no try is made without the lease. What was on its way when it was lost is not done, and is owed.
Rule 3: a notice may come twice, never not at all: what was taken by its receiver right before the sender died, and was not
written down yet. A webhook has the same id then, a push takes the place of the first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from trunkline.server.delivery.following import Clock, Source
from trunkline.server.delivery.records import MakeRecord, Record
from trunkline.server.delivery.shared_records import SharedRecord, claim_key

if TYPE_CHECKING:
    from trunkline.cluster.tables.lease import Lease
    from trunkline.cluster.tables.table import Table
    from trunkline.server.call import Parts
    from trunkline.server.delivery.webhooks.notifier import WatchingElsewhere

log = logging.getLogger("trunkline.notify")

LEASE = "notices"
WEBHOOKS = "notices.webhooks"
PUSH = "notices.push"
SHOWN = "notices.shown"
"""Keys of the cluster's state."""

T = TypeVar("T")


class SentOnce:
    """Sends for the whole cluster whenever this node has the lease. ``source`` has all of its sessions."""

    def __init__(self, parts: Parts, source: Source, state: Table, lease: Lease, *, clock: Clock | None = None,
                 elsewhere: WatchingElsewhere | None = None) -> None:
        self._parts = parts
        self._source = source
        self._state = state
        self._lease = lease
        self._clock = clock or Clock()
        self._elsewhere = elsewhere

    async def run(self) -> None:
        """Take part, until cancelled."""
        await self._lease.hold(self._send)

    async def _send(self) -> None:
        work: list[Callable[[], Awaitable[None]]] = [self._push]
        if self._parts.options.webhooks:
            work.append(self._notify)
        tasks = [asyncio.ensure_future(each()) for each in work]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()

    async def _notify(self) -> None:
        from trunkline.server.delivery.webhooks.ledger import Ledger  # only who has webhooks pays for them
        from trunkline.server.delivery.webhooks.notifier import Notifier
        from trunkline.server.delivery.webhooks.sender import WebhookSender

        parts = self._parts
        ledger = Ledger(make=await self._claimed(WEBHOOKS))
        sender = WebhookSender(clock=self._clock, may_send=self._lease.held)
        await Notifier(self._source, parts.streams.watching, parts.options.webhooks, parts.options.public_url,
                       clock=self._clock, sender=sender, ledger=ledger, elsewhere=self._elsewhere).run()

    async def _push(self) -> None:
        await self._parts.subscriptions.some()
        from trunkline.server.delivery.progress import Progress  # only a hub that somebody wants pushes from pays for them
        from trunkline.server.delivery.push.pusher import Pusher
        from trunkline.server.delivery.push.sender import PushSender, contact_of
        from trunkline.server.delivery.push.shown import ShownAsks

        parts = self._parts
        sender = PushSender(parts.subscriptions, contact_of(parts.options.public_url), clock=self._clock,
                            may_send=self._lease.held)
        shown = ShownAsks(parts.subscriptions.folder, await self._claimed(SHOWN))
        progress = Progress(await self._claimed(PUSH))
        await Pusher(self._source, parts.subscriptions, parts.tokens.scope_of, clock=self._clock, sender=sender, shown=shown,
                     progress=progress).run()

    async def _claimed(self, key: str) -> MakeRecord:
        claimed = await claim_key(self._state, key)

        def make(form: type[T], content: Callable[[], T], /) -> Record[T]:
            return SharedRecord(claimed, form, content, log)

        return make
