"""Follows the hub and tells the webhooks what nobody saw.

Rule 1: it is a reader like any other: a position in the hub's feed. It keeps nothing of a session and no session knows of it.
Rule 2: what waits for a person is told while it waits: when it has gone unwatched for as long as the rule says, however late
that is. Anything else is told if nobody watched when it happened, and nobody came since.
Rule 3: what a webhook costs is bounded. Notices that wait for their time are at most WAITING_MOST.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from trunkline.errors import HubStopping, StorageError
from trunkline.hub import Hub, SessionView
from trunkline.journal.base import RowFilter
from trunkline.server.notify.notices import Notice, body_of, notice_of
from trunkline.server.notify.outbox import Clock, Outbox
from trunkline.server.notify.rules import Webhook

log = logging.getLogger("trunkline.notify")

LOOK_AGAIN_S = 5.0
"""How long after somebody was seen watching an open approval it is looked at again."""

STORAGE_PAUSE_S = 5.0
WAITING_MOST = 1_000


class Notifier:
    """Tells webhooks. ``watching`` says whether somebody looks at a session right now."""

    def __init__(self, hub: Hub, watching: Callable[[str], bool], hooks: tuple[Webhook, ...], page: str, *,
                 clock: Clock | None = None, outbox: Outbox | None = None) -> None:
        self._hub = hub
        self._watching = watching
        self._hooks = hooks
        self._page = page
        self._clock = clock or Clock()
        self._outbox = outbox or Outbox(clock=self._clock)
        self._waiting: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Follow the hub from now on, until it closes or this is cancelled."""
        feed = self._hub.everything
        position = feed.last_pos
        try:
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
        for session_id, entry in found:
            notice = notice_of(session_id, entry)
            if notice is not None:
                self._heard(notice)
        # Nothing found: what was there has been deleted since.
        return found[-1][1].pos if found else newest

    def _heard(self, notice: Notice) -> None:
        if notice.ask is None and self._watching(notice.session_id):
            return
        for hook in self._hooks:
            if notice.occasion in hook.events:
                self._later(self._tell(hook, notice))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._waiting) >= WAITING_MOST:
            log.warning("%d notices wait already: one is dropped", WAITING_MOST)
            work.close()
            return
        task = asyncio.create_task(work)
        self._waiting.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("a notice was not sent", exc_info=error)

    async def _tell(self, hook: Webhook, notice: Notice) -> None:
        """Wait until the notice is due, then hand it to the outbox, if it is still worth telling."""
        if hook.after_s:
            await self._clock.sleep(hook.after_s)
        view = await self._unseen(notice)
        if view is None or not hook.wants(notice.occasion, view.agent):
            return

        async def wanted() -> bool:
            return await self._worth(notice) is not None

        self._outbox.send(hook, body_of(notice, view, self._page), wanted)

    async def _unseen(self, notice: Notice) -> SessionView | None:
        """The session, once nobody watches it; None when there is nothing left to tell."""
        while view := await self._worth(notice):
            if not self._watching(notice.session_id):
                return view
            if notice.ask is None:
                return None
            await self._clock.sleep(LOOK_AGAIN_S)
        return None

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


def _open_asks(view: SessionView) -> set[str]:
    return {approval.request_id for approval in view.pending_approvals} | {
        question.question_id for question in view.pending_questions}
