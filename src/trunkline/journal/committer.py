"""Group commit before delivery: what sessions submit becomes one transaction, and reaches readers only after it.

Rule 1: ``submit`` never waits. A group is committed on the spot as long as commits take no more than a share of the loop's time
        (``_Allowance``); beyond it what is submitted is gathered until that is so again, so that the dearer commits are, the more
        each of them carries. At most ``linger_s``: then the group is committed, whatever it costs.
        Streamed text that has used up its share is gathered for GATHER_S at a time, as long as that brings enough together
        (``_Gathering``): a commit for each piece of it costs the loop half as much again, and a busy one needs that elsewhere.
        What changes a session's state (a prompt, a decision, a tool call, a turn's end) is rare beside streamed text and somebody
        waits for it: it has an allowance of its own, which only a flood of such changes can use up.
Rule 2: one group at a time. What is submitted meanwhile forms the next group.
Rule 3: a session gets its entries back once per group, in seq order, only after the commit; then the waiters wake.
Rule 4: a group that cannot be stored is handed back to its sessions with the reason; the committer goes on.
Rule 5: a small group is committed on the loop: the one thing that the hub waits for there, because a thread costs more than it
        (docs/architecture.md, "Nothing waits on the loop"). A large group is not, and after a commit that was slow no group is,
        until so many in a row were quick in the journal's thread. Groups stay in order: there is one at a time either way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from trunkline.errors import HubStopping, StorageError
from trunkline.journal.base import Entry, Group, Journal, SessionRow
from trunkline.journal.run_delay import MARK_S, RunDelay

STREAMS_SHARE = 0.15
CHANGES_SHARE = 0.35
"""How much of the loop's time commits may take: those of text that grows, and those of changes that somebody waits for."""

ALONE_S = 0.00004
"""What a commit costs the loop besides itself when it carries one piece of text alone: a wake-up, a write to a reader who has to
be woken, code that others have pushed out of the processor's caches. Measured with 200 sessions at 20 pieces a second: 118 us
for each with a commit of its own, 79 us where eight share one."""

GATHER_S = 0.002
WORTH_GATHERING = 6
"""So many pieces of text within it make gathering worth their wait; with fewer they are committed on the spot again."""

SOON_S = 0.0005
"""A wait that is shorter is over at the end of the loop's iteration: no timer is as fine."""

SAVED_S = 0.002
"""What a quiet while saves up of it: some fifty commits at once."""

LARGE_GROUP_BYTES = 1 << 20
"""A group over this is written off the loop's thread. Measured: 3 ms of work for this much in entries of 1 KiB, 11 ms in
entries of 100 bytes; four times as much took 43 ms, and 50 ms is what a callback may take."""

ALONE_BYTES = 64 << 10
"""What is larger is no record of a log, and takes so long that its way is nothing beside it."""

SLOW_COMMIT_S = 0.02
"""A commit on the loop that took longer says that the disk is slow, or somebody holds it: the next ones go to the thread. Time
in which the thread was ready and got no processor does not count: there a second thread that wants one makes it worse."""

LONG_COMMIT_S = 0.0002
"""A commit on the loop that took longer may have been held up by others who wanted the processor: only then that is looked up."""

QUICK_COMMITS = 8
"""So many commits in the thread that took less, one after the other, say that it is quick again: at most one commit in nine
can be slow on the loop, however the disk wavers."""


RowSource = Callable[[], SessionRow]
"""Makes a session's row as it is now."""


class Sink(Protocol):
    """The session's end: what becomes of the entries it submitted."""

    def committed(self, entries: list[Entry], size: int) -> None:
        """These entries, ``size`` bytes in all, are stored, with their ``pos``; readers may see them."""

    def failed(self, error: StorageError, entries: list[Entry]) -> None:
        """Nothing of these is stored: all that the session had submitted and not got back yet, in order."""


class _Batch:
    """A group while it is filled and written, with those who wait for it."""

    __slots__ = ("bytes", "changes", "group", "pieces", "rows", "waiters")

    def __init__(self) -> None:
        self.group = Group({}, {}, {})
        self.bytes = 0
        self.pieces = 0
        """How often something was submitted for it."""
        self.changes: set[str] = set()
        """The sessions whose state it changes, beyond growing text."""
        self.rows: dict[str, RowSource] = {}
        self.waiters: dict[str, list[asyncio.Future[None]]] = {}

    @classmethod
    def of(cls, session_id: str, entries: list[Entry], size: int) -> _Batch:
        """What was to be a group."""
        batch = cls()
        batch.group.entries[session_id], batch.group.sizes[session_id], batch.bytes = entries, size, size
        return batch

    def holds(self, session_id: str) -> bool:
        return session_id in self.group.entries or session_id in self.rows

    def wake(self, session_id: str, error: StorageError | None) -> None:
        for waiter in self.waiters.pop(session_id, ()):
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)


class _Allowance:
    """Time that commits may take: a share of all time, saved up to ``saved_s``. What one takes beyond that is paid off by
    waiting."""

    __slots__ = ("_at", "_saved_s", "_share", "was_left_s")

    def __init__(self, share: float, saved_s: float) -> None:
        self._share = share
        self._saved_s = saved_s
        self.was_left_s = saved_s
        """What there was behind the last commit."""
        self._at = float("-inf")

    def left_s(self, now: float) -> float:
        """What there is now; below nothing, what is still to be paid off."""
        return min(self._saved_s, self.was_left_s + (now - self._at) * self._share)

    def wait_s(self, left_s: float) -> float:
        """How long it takes to pay that off."""
        return -left_s / self._share

    def spend(self, took_s: float, now: float) -> None:
        """A commit took so long, until now."""
        self.was_left_s = min(self._saved_s, self.was_left_s + (now - self._at) * self._share) - took_s
        self._at = now


class _Gathering:
    """Whether streamed text is gathered: from when its allowance is used up, until groups carry too little to wait for."""

    __slots__ = ("_carried", "on")

    def __init__(self) -> None:
        self.on = False
        self._carried = 0.0
        """What groups carried, on average over some eight of them."""

    def begin(self) -> None:
        if not self.on:
            self.on = True
            self._carried = 2.0 * WORTH_GATHERING

    def gathered(self, pieces: int) -> None:
        """A group that waited its time carried so many pieces."""
        self._carried += (pieces - self._carried) / 8
        if self._carried < WORTH_GATHERING:
            self.on = False


class Committer:
    """Gathers entries of all sessions into groups, commits them, and hands them back to each session.

    ``high_water_bytes`` of submitted and uncommitted entries make it ``congested``; ``on_drained`` is called when it has
    fallen to half of that again.
    """

    def __init__(self, journal: Journal, *, linger_s: float = 0.005, saved_s: float = SAVED_S,
                 high_water_bytes: int = 8 << 20, on_drained: Callable[[], None] | None = None,
                 on_committed: Callable[[dict[str, list[Entry]]], None] | None = None,
                 clock_s: Callable[[], float] = time.perf_counter,
                 run_delay: Callable[[], RunDelay] = RunDelay) -> None:
        self.on_drained = on_drained
        self.on_committed = on_committed
        """Called with each group's entries, after its sessions."""
        self.on_rows: Callable[[dict[str, SessionRow]], None] | None = None
        """Called with each group's rows, where it has some."""
        self._is_held = False
        self.commits = 0
        self.pending_bytes = 0
        """Bytes submitted and not committed yet."""
        self.congested = False
        self._journal = journal
        self._clock_s = clock_s
        self._quick_needed = 0
        """Quick commits in the thread that are still needed before the loop commits again; 0: it does."""
        self._run_delay = run_delay
        self._delay: RunDelay | None = None
        """Of the loop's thread."""
        self._linger_s = linger_s
        self._streams = _Allowance(STREAMS_SHARE, saved_s)
        self._changes = _Allowance(CHANGES_SHARE, saved_s)
        self._gathering = _Gathering()
        self._high_water = high_water_bytes
        self._sinks: dict[str, Sink] = {}
        self._open = _Batch()
        self._writing: _Batch | None = None
        self._writer: asyncio.Task[None] | None = None
        self._due: asyncio.Handle | None = None
        self._due_in_s = 0.0
        self._delivering = False
        """Sinks are getting their entries; what they submit meanwhile waits until all of them have."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def register(self, session_id: str, sink: Sink) -> None:
        """Name the session's end. Needed before its first ``submit``."""
        self._sinks[session_id] = sink

    def unregister(self, session_id: str) -> None:
        """The session is gone: what it still has pending is stored, and nobody gets it."""
        self._sinks.pop(session_id, None)

    def submit(self, session_id: str, entries: list[Entry], row: RowSource | None = None, size: int | None = None, *,
               changes: bool = False) -> None:
        """Add entries, and the session's row where it is to be written, to the next group.

        The list belongs to the committer from here on. ``row`` makes the row when the group is committed, so that several
        changes in one group make one. ``size`` is the sum of the entries' sizes, where the caller knows it. ``changes``: they
        change the session's state, and somebody may wait for that."""
        if self._closed:
            raise HubStopping("the hub is stopping and takes no more entries")
        batch = self._open
        batch.pieces += 1
        changes = changes or row is not None
        if changes:
            batch.changes.add(session_id)
        if entries:
            known = batch.group.entries.setdefault(session_id, entries)
            if known is not entries:
                known += entries
        if row is not None:
            batch.rows[session_id] = row
        if size is None:
            size = sum([entry.size() for entry in entries])
        batch.bytes += size
        sizes = batch.group.sizes
        sizes[session_id] = sizes.get(session_id, 0) + size
        self.pending_bytes += size
        if self.pending_bytes > self._high_water:
            self.congested = True
        if self._writer is None and (self._due is None or changes):
            self._schedule()

    def submit_alone(self, session_id: str, entries: list[Entry], size: int, *, changes: bool = False) -> None:
        """``submit`` of few entries without a row. Where nothing else is pending and there is time for a commit, it is one
        without a group: hardly two of a hub's sessions say something at once, and each word would make a group of its own."""
        allowance, started = self._changes if changes else self._streams, self._clock_s()
        if self._due is not None or self._writer is not None or self._delivering or self._quick_needed or self._closed \
                or (self._gathering.on and not changes) or size > ALONE_BYTES \
                or (allowance.was_left_s <= 0 and allowance.left_s(started) <= 0):  # there cannot be less than there was
            self.submit(session_id, entries, None, size, changes=changes)
            return
        try:
            done = self._commit_alone_here(session_id, entries, started, allowance)
        except Exception as error:  # as in ``_commit``
            self.pending_bytes += size
            self._hand_back(_Batch.of(session_id, entries, size), error)
            return
        if done:
            self._deliver_alone(session_id, entries, size)
        else:  # the journal would have to wait
            self.submit(session_id, entries, None, size, changes=changes)

    def hold(self, held: bool) -> None:
        """Be congested whatever is pending, until this is let go again: something behind the journal cannot take more."""
        self._is_held = held
        if held:
            self.congested = True
        else:
            self._go_on()

    def is_pending(self, session_id: str) -> bool:
        """Whether something that the session has submitted is not stored yet."""
        return self._open.holds(session_id) or (self._writing is not None and self._writing.holds(session_id))

    async def committed(self, session_id: str) -> None:
        """Wait until all that the session has submitted so far is stored; raises what kept it from being stored."""
        for batch in (self._open, self._writing):
            if batch is not None and batch.holds(session_id):
                waiter = asyncio.get_running_loop().create_future()
                batch.waiters.setdefault(session_id, []).append(waiter)
                await waiter
                return

    async def close(self) -> None:
        """Commit what is pending and take no more."""
        self._closed = True
        while self._writer is not None or self._open.group.entries or self._open.rows:
            if self._writer is not None:
                await asyncio.shield(self._writer)
            else:
                self._commit()
        if self._delay is not None:
            self._delay.close()
            self._delay = None

    def _schedule(self) -> None:
        """Decide when the open group is committed: on the spot, or when there is time for it again."""
        streams = not self._open.changes
        allowance = self._streams if streams else self._changes
        left_s = allowance.left_s(self._clock_s())
        gathers = streams and self._gathers(left_s)
        if left_s > 0 and not gathers and not self._delivering:
            self._commit()
            return
        wait_s = allowance.wait_s(left_s) if left_s < 0 else 0.0
        wait_s = min(max(wait_s, GATHER_S) if gathers else wait_s, self._linger_s)
        if self._due is not None:
            if wait_s >= self._due_in_s:
                return
            self._due.cancel()
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        self._due_in_s = wait_s
        if gathers:
            self._due = self._loop.call_later(wait_s, self._commit_gathered)
        elif wait_s > SOON_S:
            self._due = self._loop.call_later(wait_s, self._commit)
        else:
            self._due = self._loop.call_soon(self._commit)

    def _gathers(self, left_s: float) -> bool:
        """Whether streamed text waits for more of it, with so much of its allowance left."""
        if left_s < 0:
            self._gathering.begin()
        return self._gathering.on

    def _commit_gathered(self) -> None:
        self._gathering.gathered(self._open.pieces)
        self._commit()

    def _commit(self) -> None:
        """Write the open group: here and now where the journal can, else in a task of its own."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        batch, self._open = self._open, _Batch()
        try:
            size = batch.bytes
            for session_id, make_row in batch.rows.items():
                row = batch.group.rows[session_id] = make_row()
                size += len(row.summary) + len(row.checkpoint)
            done = size <= LARGE_GROUP_BYTES and self._quick_needed == 0 and self._commit_here(batch)
        except Exception as error:  # the group's boundary: whatever went wrong, its sessions must know
            self._hand_back(batch, error)
            return
        if done:
            self._deliver(batch)
        else:
            self._writing = batch
            self._writer = asyncio.get_running_loop().create_task(self._write(batch))

    def _commit_here(self, batch: _Batch) -> bool:
        """Commit on the loop; False, and nothing done, where the journal says that it would have to wait."""
        if self._delay is None:
            self._delay = self._run_delay()
        started = self._clock_s()
        self._delay.mark(started)
        try:
            return self._journal.append_now(batch.group)
        finally:
            now = self._clock_s()
            took_s = self._own_s(now - started)
            if batch.changes:
                self._changes.spend(took_s, now)
            else:
                self._streams.spend(took_s + ALONE_S, now)

    def _own_s(self, took_s: float) -> float:
        """How much of the time of a commit was its own; one that was slow is the last one here for a while."""
        if took_s > LONG_COMMIT_S and self._delay is not None:
            took_s = max(took_s - self._delay.since_mark(), LONG_COMMIT_S)
        if took_s > SLOW_COMMIT_S:
            self._quick_needed = QUICK_COMMITS
        return took_s

    def _deliver_alone(self, session_id: str, entries: list[Entry], size: int) -> None:
        """``_deliver`` of one session's part: who waits, waits for a group."""
        self.commits += 1
        self._delivering = True
        sink = self._sinks.get(session_id)
        try:
            if sink is not None:
                sink.committed(entries, size)
        except Exception as error:  # as in ``_deliver``
            self._report(f"session {session_id} failed to take its committed entries", error)
        if self.on_committed is not None:
            self.on_committed({session_id: entries})
        self._delivering = False
        if self._open.group.entries or self._open.rows:
            self._go_on()

    def _commit_alone_here(self, session_id: str, entries: list[Entry], started: float, allowance: _Allowance) -> bool:
        """``_commit_here`` of one session's entries."""
        if self._delay is None:
            self._delay = self._run_delay()
        if started - self._delay.marked_s > MARK_S:
            self._delay.mark(started)
        try:
            return self._journal.append_alone_now(session_id, entries)
        finally:
            now = self._clock_s()
            took_s = now - started
            if took_s > LONG_COMMIT_S:
                took_s = self._own_s(took_s)
            allowance.spend(took_s + ALONE_S if allowance is self._streams else took_s, now)

    async def _write(self, batch: _Batch) -> None:
        failure: Exception | None = None
        started = self._clock_s()
        try:
            await self._journal.append(batch.group)
        except Exception as error:  # as in _commit
            failure = error
        if self._quick_needed:
            took_s = batch.group.took_s
            is_quick = _is_quick(batch.bytes, self._clock_s() - started if took_s is None else took_s)
            self._quick_needed = self._quick_needed - 1 if is_quick else QUICK_COMMITS
        self._writing = self._writer = None
        if failure is None:
            self._deliver(batch)
        else:
            self._hand_back(batch, failure)

    def _deliver(self, batch: _Batch) -> None:
        self.commits += 1
        self.pending_bytes -= batch.bytes
        self._delivering = True
        refused = batch.group.refused
        for session_id, entries in batch.group.entries.items():
            sink = self._sinks.get(session_id)
            if sink is None:
                continue
            try:
                if session_id in refused:
                    sink.failed(refused[session_id], entries + self._withdraw(session_id, batch))
                else:
                    sink.committed(entries, batch.group.sizes[session_id])
            except Exception as error:  # one session's fault must not keep the others from their entries
                self._report(f"session {session_id} failed to take its committed entries", error)
        if self.on_committed is not None:
            self.on_committed({each: batch.group.entries[each] for each in batch.group.entries if each not in refused}
                              if refused else batch.group.entries)
        if self.on_rows is not None and batch.group.rows:
            self.on_rows(batch.group.rows)
        self._delivering = False
        for session_id in list(batch.waiters):
            batch.wake(session_id, refused.get(session_id))
        self._go_on()

    def _hand_back(self, batch: _Batch, cause: Exception) -> None:
        self.pending_bytes -= batch.bytes
        error = cause if isinstance(cause, StorageError) else StorageError(f"a group could not be stored: {cause!r}")
        self._delivering = True
        for session_id in {**batch.group.entries, **batch.rows}:
            lost = batch.group.entries.get(session_id, []) + self._withdraw(session_id, batch)
            sink = self._sinks.get(session_id)
            try:
                if sink is not None:
                    sink.failed(error, lost)
            except Exception as fault:  # as in _deliver
                self._report(f"session {session_id} failed to take its failed entries", fault)
            batch.wake(session_id, error)
        self._delivering = False
        self._go_on()

    def _withdraw(self, session_id: str, failed: _Batch) -> list[Entry]:
        """Take back what the session put into the open group: it must not be stored after a gap."""
        entries = self._open.group.entries.pop(session_id, [])
        self._open.rows.pop(session_id, None)
        self._open.changes.discard(session_id)
        size = self._open.group.sizes.pop(session_id, 0)
        self._open.bytes -= size
        self.pending_bytes -= size
        failed.waiters.setdefault(session_id, []).extend(self._open.waiters.pop(session_id, ()))
        return entries

    def _go_on(self) -> None:
        if self.congested and not self._is_held and self.pending_bytes <= self._high_water // 2:
            self.congested = False
            if self.on_drained is not None:
                self.on_drained()
        if self._due is None and self._writer is None and (self._open.group.entries or self._open.rows):
            self._schedule()

    def _report(self, message: str, error: Exception) -> None:
        asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})


def _is_quick(size: int, took_s: float) -> bool:
    """Whether a commit in the thread says that the disk is quick. A large group may take as long as its parts would."""
    return took_s <= SLOW_COMMIT_S * max(1.0, size / LARGE_GROUP_BYTES)
