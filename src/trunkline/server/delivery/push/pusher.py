"""Follows the hub and tells the devices that want to know.

Rule 1: it is a reader like any other: a position in the hub's feed. While nobody has subscribed it follows nothing.
Rule 2: what is answered within a moment (by a rule, by somebody who looks) is not told. What was told of and then answered is
told again as resolved, to the devices that were told of it and to no others, except to who answered; also where it was answered
while no hub ran, or as it stopped.
Rule 3: what it costs is bounded: notes that wait, asks that are remembered, messages on their way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from trunkline.errors import HubStopping, StorageError
from trunkline.hub import Hub
from trunkline.journal.base import RowFilter
from trunkline.server.auth.tokens import Scope
from trunkline.server.delivery.push.notes import About, Note, note_of, payload_of
from trunkline.server.delivery.push.sender import CONTACT, Sender
from trunkline.server.delivery.push.shown import ToldAsks
from trunkline.server.delivery.push.subscriptions import Subscription, Subscriptions
from trunkline.server.delivery.webhooks.outbox import Clock

log = logging.getLogger("trunkline.push")

ASK_AFTER_S = 0.7
STORAGE_PAUSE_S = 5.0
WAITING_MOST = 500


class Pusher:
    """Tells devices. ``scope_of`` says how far the token of an id goes, None where it does not count."""

    def __init__(self, hub: Hub, subscriptions: Subscriptions, scope_of: Callable[[str], Scope | None], page: str = "", *,
                 clock: Clock | None = None, sender: Sender | None = None) -> None:
        self._hub = hub
        self._subscriptions = subscriptions
        self._scope_of = scope_of
        self._clock = clock or Clock()
        self._sender = sender or Sender(subscriptions, page if page.startswith("https://") else CONTACT, clock=self._clock)
        self._waiting: set[asyncio.Task[None]] = set()
        self._told = ToldAsks(subscriptions.folder)

    async def run(self) -> None:
        """Follow the hub from now on, until it closes or this is cancelled."""
        feed = self._hub.everything
        position = feed.last_pos
        await asyncio.to_thread(self._told.load)
        self._take_back()
        try:
            while not feed.closed:
                if not len(self._subscriptions):
                    await self._subscriptions.some()
                    position = feed.last_pos
                await feed.wait(position)
                position = await self._read(position)
        except HubStopping:
            return
        finally:
            await self._close()

    def _take_back(self) -> None:
        """What was answered while nobody followed: when a hub stops, it answers what waits."""
        for note in self._told.left(self._clock.now()):
            if not self._is_open(note):
                self._later(self._resolve(replace(note, outcome="over")))

    async def _read(self, position: int) -> int:
        """Hear what is new; returns the position behind it."""
        feed = self._hub.everything
        newest = feed.last_pos
        try:
            found = await feed.read(after=position)
        except StorageError as error:
            log.warning("pushes wait for the journal: %s", error.message)
            await self._clock.sleep(STORAGE_PAUSE_S)
            return position
        for session_id, entry in found:
            note = note_of(session_id, entry)
            if note is not None:
                self._later(self._tell(note))
        return found[-1][1].pos if found else newest

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._waiting) >= WAITING_MOST:
            log.warning("%d pushes wait already: one is dropped", WAITING_MOST)
            work.close()
            return
        task = asyncio.create_task(work)
        self._waiting.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("a push was not sent", exc_info=error)

    async def _tell(self, note: Note) -> None:
        if note.resolves:
            await self._resolve(note)
        elif note.ask is None:
            await self._send(note, lambda: True)
        else:
            await self._clock.sleep(ASK_AFTER_S)
            if self._is_open(note):
                await self._send(note, lambda: self._is_open(note))

    async def _resolve(self, note: Note) -> None:
        about = await self._about(note.session_id)
        told = self._told.pop(note.ask)
        if told is None:
            return  # nobody was told of it, or its time was up
        for subscription in self._subscriptions.wanting(note.kind):
            if subscription.token_id in told.devices and f"({subscription.token_id})" not in note.by:
                # The end of an ask is worth telling as long as the ask itself was.
                self._hand_over(subscription, replace(note, until=told.note.until), about, lambda: True)

    async def _send(self, note: Note, wanted: Callable[[], bool]) -> None:
        about = await self._about(note.session_id)
        if not about.title:
            return  # it was deleted
        wanting = self._subscriptions.wanting(note.kind)
        if note.ask is not None and wanting:
            self._told.add(note, frozenset(each.token_id for each in wanting))
        for subscription in wanting:
            self._hand_over(subscription, note, about, wanted)

    async def _about(self, session_id: str) -> About:
        """The session; nothing where it was deleted."""
        views = await self._hub.list(RowFilter(id=session_id, limit=1))
        return About(views[0].title or views[0].agent, views[0].last_text, views[0].cwd) if views else About("")

    def _hand_over(self, subscription: Subscription, note: Note, about: About, wanted: Callable[[], bool]) -> None:
        scope = self._scope_of(subscription.token_id)
        if scope is not None:
            self._sender.send(subscription, note, payload_of(note, about, scope), wanted)

    def _is_open(self, note: Note) -> bool:
        for ask in self._hub.pending():
            if ask.session_id == note.session_id and note.ask in (
                    ask.approval.request_id if ask.approval is not UNSET else None,
                    ask.question.question_id if ask.question is not UNSET else None):
                return True
        return False

    async def _close(self) -> None:
        waiting = list(self._waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await self._sender.close()
