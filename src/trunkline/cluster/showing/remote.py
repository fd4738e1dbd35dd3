"""A session of another node, as this node's readers have it: its entries from the stream, its state from checkpoint and steps.

Rule 1: subscribe, read up, join (``reading/follow.py``): readers get each entry once, in order, whatever way it came.
Rule 2: state and entries go together. What was handed to the feed is in the fold, and nothing else is.
Rule 3: while nobody waits it hears nothing. Whoever waits for news wakes it, and what came meanwhile is read.
Rule 4: a checkpoint of an owner whose rest was put aside counts up to where the next owner took over, and not beyond.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from trunkline.cluster.checkpoints import Checkpoint, read_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.directory import Directory, SessionPlace
from trunkline.cluster.reading.follow import SessionFollower
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.wire import END, Mark
from trunkline.dialects.outside import BROKEN
from trunkline.errors import (
    ClusterDenied,
    ClusterUnavailable,
    NodeAway,
    NodeSilent,
    SessionNotFound,
    SessionUnreadable,
    TrunklineError,
)
from trunkline.feeds.session import Feed, TailBudget
from trunkline.journal.base import Entry
from trunkline.session.commands.slash import offered_commands
from trunkline.session.fold import Fold, SessionView, restore, view_of
from trunkline.session.fold.state import with_steps
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

OPEN_WITHIN_S: Final = 30.0
"""A turn of a hundred thousand entries is read in half of it."""
BEHIND_S: Final = 2.0
"""How long a reader waits for an entry that it knows of and the stream does not have yet."""
STEPS_KEPT: Final = 512
STEPS_BYTES: Final = 256 << 10
"""Steps beside the state before they are put into it: that costs as much as all of the state."""


class RemoteFeed(Feed):
    """A feed that is fed from elsewhere. ``wanted`` is called when somebody waits for more."""

    def __init__(self, session_id: str, reader: StreamReader, budget: TailBudget, wanted: Callable[[], None],
                 ends_before: Callable[[int], Awaitable[bool]]) -> None:
        """``ends_before``: whether it is sure that the session never comes as far as a seq."""
        super().__init__(session_id, reader, 0, budget)
        self._wanted = wanted
        self._ends_before = ends_before

    def follow(self, on_committed: Callable[[], None], go_on: Callable[[], None]) -> None:
        """As ``Feed.follow``."""
        self._wanted()
        super().follow(on_committed, go_on)

    async def wait(self, after: int) -> bool:
        """As ``Feed.wait``."""
        self._wanted()
        return await super().wait(after)

    async def has(self, seq: int) -> bool:
        """Whether it has come as far, or may yet: a reader who was shown it at another node waits here for what follows, as long
        as nobody knows better. A gateway that is cut off, or a stream without a leader, must not tell it to forget that."""
        try:
            await self.reach(seq, BEHIND_S)
        except TimeoutError:
            return not await self._ends_before(seq)
        return self.last_seq >= seq

    async def reach(self, seq: int, within_s: float) -> None:
        """Wait until it has come as far, or has ended; TimeoutError."""
        async with asyncio.timeout(within_s):
            while self.last_seq < seq and await self.wait(self.last_seq):
                continue

    def take(self, entries: list[Entry]) -> None:
        """Entries that come next. A gap stands for several: those are read from the stream, and not from memory."""
        first, last = entries[0].seq, entries[-1].seq
        if first != self.last_seq + 1 or last - first + 1 != len(entries):
            self._budget.release(self)
            entries = entries[-1:]
        self.committed(entries, sum([entry.size() for entry in entries]))


class RemoteSession:
    """One session of another node. It is a ``ShownSession``; ``open`` comes first."""

    def __init__(self, session_id: str, connection: Connection, reader: StreamReader, directory: Directory, budget: TailBudget,
                 mark: Callable[[SessionView], None], has_shipped: Callable[[str], bool] = lambda node: True) -> None:
        """``mark`` writes into a view where the session is, and whether that node is there; ``has_shipped`` says of a node
        whether all that it has is in the stream, as it said itself a moment ago."""
        self.id = session_id
        self.lane = Lane()
        self.feed = RemoteFeed(session_id, reader, budget, self.wake, self._ends_before)
        self.used_at = 0.0
        """When somebody last waited for it, by the loop's clock."""
        self.epoch = 0
        """The highest that a claim was heard of."""
        self._connection, self._reader, self._directory = connection, reader, directory
        self._mark_view, self._has_shipped = mark, has_shipped
        self._state = b"{}"
        self._steps: list[bytes] = []
        self._steps_bytes = 0
        self._fold: Fold | None = None
        self._follower: SessionFollower | None = None
        self._stopped = False
        self._pool = ""
        self._changing: asyncio.Task[None] | None = None

    @property
    def is_awake(self) -> bool:
        """Whether it hears what happens."""
        return self._follower is not None and not self.feed.closed

    @property
    def fold(self) -> Fold:
        """Its state after the last entry that readers can have."""
        if self._fold is None:
            self._settle()
            try:
                made = restore(self._state)
            except SessionUnreadable:  # the first entries are not here yet, or cannot be read
                made = _known_of(self._directory.place(self.id))
            made.seq = self.feed.last_seq
            self._fold = made
        return self._fold

    def view(self) -> SessionView:
        """Its state as clients see it."""
        view = view_of(self.fold)
        view.last_seq = self.feed.last_seq
        self._mark_view(view)
        return view

    async def snapshot(self) -> SessionView:
        """The same: what is not in the stream is not in it either. Of a claim that was heard the row is waited for: it comes by
        another way, and names the new owner."""
        place = self._directory.places.get(self.id)
        if place is not None and place.epoch < self.epoch:
            with suppress(ClusterUnavailable, SessionNotFound):
                await self._directory.wait_for(self.id, self.epoch)
        return self.view()

    async def commands(self) -> list[dict[str, Any]] | None:
        """The slash commands that its agent offers."""
        return await offered_commands(self._reader, self.fold)

    async def open(self) -> None:
        """Have it as the stream has it now. SessionNotFound where it is gone, ClusterUnavailable where it cannot be read."""
        self.used_at = asyncio.get_running_loop().time()
        place = self._directory.place(self.id)
        found = await self._reader.last(self.id)
        mark = found[0] if found is not None else Mark("", place.epoch, 0, None)
        if mark.kind == END:
            raise SessionNotFound(f"session {self.id} was deleted", details={"sessionId": self.id})
        end = mark.last or mark.after or 0
        checkpoint = await read_checkpoint(self._connection, place.pool, self.id)
        if checkpoint is not None and _counts(checkpoint, mark, end) and _is_state(checkpoint, self.id):
            self._state, self.feed.last_seq = checkpoint.body, checkpoint.seq
        await self._listen()
        try:
            await self.feed.reach(end, OPEN_WITHIN_S)
        except TimeoutError:
            await self.doze()
            raise ClusterUnavailable(f"session {self.id} could not be read from the cluster within {OPEN_WITHIN_S:g} s") from None

    async def catch_up(self) -> None:
        """Somebody asks for it who is no reader yet: read what came while nobody was. While the stream cannot be read, it is as
        it was heard of last."""
        was_awake = self.is_awake
        self.wake()
        if was_awake:
            return
        with suppress(ClusterUnavailable, NodeAway, NodeSilent, TimeoutError):
            found = await self._reader.last(self.id)
            if found is not None and found[0].kind == END:
                await self.end()
                raise SessionNotFound(f"session {self.id} was deleted", details={"sessionId": self.id})
            if found is not None:
                await self.feed.reach(found[0].last or found[0].after or 0, OPEN_WITHIN_S)

    def wake(self) -> None:
        """Somebody waits for more: hear of it."""
        self.used_at = asyncio.get_running_loop().time()
        is_over = self.feed.closed or self._stopped
        if self._follower is None and not is_over and (self._changing is None or self._changing.done()):
            self._changing = asyncio.create_task(self._listen_again())

    async def doze(self) -> None:
        """Hear no more until somebody waits."""
        follower, self._follower = self._follower, None
        if follower is not None:
            await follower.close()

    async def moved(self) -> None:
        """Its row says that it is in another pool: its entries come by another way."""
        if self._follower is not None and self._directory.pool_of(self.id) != self._pool:
            await self.doze()
            await self._listen_again()

    async def end(self) -> None:
        """It is deleted: readers end."""
        self.feed.close()
        await self.stop()

    async def stop(self) -> None:
        """This node shows nothing any more."""
        self._stopped = True
        if self._changing is not None and self._changing is not asyncio.current_task():
            self._changing.cancel()
        await self.doze()

    async def _listen_again(self) -> None:
        try:
            await self._listen()
        except TrunklineError as error:
            log.warning("session %s cannot be followed: %s", self.id, error.message)

    async def _listen(self) -> None:
        self._pool = self._directory.pool_of(self.id)
        follower = SessionFollower(self._connection, self._reader, self._pool, self.id, self.feed.last_seq,
                                   on_entries=self._take, on_mark=self._on_mark)
        self._follower = follower
        await follower.start()

    async def _ends_before(self, seq: int) -> bool:
        """Whether nobody has an entry of that number: not the owner, as far as it told, nor the stream, whose leader is asked."""
        place = self._directory.places.get(self.id)
        if place is None or place.last_seq >= seq or not self._has_shipped(place.owner):
            return False
        with suppress(ClusterDenied, ClusterUnavailable, NodeAway, NodeSilent):
            mark = await self._reader.last_for_sure(self.id)
            return mark is None or (mark.last or mark.after or 0) < seq
        return False

    def _take(self, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.step is not None:
                self._steps.append(entry.step)
                self._steps_bytes += len(entry.step)
        self._fold = None
        if len(self._steps) > STEPS_KEPT or self._steps_bytes > STEPS_BYTES:
            self._settle()
        self.feed.take(entries)

    def _settle(self) -> None:
        """Put the steps into the state."""
        steps, self._steps, self._steps_bytes = self._steps, [], 0
        if steps:
            try:
                self._state = with_steps(self._state, steps)
            except BROKEN as error:
                log.error("the state of session %s cannot be brought up to date: %s", self.id, error)

    def _on_mark(self, mark: Mark) -> None:
        self.epoch = max(self.epoch, mark.epoch)
        if mark.kind == END:
            self._changing = asyncio.create_task(self.end())


def _counts(checkpoint: Checkpoint, mark: Mark, end: int) -> bool:
    """Whether the stream has, or will have, just what a checkpoint was made of."""
    if checkpoint.epoch < mark.epoch:
        return mark.after is not None and checkpoint.seq <= mark.after
    return checkpoint.seq <= end


def _is_state(checkpoint: Checkpoint, session_id: str) -> bool:
    """Whether it can be read: else the state is made of the session's entries, as without one."""
    try:
        restore(checkpoint.body)
    except SessionUnreadable as error:
        log.error("the checkpoint of session %s is none: %s", session_id, error.message)
        return False
    return True


def _known_of(place: SessionPlace) -> Fold:
    return Fold(session_id=place.id, agent=place.agent, cwd=place.cwd, title=place.title, status=place.status,
                created_at=place.created_at, updated_at=place.updated_at)
