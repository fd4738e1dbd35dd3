"""Follows the hub and sends notes to the devices that want them.

Rule 1: while nobody has subscribed it follows nothing.
Rule 2: what is answered within a moment (by a rule, by somebody who looks) is not sent. What was sent and then answered is
sent again as resolved, to the devices that got it and to no others, except to who answered; also where it was answered
while no hub ran, or as it stopped.
Rule 3: what it costs is bounded: notes that wait, asks that are remembered, messages on their way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from trunkline.errors import HubStopping
from trunkline.hub import Hub
from trunkline.journal.base import RowFilter
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.delivery.following import Clock, Tasks, read_next
from trunkline.server.delivery.push.notes import About, PushNote, is_past, note_of, payload_of
from trunkline.server.delivery.push.sender import CONTACT, PushSender
from trunkline.server.delivery.push.shown import ShownAsks
from trunkline.server.delivery.push.subscriptions import Subscription, Subscriptions

log = logging.getLogger("trunkline.push")

ASK_AFTER_S = 0.7
WAITING_MOST = 500


class Pusher:
    """Sends notes to devices. ``scope_of`` says how far the token of an id goes, None where it does not count."""

    def __init__(self, hub: Hub, subscriptions: Subscriptions, scope_of: Callable[[str], TokenScope | None], page: str = "", *,
                 clock: Clock | None = None, sender: PushSender | None = None) -> None:
        self._hub = hub
        self._subscriptions = subscriptions
        self._scope_of = scope_of
        self._clock = clock or Clock()
        self._sender = sender or PushSender(subscriptions, page if page.startswith("https://") else CONTACT, clock=self._clock)
        self._waiting = Tasks(WAITING_MOST, log, "pushes")
        self._shown = ShownAsks(subscriptions.folder)

    async def run(self) -> None:
        """Follow the hub from now on, until it closes or this is cancelled."""
        feed = self._hub.everything
        position = feed.last_pos
        await asyncio.to_thread(self._shown.load)
        self._take_back()
        try:
            while not feed.closed:
                if not len(self._subscriptions):
                    await self._subscriptions.some()
                    position = feed.last_pos
                found, position = await read_next(feed, position, self._clock, log)
                for session_id, entry in found:
                    note = note_of(session_id, entry)
                    if note is not None and not is_past(note, entry.at, self._clock.now()):
                        self._waiting.start(self._on_note(note))
        except HubStopping:
            return
        finally:
            await self._close()

    def _take_back(self) -> None:
        """What was answered while nobody followed: when a hub stops, it answers what waits."""
        for note in self._shown.left(self._clock.now()):
            if not self._is_open(note):
                self._waiting.start(self._resolve(replace(note, outcome="over")))

    async def _on_note(self, note: PushNote) -> None:
        if note.resolves:
            await self._resolve(note)
        elif note.ask is None:
            await self._send(note, lambda: True)
        else:
            await self._clock.sleep(ASK_AFTER_S)
            if self._is_open(note):
                await self._send(note, lambda: self._is_open(note))

    async def _resolve(self, note: PushNote) -> None:
        about = await self._about(note.session_id)
        shown = self._shown.pop(note.ask)
        if shown is None:
            return  # nobody was sent it, or its time was up
        for subscription in self._subscriptions.wanting(note.kind):
            if subscription.token_id in shown.devices and f"({subscription.token_id})" not in note.by:
                # The end of an ask is worth sending as long as the ask itself was.
                self._hand_over(subscription, replace(note, until=shown.note.until), about, lambda: True)

    async def _send(self, note: PushNote, wanted: Callable[[], bool]) -> None:
        about = await self._about(note.session_id)
        if not about.title:
            return  # it was deleted
        wanting = self._subscriptions.wanting(note.kind)
        if note.ask is not None and wanting:
            self._shown.add(note, frozenset(each.token_id for each in wanting))
        for subscription in wanting:
            self._hand_over(subscription, note, about, wanted)

    async def _about(self, session_id: str) -> About:
        """The session; nothing where it was deleted."""
        views = await self._hub.list(RowFilter(id=session_id, limit=1))
        return About(views[0].title or views[0].agent, views[0].last_text, views[0].cwd) if views else About("")

    def _hand_over(self, subscription: Subscription, note: PushNote, about: About, wanted: Callable[[], bool]) -> None:
        scope = self._scope_of(subscription.token_id)
        if scope is not None:
            self._sender.send(subscription, note, payload_of(note, about, scope), wanted)

    def _is_open(self, note: PushNote) -> bool:
        for ask in self._hub.pending():
            if ask.session_id == note.session_id and note.ask in (
                    ask.approval.request_id if ask.approval is not UNSET else None,
                    ask.question.question_id if ask.question is not UNSET else None):
                return True
        return False

    async def _close(self) -> None:
        await self._waiting.close()
        await self._sender.close()
