"""Work that may wait for what somebody else controls (a disk, a mount, a name), off the loop.

Rule 1: such work may never come back: a network mount that is gone, a file system that an agent serves itself. So it has threads
of its own, which nobody joins: the loop's own executor is waited for when the hub stops.
Rule 2: whoever waits here waits for at most ``within_s`` and is answered then. The thread is given up, not ended: nothing can.
Rule 3: a lane bounds what one owner (a session, say) has under way, so that nobody uses up the threads of all.
Rule 4: what blocks says so: it calls ``check_off_loop`` first, so that a caller who forgot the lane fails in his first test.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import ParamSpec, TypeVar

from trunkline.errors import Unavailable

AT_WORK = 8
"""Jobs that run at a time: more of them would only share the interpreter. One that hangs stops counting after HANGS_S."""

HANGS_S = 1.0

THREADS_MOST = 256
"""Threads in all, those that hang included; each costs a few tens of kilobytes."""

LANE_MOST = 4
"""Jobs of one owner under way: a page that asks for several files is served at once, and one that hangs keeps three others."""

WITHIN_S = 30.0
"""How long whoever asked waits: an archive disk that has to wake up takes ten seconds."""

IDLE_S = 10.0

P = ParamSpec("P")
T = TypeVar("T")
Report = Callable[[], None]
"""Tells the loop what became of a job."""


def check_off_loop() -> None:
    """Raise RuntimeError on a thread that runs an event loop: what follows may wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("this may wait for a disk and was called on the event loop; run it in a lane")


class _Room:
    """Room for some at a time; the others wait in the order in which they came."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait until there is room."""
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Make room for the next one."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Lane:
    """What one owner has done off the loop: a few jobs at a time."""

    def __init__(self, most: int = LANE_MOST) -> None:
        self._room = _Room(most)

    async def run(self, work: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
        """The result of a call that is made off the loop; Unavailable where it takes longer than WITHIN_S."""
        try:
            return await self.run_within(WITHIN_S, work, *args, **how)
        except TimeoutError:
            raise Unavailable(f"the disk did not answer within {WITHIN_S:g} s") from None

    async def run_within(self, within_s: float, work: Callable[P, T], *args: P.args, **how: P.kwargs) -> T:
        """The same with a time of its own, and TimeoutError when that is over."""
        async with asyncio.timeout(within_s):
            await self._room.enter()
            job: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            try:
                await _pool.start(job, lambda: work(*args, **how), self._room.leave)
            except BaseException:
                self._room.leave()
                raise
            return await job


class _Pool:
    """Threads that are made when they are needed, kept for a while, and never waited for."""

    def __init__(self) -> None:
        self._rooms: dict[asyncio.AbstractEventLoop, _Room] = {}
        self._idle: list[SimpleQueue[Callable[[], Report]]] = []
        self._lock = threading.Lock()
        self._count = 0

    async def start(self, job: asyncio.Future[T], work: Callable[[], T], done: Callable[[], None]) -> None:
        """Have the work done. ``job`` gets its result, and ``done`` is called when the thread is free again; both on the loop."""
        loop = asyncio.get_running_loop()
        give_back = await self._take_place(loop)

        def over(settle: Callable[[], None]) -> None:
            give_back()
            done()
            settle()

        def report(settle: Callable[[], None]) -> None:
            try:
                loop.call_soon_threadsafe(over, settle)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more

        def run() -> Report:
            return partial(report, _done(job, work))

        try:
            self._hand_over(run)
        except BaseException:
            give_back()
            raise

    async def _take_place(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Wait until fewer than AT_WORK are at work; returns what gives the place back, at the latest after HANGS_S."""
        room = self._room_of(loop)
        await room.enter()
        given_back = False

        def give_back() -> None:
            nonlocal given_back
            late.cancel()
            if not given_back:
                given_back = True
                room.leave()

        late = loop.call_later(HANGS_S, give_back)
        return give_back

    def _room_of(self, loop: asyncio.AbstractEventLoop) -> _Room:
        """A program has one loop at a time; the tests have many, one after the other."""
        room = self._rooms.get(loop)
        if room is None:
            self._rooms = {each: its for each, its in self._rooms.items() if not each.is_closed()}
            room = self._rooms[loop] = _Room(AT_WORK)
        return room

    def _hand_over(self, run: Callable[[], Report]) -> None:
        with self._lock:
            if self._idle:
                self._idle.pop().put(run)
                return
            if self._count >= THREADS_MOST:
                raise Unavailable(f"{THREADS_MOST} looks at a disk have not come back; there is no thread for another")
            self._count += 1
        jobs: SimpleQueue[Callable[[], Report]] = SimpleQueue()
        jobs.put(run)
        try:
            threading.Thread(target=self._work, args=(jobs,), name="trunkline-aside", daemon=True).start()
        except RuntimeError as error:
            with self._lock:
                self._count -= 1
            raise Unavailable(f"there is no thread for a look at a disk: {error}") from error

    def _work(self, jobs: SimpleQueue[Callable[[], Report]]) -> None:
        while True:
            try:
                run = jobs.get(timeout=IDLE_S)
            except Empty:
                with self._lock:
                    if jobs in self._idle:
                        self._idle.remove(jobs)
                        self._count -= 1
                        return
                continue  # a job was handed over at the last moment
            report = run()
            with self._lock:
                self._idle.append(jobs)  # before the report: whoever is answered may ask for this thread at once
            report()
            del run, report  # with all that the result holds


def _done(job: asyncio.Future[T], work: Callable[[], T]) -> Callable[[], None]:
    """Does the work; returns what hands the outcome to whoever waits."""
    try:
        result = work()
    except BaseException as error:  # the thread's boundary: whoever waits raises it
        failed = error
        return lambda: None if job.done() else job.set_exception(failed)
    return lambda: None if job.done() else job.set_result(result)


_pool = _Pool()
