"""Follows the hub and tells the webhooks what nobody saw.

Rule 1: it is a reader like any other: a position in the hub's feed. It keeps nothing of a session and no session knows of it.
Rule 2: what waits for a person is told while it waits: when it has gone unwatched for as long as the rule says, however late
that is. Anything else is told if nobody watched when it happened, and nobody came since.
Rule 3: what a webhook costs is bounded. Notices that wait for their time are at most WAITING_MOST.
Rule 4: what was heard and not delivered when the hub stops is owed (``ledger.py``), and told when it is back.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Protocol

from trunkline.errors import HubStopping, StorageError
from trunkline.hub import Hub, SessionView
from trunkline.journal.base import RowFilter
from trunkline.server.delivery.webhooks.ledger import AGE_MOST_S, Ledger, Owed, key_of
from trunkline.server.delivery.webhooks.notices import Notice, body_of, notice_of
from trunkline.server.delivery.webhooks.outbox import Clock, Outbox, new_id
from trunkline.server.delivery.webhooks.rules import Webhook

log = logging.getLogger("trunkline.notify")

LOOK_AGAIN_S = 5.0
"""How long after somebody was seen watching an open approval it is looked at again."""

STORAGE_PAUSE_S = 5.0
WAITING_MOST = 1_000


class Watching(Protocol):
    """Says whether somebody is shown events of this type in a session right now, or was until after ``since`` (seconds since the
    epoch)."""

    def __call__(self, session_id: str, event_type: str, *, since: float = ...) -> bool: ...


class Notifier:
    """Tells webhooks what nobody watches."""

    def __init__(self, hub: Hub, watching: Watching, hooks: tuple[Webhook, ...], page: str, *,
                 clock: Clock | None = None, outbox: Outbox | None = None, ledger: Ledger | None = None) -> None:
        self._hub = hub
        self._watching = watching
        self._hooks = hooks
        self._page = page
        self._clock = clock or Clock()
        self._outbox = outbox or Outbox(clock=self._clock)
        self._ledger = ledger or Ledger()
        self._waiting: dict[asyncio.Task[None], str] = {}
        """Notices that wait for their time, each with the id of its delivery."""

    async def run(self) -> None:
        """Follow the hub from where it was followed last, until it closes or this is cancelled."""
        feed = self._hub.everything
        position, owed = await asyncio.to_thread(self._ledger.open, feed.last_pos)
        try:
            await self._take_up(owed)
            while not feed.closed:
                await feed.wait(position)
                position = await self._read(position)
        except HubStopping:
            return
        finally:
            await self._close()

    async def _read(self, position: int) -> int:
        """Hear what is new; returns the position behind it."""
        feed = self._hub.everything
        newest = feed.last_pos
        try:
            found = await feed.read(after=position)
        except StorageError as error:
            log.warning("webhooks wait for the journal: %s", error.message)
            await self._clock.sleep(STORAGE_PAUSE_S)
            return position
        heard = [(notice, entry.pos) for session_id, entry in found if (notice := notice_of(session_id, entry)) is not None]
        # Nothing found: what was there has been deleted since.
        position = found[-1][1].pos if found else newest
        if heard:
            await self._heard(heard, position)
        else:
            self._ledger.heard(position)
        return position

    async def _heard(self, notices: list[tuple[Notice, int]], position: int) -> None:
        """Something is to be told: it is written down first."""
        told = [(hook, notice, Owed(id=new_id(), hook=key_of(hook), session_id=notice.session_id, pos=pos))
                for notice, pos in notices if notice.ask is not None or not self._seen(notice, since=notice.at / 1e6)
                for hook in self._hooks if notice.occasion in hook.events and self._is_young(notice)]
        owed = [(hook, notice, owed.id) for hook, notice, owed in told if self._ledger.owe(owed)]
        if len(owed) < len(told):
            log.warning("webhooks are too many deliveries behind: %d are dropped", len(told) - len(owed))
        self._ledger.heard(position)
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

    async def _owed_notice(self, owed: Owed) -> Notice | None:
        """What an owed delivery tells of, read from the journal again; None where that is gone."""
        try:
            found = await self._hub.everything.read(after=owed.pos - 1, limit=1)
        except StorageError as error:
            log.warning("a webhook was not delivered: %s", error.message)
            return None
        if not found or found[0][0] != owed.session_id or found[0][1].pos != owed.pos:
            return None
        return notice_of(*found[0])

    def _is_young(self, notice: Notice) -> bool:
        return self._clock.now() - notice.at / 1e6 < AGE_MOST_S

    def _later(self, hook: Webhook, notice: Notice, delivery_id: str) -> None:
        if len(self._waiting) >= WAITING_MOST:
            log.warning("%d notices wait already: one is dropped", WAITING_MOST)
            self._ledger.settle(delivery_id)
            return
        task = asyncio.create_task(self._tell(hook, notice, delivery_id))
        self._waiting[task] = delivery_id
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        delivery_id = self._waiting.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._ledger.settle(delivery_id)
            log.error("a notice was not sent", exc_info=error)

    async def _tell(self, hook: Webhook, notice: Notice, delivery_id: str) -> None:
        """Wait until the notice is due, then hand it to the outbox, if it is still worth telling."""
        if hook.after_s:
            await self._clock.sleep(hook.after_s)
        view = await self._unseen(notice)
        if view is None or not hook.wants(notice.occasion, view.agent):
            self._ledger.settle(delivery_id)
            return

        async def wanted() -> bool:
            return await self._worth(notice) is not None

        self._outbox.send(hook, body_of(notice, view, self._page), wanted, delivery_id=delivery_id,
                          done=lambda: self._ledger.settle(delivery_id))

    async def _unseen(self, notice: Notice) -> SessionView | None:
        """The session, once nobody watches it; None when there is nothing left to tell."""
        while view := await self._worth(notice):
            if not self._seen(notice):
                return view
            if notice.ask is None:
                return None
            await self._clock.sleep(LOOK_AGAIN_S)
        return None

    def _seen(self, notice: Notice, since: float = math.inf) -> bool:
        """Whether somebody is shown what the notice is about."""
        return self._watching(notice.session_id, notice.event_type, since=since)

    async def _worth(self, notice: Notice) -> SessionView | None:
        """The session, unless it is gone or the ask has been answered."""
        views = await self._hub.list(RowFilter(id=notice.session_id, limit=1))
        if not views or (notice.ask is not None and notice.ask not in _open_asks(views[0])):
            return None
        return views[0]

    async def _close(self) -> None:
        waiting = list(self._waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await self._outbox.close()
        await self._ledger.saved()


def _open_asks(view: SessionView) -> set[str]:
    return {approval.request_id for approval in view.pending_approvals} | {
        question.question_id for question in view.pending_questions}
