"""A session's committed entries for any number of readers: the tail in memory, the journal behind it.

Rule 1: a reader is a position. The feed keeps nothing per reader but the future it waits on, or the call that it follows by.
Rule 2: only what is committed is here, so nobody sees what a crash could take back.
Rule 3: what a reader writes is its own business: it brings an encoder. What one encoder made of the entries behind a position is
made once, for everybody who stands there.
Rule 4: who is called is called within bounds (call_time.py): who is not come to goes on by itself.
Rule 5: the tail is at most TAIL_ENTRIES or TAIL_BYTES per session and HUB_BYTES per hub; older entries come from the journal.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from time import perf_counter

from trunkline.errors import HubStopping, StorageError
from trunkline.feeds.call_time import MOST_S, NOTED_S, CallTime
from trunkline.journal.base import Entry, EntryReads

TAIL_ENTRIES = 2_000
TAIL_BYTES = 1 << 20
HUB_BYTES = 64 << 20
WRITE_BYTES = 256 << 10
"""How much one wake-up hands to one reader: large enough to amortise a write, small enough to stay fair."""

SLICE_BYTES = 64 << 10
"""The same for a reader of which every message waits for the one before: what it can keep from being freed while it stalls."""

CHARGED_AT_ONCE = 8 << 10
"""A tail's growth is accounted for in steps of this many bytes: once per chunk would cost more than it is worth."""

_Batch = tuple[list[Entry], int]
"""Entries that were committed together, and their size in bytes."""

SHARED_WRITES = 8
"""Positions whose bytes are kept between two commits; live readers stand at one or two."""
SHARED_BYTES = 512 << 10
"""And how many bytes of them; a replay, which has most, seldom has company."""

Write = tuple[bytes, int]
"""What one write sends, and the position behind it."""
Encoder = Callable[[Iterator[Entry], int], Write]
"""Makes one write of the entries behind a position; it need not take all of them."""


class TailBudget:
    """Memory that all tails of a hub share. Over the limit, the feed that was quiet longest gives up its tail."""

    def __init__(self, limit: int = HUB_BYTES) -> None:
        self._limit = limit
        self._used = 0
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self.calls = CallTime()
        """What they share as well: the time for which their readers are called."""

    def charge(self, feed: Feed, change: int) -> None:
        """Account for ``change`` bytes of ``feed``, which was active just now."""
        self._used += change
        self._feeds[feed.session_id] = feed
        self._feeds.move_to_end(feed.session_id)
        while self._used > self._limit and len(self._feeds) > 1:
            _, quiet = self._feeds.popitem(last=False)
            self._used -= quiet.forget_tail()

    def release(self, feed: Feed) -> None:
        """The feed is going away."""
        self._used -= feed.forget_tail()
        self._feeds.pop(feed.session_id, None)


class Feed:
    """Committed entries of one session, stored and live behind one API."""

    def __init__(self, session_id: str, journal: EntryReads, last_seq: int, budget: TailBudget) -> None:
        self.session_id = session_id
        self.last_seq = last_seq
        self.closed = False
        self._journal = journal
        self._budget = budget
        self._tail: deque[_Batch] = deque()
        self._tail_bytes = 0
        self._charged = 0
        self._tail_entries = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._followers: dict[Callable[[], None], Callable[[], None]] = {}
        """Readers at the end that are called on the spot: a task to wake up would cost more than what it writes. Each with how it
        is told to go on by itself."""
        self._is_held = False
        self._shared: dict[tuple[Encoder, int], Write] = {}
        """What readers share until the next commit, by their encoder and position."""

    @property
    def waiting(self) -> int:
        """How many readers stand at the end."""
        return sum(not waiter.done() for waiter in self._waiters) + len(self._followers)

    def follow(self, on_committed: Callable[[], None], go_on: Callable[[], None]) -> None:
        """Call this after each commit, and at the feed's end, until ``unfollow``; or ``go_on``, where others took so long that
        the reader has to go on by itself. They must not raise, nor wait."""
        self._followers[on_committed] = go_on

    def unfollow(self, on_committed: Callable[[], None]) -> None:
        """Call it no more."""
        self._followers.pop(on_committed, None)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Whoever is called on the spot is called at the end of this: what is done within must not wait for their connections."""
        self.hold()
        try:
            yield
        finally:
            self.let_go()

    def hold(self) -> None:
        """``held`` begins. (By itself for whoever does it with each prompt: a generator as a context is six calls more.)"""
        self._is_held = True

    def let_go(self) -> None:
        """``held`` ends."""
        self._is_held = False
        self._call_followers()

    def let_go_soon(self) -> None:
        """``held`` ends: who is called gets what was held with the next commit, in one write, or else in the loop's next turn."""
        self._is_held = False
        asyncio.get_running_loop().call_soon(self._call_followers)

    def committed(self, entries: list[Entry], size: int) -> None:
        """Take entries that the journal has, ``size`` bytes in all, and wake everybody who waits."""
        self._tail.append((entries, size))
        self._tail_bytes += size
        self._tail_entries += len(entries)
        if self._tail_bytes > TAIL_BYTES or self._tail_entries > TAIL_ENTRIES:
            self._drop_old()
        self.last_seq = entries[-1].seq
        self._shared.clear()
        change = self._tail_bytes - self._charged
        if change > CHARGED_AT_ONCE or change < 0:
            self._charged += change
            self._budget.charge(self, change)
        if self._followers and not self._is_held:
            calls = self._budget.calls
            if len(self._followers) > 1 or calls.left_s < MOST_S:
                self._call_followers()
            else:  # as nearly always, and once per chunk a call more is noticed
                began = perf_counter()
                [on_committed] = self._followers
                on_committed()
                if perf_counter() - began > NOTED_S:
                    calls.end(began + calls.left_s)
        if self._waiters:
            self._wake_waiters()

    def close(self) -> None:
        """No more entries will come: every reader ends."""
        self.closed = True
        self._budget.release(self)
        if not self._is_held:
            self._call_followers()
        self._wake_waiters()

    def forget(self) -> None:
        """The session leaves memory; nobody reads it now. Whoever comes next gets a new feed."""
        self._budget.release(self)

    def forget_tail(self) -> int:
        """Drop the tail; returns the bytes that it was charged for. Readers go on from the journal."""
        held = self._charged
        self._tail.clear()
        self._tail_bytes = self._tail_entries = self._charged = 0
        self._shared.clear()
        return held

    async def wait(self, after: int) -> bool:
        """Return when there is an entry after ``after``; False where no more will come."""
        if self.last_seq <= after and not self.closed:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return self.last_seq > after

    async def has(self, seq: int) -> bool:
        """Whether the feed has come as far as ``seq``. One that hears of entries from elsewhere may wait a moment for it."""
        return self.last_seq >= seq

    async def read(self, *, after: int, before: int | None = None, limit: int = 1_000,
                   max_bytes: int = WRITE_BYTES) -> list[Entry]:
        """Entries with after < seq < before, the oldest first, up to the limits."""
        newest = self.last_seq
        if after >= newest:
            return []
        kept = self._kept_after(after)
        if kept is None:
            upper = newest + 1 if before is None else min(before, newest + 1)
            return await self._stored(self._journal.read(
                self.session_id, after=after, before=upper, limit=limit, max_bytes=max_bytes))
        return _fitting(kept, before, limit, max_bytes)

    async def read_back(self, *, before: int, limit: int = 1_000, max_bytes: int = WRITE_BYTES) -> list[Entry]:
        """The last entries with seq < before, in seq order, up to the limits."""
        upper = min(before, self.last_seq + 1)
        if upper <= 1:
            return []
        return await self._stored(self._journal.read(
            self.session_id, before=upper, limit=limit, max_bytes=max_bytes, tail=True))

    async def _stored(self, reading: Awaitable[list[Entry]]) -> list[Entry]:
        """What the journal has, or HubStopping when it has closed under a reader that lagged behind."""
        try:
            return await reading
        except (StorageError, RuntimeError) as error:  # RuntimeError: the journal's threads have ended
            if self.closed:
                raise HubStopping("the hub is stopping") from error
            raise

    def kept(self, after: int, max_bytes: int = WRITE_BYTES) -> list[Entry] | None:
        """``read`` from the tail; None where that does not reach back so far."""
        kept = self._kept_after(after)
        return None if kept is None else _fitting(kept, None, TAIL_ENTRIES, max_bytes)

    def next_write(self, after: int, encode: Encoder, shares: bool) -> Write | None:
        """The next write behind ``after``; None where the tail does not reach back so far. ``shares``: others have the same
        encoder."""
        if shares and len(self._followers) > 1:
            # What the reader before got, nearly always: of many who stand at the end each comes by here.
            found = self._shared.get((encode, after))
            return found if found is not None else self.shared(after, encode)
        if self._tail and (newest := self._tail[-1][0])[0].seq == after + 1:
            return encode(iter(newest), after)  # as nearly always
        kept = self._kept_after(after)
        return None if kept is None else encode(kept, after)

    def shared(self, after: int, encode: Encoder) -> Write | None:
        """The next write of every reader with this encoder behind ``after``; None where the tail does not reach back so far."""
        found = self._shared.get((encode, after))
        if found is not None:
            return found
        kept = self._kept_after(after)
        if kept is None:
            return None
        found = encode(kept, after)
        if self._shared and self._shares_enough():
            self._shared.clear()
        self._shared[encode, after] = found
        return found

    def _shares_enough(self) -> bool:
        return len(self._shared) >= SHARED_WRITES or sum([len(data) for data, _ in self._shared.values()]) > SHARED_BYTES

    def _kept_after(self, after: int) -> Iterator[Entry] | None:
        """The tail's entries after a position; None where the tail does not reach back so far."""
        if not self._tail:
            return None
        newest, _ = self._tail[-1]
        if newest[0].seq == after + 1:
            return iter(newest)
        if after + 1 < self._tail[0][0][0].seq:
            return None
        found: list[list[Entry]] = []
        for entries, _ in reversed(self._tail):
            first = entries[0].seq
            if first <= after:
                # Seqs are consecutive, so the place within a batch is arithmetic.
                found.append(entries[after + 1 - first:])
                break
            found.append(entries)
        found.reverse()
        return chain.from_iterable(found)

    def _drop_old(self) -> None:
        """Drop old batches, whole, until the limits are kept: the cost per entry stays nothing."""
        tail = self._tail
        while len(tail) > 1 and (self._tail_bytes > TAIL_BYTES or self._tail_entries > TAIL_ENTRIES):
            old, size = tail.popleft()
            self._tail_bytes -= size
            self._tail_entries -= len(old)
        if self._tail_bytes > TAIL_BYTES or self._tail_entries > TAIL_ENTRIES:
            self._cut(tail[0][0])

    def _cut(self, entries: list[Entry]) -> None:
        """One batch alone is over the limits: keep its end, at least the newest entry."""
        keep, size = len(entries), 0
        while keep > 0 and len(entries) - keep < TAIL_ENTRIES and (not size or size < TAIL_BYTES):
            keep -= 1
            size += entries[keep].size()
        if size > TAIL_BYTES and keep < len(entries) - 1:
            size -= entries[keep].size()
            keep += 1
        self._tail[0] = (entries[keep:], size)
        self._tail_bytes, self._tail_entries = size, len(entries) - keep

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _call_followers(self) -> None:
        if not self._followers:
            return
        calls = self._budget.calls
        until = perf_counter() + calls.left_s  # not by ``begin``: once per chunk a call more is noticed, here and below
        for on_committed, go_on in tuple(self._followers.items()):
            if perf_counter() < until:
                on_committed()
            else:
                go_on()
        if until - perf_counter() < calls.left_s - NOTED_S:
            calls.end(until)


def _fitting(kept: Iterator[Entry], before: int | None, limit: int, max_bytes: int) -> list[Entry]:
    found: list[Entry] = []
    size = 0
    for entry in islice(kept, limit):
        if before is not None and entry.seq >= before:
            break
        size += entry.size()
        if found and size > max_bytes:
            break
        found.append(entry)
    return found
