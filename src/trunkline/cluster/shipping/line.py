"""One session's way to the stream: group by group, one in flight, until the stream has all or another node has the session.

Rule 1: a task runs while there is something to ship, and only then.
Rule 2: the same group is sent again with the same fence until its fate is known. It carries no id for the stream to know it by: a
        stream that has lost a message still knows its id, and tells whoever sends it again that it is stored.
Rule 3: nothing of a session is sent once another node has it.
Rule 4: what stands at the session's end and is no node's message is passed over: who has a key of the pool can put it there, and
        could stop the session for good, also behind the key's end.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final, Protocol

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping import verdict
from trunkline.cluster.shipping.outbox import Outbox
from trunkline.cluster.shipping.pace import Pace
from trunkline.cluster.shipping.parts import parts_of
from trunkline.cluster.shipping.verdict import Again, Ended, Foreign, Full, Moved, Refused, Stored, Taken, WentBack
from trunkline.errors import ClusterDenied, ClusterUnavailable, Invalid, NodeAway, NodeSilent, StorageError
from trunkline.journal.base import Entry
from trunkline.threads import Lane

IN_FLIGHT_WAIT_S: Final = 0.005
UNKNOWN_WAIT_S: Final = 0.05
LONGEST_WAIT_S: Final = 1.0
"""Between two tries: doubled each time. An election takes 5 to 7 s."""
LAG_AFTER_S: Final = 2.0
"""From then on readers elsewhere are told that they are behind."""

NO_FENCE: Final = 1 << 62
"""The number of no message: what is sent behind it is refused, and the refusal tells the number of the last one."""

PACK_OFF_LOOP: Final = 16 << 10
"""From here on packing takes longer (30 us and more) than handing it to a thread."""
_packing: Final = Lane(2)
_UNKNOWN: Final = (ClusterUnavailable, NodeAway, NodeSilent)


class Way(Protocol):
    """What all lines of a node share, and whom they tell."""

    connection: Connection
    pool: str
    owner: str
    incarnation: str

    pace: Pace

    def stored(self, line: Line) -> None:
        """The stream has more of the session."""

    def trouble(self, line: Line, why: str) -> None:
        """It cannot go on at the moment, for a reason that somebody should know."""

    def went_back(self, line: Line, lost: int) -> None:
        """The stream has lost so many acknowledged entries of the session; they are shipped again."""

    def taken(self, line: Line, by: Taken | Ended) -> None:
        """Another node has the session."""


class Line:
    """One session. ``fence`` is the number of its last message in the stream, ``after`` what this epoch's claim took over."""

    def __init__(self, way: Way, outbox: Outbox, *, epoch: int = 1, fence: int = 0, after: int | None = None) -> None:
        self.way, self.outbox = way, outbox
        self.session_id = outbox.session_id
        self.epoch, self.fence, self.after = epoch, fence, after
        self.over = False
        """Whether another node has the session."""
        self.behind_since: float | None = None
        self._subject = subjects.journal(way.pool, outbox.session_id)
        self._task: asyncio.Task[None] | asyncio.Task[bool] | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    @property
    def lag_s(self) -> float:
        """How long the stream has been behind; 0 while that is a moment only."""
        waited = 0.0 if self.behind_since is None else time.monotonic() - self.behind_since
        return waited if waited >= LAG_AFTER_S else 0.0

    def wake(self) -> None:
        """There is something to ship."""
        if self._task is None and not self.over and not self.outbox.is_empty:
            if self.behind_since is None:
                self.behind_since = time.monotonic()
            self._task = asyncio.create_task(self._run())

    async def check(self) -> bool:
        """Ask whether the stream still has what it had; what it lost is shipped again. One that is at work finds out by itself.
        False: nobody answered."""
        if self._task is not None or self.over:
            return True
        checking = self._task = asyncio.create_task(self._check())
        await asyncio.wait((checking,))
        return checking.cancelled() or checking.result()

    async def shipped(self, seq: int) -> None:
        """Wait until the stream has all up to ``seq``; StorageError where it never will."""
        if self.outbox.shipped >= seq:
            return
        if self.over:
            raise self._gone()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((seq, waiter))
        await waiter

    def wait_no_more(self) -> None:
        """The hub stops: who waits is refused, and what is not shipped goes with the next start."""
        waiters, self._waiters = self._waiters, []
        for _, waiter in waiters:
            if not waiter.done():
                waiter.set_exception(not_there(self.session_id))

    async def look(self) -> None:
        """Look whether another node has the session. Where that cannot be told, the next group will."""
        try:
            found = await jetstream.last_near(self.way.connection, subjects.JOURNAL, self._subject)
            last = None if found is None else (wire.read_mark(found.headers), found.seq)
        except (ClusterDenied, Invalid, *_UNKNOWN):
            return
        by = self._means(last)
        if isinstance(by, Taken) and not self.over:
            self._end(by)

    async def close(self) -> None:
        """Stop, wherever it is; what is not shipped stays in the journal."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _run(self) -> None:
        self.way.pace.busy += 1
        try:
            while not self.outbox.is_empty and not self.over:
                await self._ship_next()
        except Exception as error:  # the line's boundary: a fault of ours must not stop the session for good
            self.way.trouble(self, repr(error))
            await asyncio.sleep(LONGEST_WAIT_S)
        finally:
            self.way.pace.busy -= 1
            self._task = None
        self.wake()

    async def _check(self) -> bool:
        """Only the leader refuses, so a replica that is behind misleads nobody."""
        try:
            headers = {jetstream.EXPECTED_STREAM: subjects.JOURNAL, jetstream.FENCE: str(NO_FENCE)}
            answer = await self._publish(self._subject, b"", headers, 0)
            if not isinstance(answer, Moved) or answer.stream_seq == self.fence:
                return not (answer is None or isinstance(answer, Again))
            found = await self._look(answer)
            if found is not None and not isinstance(found, Refused | Foreign):  # the next group goes on behind what is foreign
                await self._go_on(found)
            return found is not None
        finally:
            self._task = None
            self.wake()

    async def _ship_next(self) -> None:
        await self.way.pace.turn()
        group, size = await self.outbox.next_group()
        if not group:  # the journal has lost it, or the session is being deleted
            self.outbox.ship(self.outbox.newest)
            return
        parts = await self._send_parts(group) if size > wire.LARGE_ENTRY else {}
        self.way.pace.charge(size)
        small = group if not parts else [entry for entry in group if entry.seq not in parts]
        headers = wire.entries_headers(self.epoch, group[0].seq, group[-1].seq, parts, self.after)
        await self._settle(await _packed(wire.encode_entries(small)), headers, group[-1].seq)

    async def _settle(self, body: bytes, headers: wire.Headers, last: int) -> None:
        """Send a message until its fate is known."""
        headers[jetstream.EXPECTED_STREAM] = subjects.JOURNAL
        wait_s = IN_FLIGHT_WAIT_S
        while not self.over:
            headers[jetstream.FENCE] = str(self.fence)
            answer = await self._publish(self._subject, body, headers, last)
            found = await self._look(answer) if isinstance(answer, Moved) else answer
            if isinstance(found, Again):
                wait_s = await _wait(wait_s)
            elif isinstance(found, Full | Refused):
                self.way.trouble(self, found.why)
                wait_s = await _wait(LONGEST_WAIT_S)
            elif isinstance(found, Foreign) and found.stream_seq > self.fence:
                self.way.trouble(self, f"{found.why}; it is shipped on behind message {found.stream_seq}")
                self.fence = found.stream_seq
                wait_s = await _wait(wait_s)
            elif isinstance(found, Foreign):  # and what stood where we know of a later message is lost: all of it once more
                await self._go_back(WentBack(0, found.stream_seq, self.epoch))
                return
            elif found is None:
                wait_s = await _wait(max(wait_s, UNKNOWN_WAIT_S))
            else:
                await self._go_on(found)
                return

    async def _publish(self, subject: str, body: bytes, headers: wire.Headers, last: int
                       ) -> Stored | Again | Moved | Full | Refused | None:
        """None: nothing is known."""
        connection = self.way.connection
        try:
            await connection.wait_until_up()
            return verdict.of_answer(await jetstream.publish(connection, subject, body, headers), last)
        except ClusterDenied as error:
            return Refused(error.message)
        except _UNKNOWN:
            return None

    async def _look(self, moved: Moved) -> Stored | WentBack | Taken | Ended | Foreign | Refused | None:
        """What the last message says. Only the leader knows which it is, and it told its number: a replica that shows another one
        is behind, and nothing is known yet."""
        try:
            found = await jetstream.last_near(self.way.connection, subjects.JOURNAL, self._subject)
            if (found.seq if found is not None else 0) != moved.stream_seq:
                return None
            last = None if found is None else (wire.read_mark(found.headers), found.seq)
            return self._means(last)
        except Invalid as error:
            return Foreign(moved.stream_seq, error.message)
        except ClusterDenied as error:
            return Refused(error.message)
        except _UNKNOWN:
            return None

    def _means(self, last: tuple[wire.Mark, int] | None) -> Stored | WentBack | Taken | Ended | Foreign:
        outbox = self.outbox
        return verdict.of_last(last, epoch=self.epoch, shipped=outbox.shipped, newest=outbox.newest)

    async def _go_on(self, found: Stored | WentBack | Taken | Ended) -> None:
        if isinstance(found, Stored):
            self._stored(found)
        elif isinstance(found, WentBack):
            await self._go_back(found)
        else:
            self._end(found)

    def _stored(self, found: Stored) -> None:
        self.fence = found.stream_seq
        self.outbox.ship(found.seq)
        self.behind_since = None if self.outbox.is_empty else time.monotonic()
        self.way.stored(self)
        if self._waiters:
            self._wake_waiters()

    async def _go_back(self, found: WentBack) -> None:
        self.way.went_back(self, self.outbox.shipped - found.seq)
        self.outbox.go_back(found.seq)
        self.fence = found.stream_seq
        if self.after is not None and found.epoch < self.epoch:  # the claim is lost as well: all that follows needs it
            self.after = found.seq
            claim = wire.Claim(epoch=self.epoch, owner=self.way.owner, incarnation=self.way.incarnation, after=found.seq,
                               why="the stream lost the claim before it")
            await self._settle(*wire.claim_message(claim), found.seq)

    def _end(self, found: Taken | Ended) -> None:
        self.over = True
        self.behind_since = None
        if isinstance(found, Taken):  # what is put aside begins there, however far this start knew the stream to be
            self.epoch = found.epoch - 1
            self.outbox.go_back(found.after)
        self.way.taken(self, found)
        self._wake_waiters()

    async def _send_parts(self, group: list[Entry]) -> dict[int, int]:
        """Store the parts of what is too large; returns how many each has."""
        sent: dict[int, int] = {}
        for entry in group:
            if entry.size() > wire.LARGE_ENTRY:
                pieces = parts_of(self.epoch, entry)
                for body, headers in pieces:
                    await self._send_part(subjects.parts(self.way.pool, self.session_id, entry.seq), body, headers)
                sent[entry.seq] = len(pieces)
        return sent

    async def _send_part(self, subject: str, body: bytes, headers: wire.Headers) -> None:
        wait_s = IN_FLIGHT_WAIT_S
        while not self.over:
            await self.way.pace.turn()
            self.way.pace.charge(len(body))
            answer = await self._publish(subject, body, headers, 0)
            if isinstance(answer, Stored):
                return
            if isinstance(answer, Full | Refused):
                self.way.trouble(self, answer.why)
            wait_s = await _wait(LONGEST_WAIT_S if isinstance(answer, Full | Refused) else wait_s)

    def _wake_waiters(self) -> None:
        left: list[tuple[int, asyncio.Future[None]]] = []
        for seq, waiter in self._waiters:
            if waiter.done():
                continue
            if self.outbox.shipped >= seq:
                waiter.set_result(None)
            elif self.over:
                waiter.set_exception(self._gone())
            else:
                left.append((seq, waiter))
        self._waiters = left

    def _gone(self) -> StorageError:
        return StorageError(f"session {self.session_id} is another node's now")


def not_there(session_id: str) -> StorageError:
    """Why a hub that stops does not say that something was committed."""
    return StorageError(f"the hub stops, and the cluster does not have the last of session {session_id} yet")


async def _packed(plain: bytes) -> bytes:
    """The body, compressed where that pays: a large one in a thread, which costs the loop nothing."""
    if len(plain) < PACK_OFF_LOOP:
        return wire.pack(plain)
    return await _packing.run(wire.pack, plain)


async def _wait(wait_s: float) -> float:
    """Wait, and return how long to wait the next time."""
    await asyncio.sleep(wait_s)
    return min(wait_s * 2, LONGEST_WAIT_S)
