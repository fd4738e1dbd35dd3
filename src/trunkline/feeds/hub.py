"""The committed entries of all sessions, in the order of their commits, for any number of readers.

Rule 1: a reader is a position, here a ``pos``. Nothing is kept per reader but the future it waits on, or the call that it follows
by: who follows some sessions is called for these, and for asks.
Rule 2: while nobody follows, a commit costs one comparison. The tail is kept only for a while after somebody waited, and it is
short: who lags behind reads from the journal.
Rule 3: what is here, every session's own feed has already.
Rule 4: who is called is called within bounds (call_time.py): who is not come to goes on by itself.
Rule 5: what several readers write of one group is made once, and kept until the next group comes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol

from trunkline.dialects.context.filters import parse_types
from trunkline.errors import HubStopping, StorageError
from trunkline.feeds.call_time import CallTime
from trunkline.journal.base import Entry, EntryReads
from trunkline.journal.deleted_ids import KEPT_IDS

KEPT_GROUPS = 256
"""Groups in the tail; also how many commits the tail is kept for when nobody has waited meanwhile."""
TAIL_BYTES = 1 << 20
PAGE_BYTES = 256 << 10
HEAD_BYTES = 400
"""Within this an event's type stands: seq, session id and time are before it."""

SHARED_BYTES = 512 << 10
"""What is kept of what readers share."""

SessionEntries = dict[str, list[Entry]]
Placed = tuple[str, Entry]
"""An entry and its session."""


ASKS = parse_types("approval:,interaction:question")
"""The types of events in which somebody is asked, or which say how an approval ended."""
_ANSWERED = b'"eventName":"question_resolved"'


def is_ask(event: bytes) -> bool:
    """Whether an event asks somebody for an approval or an answer, or says what came of that."""
    return ASKS.matches_encoded(event) or event.find(_ANSWERED, 0, HEAD_BYTES) >= 0


class HubGroup:
    """What one commit brought: each session's entries, by their first pos. Sessions share no stretch of pos within a group."""

    __slots__ = ("_asks", "first_pos", "last_pos", "parts", "size")

    def __init__(self, parts: SessionEntries) -> None:
        self.parts = [part for part in parts.items() if part[1]]
        if len(self.parts) > 1:
            self.parts.sort(key=lambda part: part[1][0].pos)
        self.first_pos = self.parts[0][1][0].pos
        self.last_pos = self.parts[-1][1][-1].pos
        self.size = sum([entry.size() for _, entries in self.parts for entry in entries])
        self._asks: list[Placed] | None = None

    def asks(self) -> list[Placed]:
        """The entries in which somebody is asked, or which say what came of it; looked for once, for all readers."""
        if self._asks is None:
            self._asks = [placed for placed in self.entries() if is_ask(placed[1].event)]
        return self._asks

    def entries(self) -> Iterator[Placed]:
        """Every entry with its session, in pos order."""
        for session_id, entries in self.parts:
            for entry in entries:
                yield session_id, entry


class HubFollower(Protocol):
    """A reader at the end that is called on the spot. It must not raise, nor wait."""

    def on_group(self, group: HubGroup) -> None:
        """This was committed. What it was not called for was none of its business."""

    def fall_behind(self, group: HubGroup) -> None:
        """This was committed, and others took so long that the reader has to get it by itself."""

    def stop(self) -> None:
        """Something that was committed is gone, or no more will come: look again."""


class HubFeed:
    """Committed entries of the whole hub, stored and live behind one API."""

    def __init__(self, journal: EntryReads) -> None:
        self.last_pos = 0
        """The newest committed pos that readers may have."""
        self.closed = False
        self.forgotten = 0
        """How often something that was committed has gone."""
        self.gone_count = 0
        """How many sessions were deleted since the hub started."""
        self._gone: deque[str] = deque(maxlen=KEPT_IDS)
        self._journal = journal
        self._tail: deque[HubGroup] = deque()
        self._tail_bytes = 0
        self._floor = 0
        """What comes behind this is in the tail."""
        self._kept_for = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._crowded = KEPT_GROUPS
        """With so many waiters it is looked for those who have left."""
        self._followers: dict[HubFollower, tuple[str, ...] | None] = {}
        """Who is called, for which sessions; None for all."""
        self._wide: dict[HubFollower, None] = {}
        self._by_session: dict[str, dict[HubFollower, None]] = {}
        self._held: list[HubGroup] | None = None
        """Groups that nobody was called for yet, while that is held up."""
        self._shared: dict[Hashable, bytes] = {}
        self._shared_bytes = 0
        self._calls = CallTime()

    def start(self, last_pos: int) -> None:
        """The journal is open, and ends there."""
        self.last_pos = last_pos

    def continues(self, after: int) -> bool:
        """Whether a reader who has been at ``after`` can go on from there."""
        return after <= self.last_pos

    async def reaches(self, after: int) -> bool:
        """The same, where what is heard of from elsewhere may wait a moment for it."""
        return self.continues(after)

    @property
    def waiting(self) -> int:
        """How many readers stand at the end."""
        return sum(not waiter.done() for waiter in self._waiters) + len(self._followers)

    def committed(self, parts: SessionEntries) -> None:
        """Take what a commit has stored and wake everybody who waits."""
        before = self.last_pos
        for entries in parts.values():
            if entries and entries[-1].pos > self.last_pos:
                self.last_pos = entries[-1].pos
        if self._kept_for:
            group = self._keep(parts, before)
            if group is not None and self._followers:
                self._call(group)
            self._wake()

    def forget_session(self, session_id: str) -> None:
        """A session was deleted: readers are woken, and look again."""
        self.gone_count += 1
        self._gone.append(session_id)
        self.forget_tail()

    def gone_after(self, count: int) -> list[str]:
        """The sessions that were deleted after the first ``count``, in that order; only the newest, where those are very many."""
        fresh = min(self.gone_count - count, len(self._gone))
        return list(self._gone)[-fresh:] if fresh else []

    def forget_tail(self) -> None:
        """Something that was committed is gone (a session was deleted): readers look again, into the journal."""
        self.forgotten += 1
        self._drop_tail()
        for follower in tuple(self._followers):
            follower.stop()
        self._wake()

    def close(self) -> None:
        """No more entries will come: every reader ends."""
        self.closed = True
        self.forget_tail()

    def keep_tail(self) -> None:
        """Somebody reads along: keep the tail for a while."""
        self._kept_for = KEPT_GROUPS

    def follow(self, follower: HubFollower, sessions: tuple[str, ...] | None = None) -> None:
        """Call it on the spot with each group that has something of these sessions, or of any, and with each that has an ask,
        until ``unfollow``. It stands at the end."""
        self.keep_tail()
        self._followers[follower] = sessions
        if sessions is None:
            self._wide[follower] = None
        for session_id in sessions or ():
            self._by_session.setdefault(session_id, {})[follower] = None

    def unfollow(self, follower: HubFollower) -> None:
        """Call it no more."""
        for session_id in self._followers.pop(follower, None) or ():
            mine = self._by_session[session_id]
            mine.pop(follower, None)
            if not mine:
                del self._by_session[session_id]
        self._wide.pop(follower, None)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Whoever is called on the spot is called at the end of this: what is done within must not wait for their connections."""
        self.hold()
        try:
            yield
        finally:
            self.let_go()

    def hold(self) -> None:
        """``held`` begins."""
        self._held = []

    def let_go(self) -> None:
        """``held`` ends."""
        held, self._held = self._held, None
        for group in held or ():
            self._call(group)  # in order, so that who stops at one of them is not called for the next

    def shared(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What ``make`` makes of the newest group, for everybody with the same key."""
        found = self._shared.get(key)
        if found is None:
            found = make()
            if self._shared_bytes < SHARED_BYTES:
                self._shared[key] = found
                self._shared_bytes += len(found)
        return found

    async def wait(self, after: int) -> None:
        """Return when there is an entry after ``after``, or when there is another reason to look (see ``forget_tail``)."""
        await self.watch(after)

    def watch(self, after: int) -> asyncio.Future[None]:
        """``wait`` as a future, which whoever waits may also resolve for reasons of its own."""
        self.keep_tail()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.last_pos > after or self.closed:
            waiter.set_result(None)
            return waiter
        if len(self._waiters) >= self._crowded:
            self._waiters = [each for each in self._waiters if not each.done()]
            self._crowded = max(KEPT_GROUPS, 2 * len(self._waiters))
        self._waiters.append(waiter)
        return waiter

    async def read(self, *, after: int, limit: int = 1_000, max_bytes: int = PAGE_BYTES) -> list[Placed]:
        """(session id, entry) with pos > after, in pos order, up to the limits; from the tail where that reaches back so far."""
        if after >= self.last_pos:
            return []
        groups = self._groups(after)
        if groups is not None:
            return _fitting(groups, after, limit, max_bytes)
        newest = self.last_pos
        try:
            found = await self._journal.read_hub(after=after, limit=limit, max_bytes=max_bytes)
        except (StorageError, RuntimeError) as error:  # RuntimeError: the journal's threads have ended
            if self.closed:
                raise HubStopping("the hub is stopping") from error
            raise
        # A commit that its sessions do not have yet must not be seen here first.
        return found if not found or found[-1][1].pos <= newest else [item for item in found if item[1].pos <= newest]

    def group_after(self, after: int) -> HubGroup | None:
        """The tail's next group after ``after``; None where the tail does not reach back so far, or there is none."""
        groups = self._groups(after)
        return groups[0] if groups else None

    def _groups(self, after: int) -> list[HubGroup] | None:
        """The tail's groups that hold something after ``after``; None where the tail does not reach back so far."""
        tail = self._tail
        if not tail or after < self._floor:
            return None
        found: list[HubGroup] = []
        for group in reversed(tail):
            if group.last_pos <= after:
                break
            found.append(group)
        found.reverse()
        return found

    def _keep(self, parts: SessionEntries, before: int) -> HubGroup | None:
        self._kept_for = max(self._kept_for - 1, 1 if self._waiters or self._followers else 0)
        if not self._kept_for:
            self._drop_tail()  # nobody came back: from here on commits cost nothing again
            return None
        if not any(parts.values()):
            return None
        group = HubGroup(parts)
        self._forget_shared()
        if not self._tail:
            self._floor = before
        self._tail.append(group)
        self._tail_bytes += group.size
        while len(self._tail) > KEPT_GROUPS or (self._tail_bytes > TAIL_BYTES and len(self._tail) > 1):
            oldest = self._tail.popleft()
            self._tail_bytes -= oldest.size
            self._floor = oldest.last_pos
        return group

    def _drop_tail(self) -> None:
        self._tail.clear()
        self._tail_bytes = 0
        self._forget_shared()

    def _forget_shared(self) -> None:
        self._shared.clear()
        self._shared_bytes = 0

    def _call(self, group: HubGroup) -> None:
        if self._held is not None:
            self._held.append(group)
            return
        until = self._calls.begin()
        for follower in self._concerned(group):
            if perf_counter() < until:
                follower.on_group(group)
            else:
                follower.fall_behind(group)
        self._calls.end(until)

    def _concerned(self, group: HubGroup) -> Iterable[HubFollower]:
        """Whose business a group is, each once."""
        if len(self._wide) == len(self._followers) or group.asks():
            return tuple(self._followers)
        found = dict(self._wide)
        for session_id, _ in group.parts:
            found |= self._by_session.get(session_id, {})
        return found

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


def _fitting(groups: list[HubGroup], after: int, limit: int, max_bytes: int) -> list[Placed]:
    found: list[Placed] = []
    size = 0
    for group in groups:
        for placed in group.entries():
            if placed[1].pos <= after:
                continue
            size += placed[1].size()
            if len(found) == limit or (found and size > max_bytes):
                return found
            found.append(placed)
    return found
