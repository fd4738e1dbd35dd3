"""Follows the hub and sends notes to the devices that want them.

Rule 1: while nobody has subscribed it follows nothing.
Rule 2: what is answered within a moment (by a rule, by somebody who looks) is not sent. What was sent and then answered is
sent again as resolved, to the devices that got it and to no others, except to who answered; also where it was answered
while no hub ran, or as it stopped.
Rule 3: in a cluster whoever sends next goes on where this one stopped (``Progress``). What it sends again has the tag and the
topic of the first, and takes its place.
Rule 4: what it costs is bounded: notes that wait, asks that are remembered, messages on their way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from trunkline.errors import HubStopping
from trunkline.journal.base import RowFilter
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.delivery.following import Clock, Source, Tasks, read_next
from trunkline.server.delivery.progress import Progress
from trunkline.server.delivery.push.notes import About, PushNote, is_past, note_of, payload_of
from trunkline.server.delivery.push.sender import PushSender, contact_of
from trunkline.server.delivery.push.shown import ShownAsks
from trunkline.server.delivery.push.subscriptions import Subscription, Subscriptions

log = logging.getLogger("trunkline.push")

ASK_AFTER_S = 0.7
WAITING_MOST = 500


class Pusher:
    """Sends notes to devices. ``scope_of`` says how far the token of an id goes, None where it does not count."""

    def __init__(self, hub: Source, subscriptions: Subscriptions, scope_of: Callable[[str], TokenScope | None], page: str = "", *,
                 clock: Clock | None = None, sender: PushSender | None = None, shown: ShownAsks | None = None,
                 progress: Progress | None = None) -> None:
        self._hub = hub
        self._subscriptions = subscriptions
        self._scope_of = scope_of
        self._clock = clock or Clock()
        self._sender = sender or PushSender(subscriptions, contact_of(page), clock=self._clock)
        self._waiting = Tasks(WAITING_MOST, log, "pushes")
        self._shown = shown or ShownAsks(subscriptions.folder)
        self._progress = progress or Progress()

    async def run(self) -> None:
        """Follow the hub from now on, until it closes or this is cancelled."""
        feed = self._hub.everything
        position = self._progress.begin(feed.last_pos)
        await asyncio.to_thread(self._shown.load)
        self._take_back(position)
        try:
            await self._progress.kept()
            while not feed.closed:
                if not len(self._subscriptions):
                    await self._subscriptions.some()
                    position = feed.last_pos
                found, position = await read_next(feed, position, self._clock, log)
                for session_id, entry in found:
                    note = note_of(session_id, entry)
                    if note is not None and not is_past(note, entry.at, self._clock.now()):
                        self._take(note, entry.pos)
                self._progress.on_read(position)
        except HubStopping:
            return
        finally:
            await self._close()

    def _take(self, note: PushNote, pos: int) -> None:
        """Deal with a note in a task of its own; its place is done when that is, and all that was sent of it."""
        self._progress.start(pos)

        async def minded() -> None:
            await self._on_note(note, pos)
            self._progress.end(pos)

        self._waiting.start(minded(), lambda: self._progress.end(pos))

    def _take_back(self, position: int) -> None:
        """What was answered while nobody followed: when a hub stops, it answers what waits."""
        for note in self._shown.left(self._clock.now()):
            if not self._is_open(note):
                self._waiting.start(self._resolve(replace(note, outcome="over"), position))

    async def _on_note(self, note: PushNote, pos: int) -> None:
        if note.resolves:
            await self._resolve(note, pos)
        elif note.ask is None:
            await self._send(note, pos, lambda: True)
        else:
            await self._clock.sleep(ASK_AFTER_S)
            if self._is_open(note):
                await self._send(note, pos, lambda: self._is_open(note))

    async def _resolve(self, note: PushNote, pos: int) -> None:
        about = await self._about(note.session_id)
        shown = self._shown.get(note.ask)
        if shown is None:
            return  # nobody was sent it, or its time was up
        told = [each for each in self._subscriptions.wanting(note.kind)
                if each.token_id in shown.devices and f"({each.token_id})" not in note.by]
        for subscription in told:
            # The end of an ask is worth sending as long as the ask itself was. It is forgotten behind that: others may go on.
            self._hand_over(subscription, replace(note, until=shown.note.until), pos, about, lambda: True)
        if not told:
            self._shown.drop(note.ask)

    async def _send(self, note: PushNote, pos: int, wanted: Callable[[], bool]) -> None:
        about = await self._about(note.session_id)
        if not about.title:
            return  # it was deleted
        wanting = self._subscriptions.wanting(note.kind)
        if note.ask is not None and wanting:
            self._shown.add(note, frozenset(each.token_id for each in wanting))
        for subscription in wanting:
            self._hand_over(subscription, note, pos, about, wanted)

    async def _about(self, session_id: str) -> About:
        """The session; nothing where it was deleted."""
        views = await self._hub.list(RowFilter(id=session_id, limit=1))
        return About(views[0].title or views[0].agent, views[0].last_text, views[0].cwd) if views else About("")

    def _hand_over(self, subscription: Subscription, note: PushNote, pos: int, about: About, wanted: Callable[[], bool]) -> None:
        scope = self._scope_of(subscription.token_id)
        if scope is not None:
            self._progress.start(pos)
            self._sender.send(subscription, note, payload_of(note, about, scope), wanted, lambda: self._on_sent(note, pos))

    def _on_sent(self, note: PushNote, pos: int) -> None:
        self._progress.end(pos)
        if note.resolves:
            self._shown.drop(note.ask)

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
