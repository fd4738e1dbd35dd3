"""Follows the hub and sends the webhooks what nobody saw.

Rule 1: what waits for a person is sent while it waits: when it has gone unwatched for as long as the rule says, however late
that is. Anything else is sent if nobody watched when it happened, and nobody came since.
Rule 2: what a webhook costs is bounded. Notices that wait for their time are at most WAITING_MOST.
Rule 3: what was read and not delivered when the hub stops is owed (``ledger.py``), and sent when it is back.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Protocol

from trunkline.errors import HubStopping, StorageError
from trunkline.feeds.hub import Placed
from trunkline.hub import SessionView
from trunkline.journal.base import Entry, RowFilter
from trunkline.server.delivery.following import Clock, Source, Tasks, read_next
from trunkline.server.delivery.webhooks.ledger import AGE_MOST_S, Ledger, Owed, key_of
from trunkline.server.delivery.webhooks.notices import WebhookNotice, body_of, notice_of
from trunkline.server.delivery.webhooks.rules import Webhook
from trunkline.server.delivery.webhooks.sender import WebhookSender, id_of

log = logging.getLogger("trunkline.notify")

LOOK_AGAIN_S = 5.0
"""How long after somebody was seen watching an open approval it is looked at again."""

WAITING_MOST = 1_000


class Watching(Protocol):
    """Says whether somebody is shown events of this type in a session right now, or was until after ``since`` (seconds since the
    epoch)."""

    def __call__(self, session_id: str, event_type: str, *, since: float = ...) -> bool: ...


class WatchingElsewhere(Protocol):
    """The same at the other nodes of a cluster, which have to be asked."""

    async def __call__(self, session_id: str, event_type: str, since: float, /) -> bool: ...


class Notifier:
    """Sends webhooks what nobody watches."""

    def __init__(self, hub: Source, watching: Watching, hooks: tuple[Webhook, ...], page: str, *,
                 clock: Clock | None = None, sender: WebhookSender | None = None, ledger: Ledger | None = None,
                 elsewhere: WatchingElsewhere | None = None) -> None:
        self._hub = hub
        self._watching = watching
        self._elsewhere = elsewhere
        self._hooks = hooks
        self._page = page
        self._clock = clock or Clock()
        self._sender = sender or WebhookSender(clock=self._clock)
        self._ledger = ledger or Ledger()
        self._waiting = Tasks(WAITING_MOST, log, "notices")
        """Those that wait for their time."""

    async def run(self) -> None:
        """Follow the hub from where it was followed last, until it closes or this is cancelled."""
        feed = self._hub.everything
        position, owed = await asyncio.to_thread(self._ledger.open, feed.last_pos)
        try:
            await self._ledger.saved()  # from here on nothing is left out, whoever goes on
            await self._take_up(owed)
            while not feed.closed:
                found, position = await read_next(feed, position, self._clock, log)
                await self._on_entries(found, position)
        except HubStopping:
            return
        finally:
            await self._close()

    async def _on_entries(self, found: list[Placed], position: int) -> None:
        """What is to be sent of them is written down first."""
        notices = [(notice, entry) for session_id, entry in found if (notice := notice_of(session_id, entry)) is not None]
        due = [(hook, notice, _owed(hook, notice, entry))
               for notice, entry in notices if notice.ask is not None or not await self._seen(notice, since=notice.at / 1e6)
               for hook in self._hooks if notice.occasion in hook.events and self._is_young(notice)]
        owed = [(hook, notice, owed.id) for hook, notice, owed in due if self._ledger.owe(owed)]
        if len(owed) < len(due):
            log.warning("webhooks are too many deliveries behind: %d are dropped", len(due) - len(owed))
        self._ledger.on_read(position)
        if notices:
            await self._ledger.saved()
        for hook, notice, delivery_id in owed:
            self._later(hook, notice, delivery_id)

    async def _take_up(self, owed: list[Owed]) -> None:
        """Go on with what was owed when the hub stopped."""
        hooks = {key_of(hook): hook for hook in self._hooks}
        for one in owed:
            notice = await self._owed_notice(one)
            hook = hooks.get(one.hook)
            if hook is None or notice is None or not self._is_young(notice):
                self._ledger.settle(one.id)
            else:
                self._later(hook, notice, one.id)

    async def _owed_notice(self, owed: Owed) -> WebhookNotice | None:
        """What an owed delivery is about, read from the journal again; None where that is gone."""
        try:
            found = await self._hub.everything.read(after=owed.pos - 1, limit=1)
        except StorageError as error:
            log.warning("a webhook was not delivered: %s", error.message)
            return None
        if not found or found[0][0] != owed.session_id or found[0][1].pos != owed.pos:
            return None
        return notice_of(*found[0])

    def _is_young(self, notice: WebhookNotice) -> bool:
        return self._clock.now() - notice.at / 1e6 < AGE_MOST_S

    def _later(self, hook: Webhook, notice: WebhookNotice, delivery_id: str) -> None:
        self._waiting.start(self._send(hook, notice, delivery_id), lambda: self._ledger.settle(delivery_id))

    async def _send(self, hook: Webhook, notice: WebhookNotice, delivery_id: str) -> None:
        """Wait until the notice is due, then hand it over, if it is still worth sending."""
        if hook.after_s:
            await self._clock.sleep(hook.after_s)
        view = await self._unseen(notice)
        if view is None or not hook.wants(notice.occasion, view.agent):
            self._ledger.settle(delivery_id)
            return

        async def wanted() -> bool:
            return await self._worth(notice) is not None

        self._sender.send(hook, body_of(notice, view, self._page), wanted, delivery_id=delivery_id,
                          done=lambda: self._ledger.settle(delivery_id))

    async def _unseen(self, notice: WebhookNotice) -> SessionView | None:
        """The session, once nobody watches it; None when there is nothing left to send."""
        while view := await self._worth(notice):
            if not await self._seen(notice):
                return view
            if notice.ask is None:
                return None
            await self._clock.sleep(LOOK_AGAIN_S)
        return None

    async def _seen(self, notice: WebhookNotice, since: float = math.inf) -> bool:
        """Whether somebody is shown what the notice is about."""
        if self._watching(notice.session_id, notice.event_type, since=since):
            return True
        return self._elsewhere is not None and await self._elsewhere(notice.session_id, notice.event_type, since)

    async def _worth(self, notice: WebhookNotice) -> SessionView | None:
        """The session, unless it is gone or the ask has been answered."""
        views = await self._hub.list(RowFilter(id=notice.session_id, limit=1))
        if not views or (notice.ask is not None and notice.ask not in _open_asks(views[0])):
            return None
        return views[0]

    async def _close(self) -> None:
        await self._waiting.close()
        await self._sender.close()
        await self._ledger.saved()


def _owed(hook: Webhook, notice: WebhookNotice, entry: Entry) -> Owed:
    whom = key_of(hook)
    return Owed(id=id_of(whom, notice.session_id, entry.seq), hook=whom, session_id=notice.session_id, pos=entry.pos)


def _open_asks(view: SessionView) -> set[str]:
    return {approval.request_id for approval in view.pending_approvals} | {
        question.question_id for question in view.pending_questions}
