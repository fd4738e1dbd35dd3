"""The loop's guard: names the frame in which a callback holds the hub's loop. For debugging and for tests (``--debug-loop``).

The loop beats: a timer of its own moves a count. A thread looks at it; while the beat is late, it looks at the loop's stack too,
and when one and the same callback has been in it for over ``HELD_S`` of its own time it logs where, once for each time.

Rule 1: only own time counts: the callback's computing, and its waiting for a disk, a lock or another thread's grip on the
        interpreter (people wait for that as well). Time in which a thread of this process was runnable and not run (schedstat) is
        the machine's, and is taken off; the system counts it only when the thread is run at last, so until then it may be all the
        time since the thread was seen to do something. So is what the host of a virtual machine took from it (steal), and waiting
        in a callback during which a page of our own memory had to come from the disk (a major fault): the system had put our code
        away, and how much of the waiting was for that nobody knows. A file that the callback reads is no such page, and counts.
        On a busy machine the guard misses a short hold; it does not invent one. How fast a core is, it cannot know: where its
        other half computes too, all takes up to twice as long, on the clock that counts computing as well.
Rule 2: what is measured is one callback. Many short ones in a row are work, not a hold.
        One call that keeps the interpreter (an expression over a long text) lets nobody look, and is over when the thread may. It
        is known by that: the thread was kept for as long, though every other callback gives way within some milliseconds.
Rule 3: the journal's commit (``EXEMPT``) is the one thing that may wait on the loop: the committer keeps count of it itself.
Rule 4: from the first request to the wish to stop. What loads before that and what is put away after it keeps nobody waiting.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Final, NamedTuple

from trunkline.journal.committer import Committer

HELD_S: Final = 0.05
"""What a callback may take: a twentieth of a second is where people begin to feel that they wait."""
BEAT_S: Final = 0.01
LOOK_S: Final = 0.02
"""How often the loop beats, and how often the thread looks: often enough for what is looked for; a look takes 0.2 ms."""
FRAMES: Final = 12
"""Frames of a stack that are logged, from the innermost outwards."""
WALK_S: Final = 1.0
"""How long nobody else gets the interpreter while a stack is walked, which takes microseconds: CPython 3.11 once crashed where
the loop went on between two frames."""

HELD: Final = "the loop is held for"
GOES_ON: Final = "the loop goes on, after"
"""How the lines of the log begin that tell of it, and of how much of its own time it was in the end."""
GRIPPED: Final = " inside one call that kept the interpreter, seen at the next chance"
EXEMPT: Final[frozenset[CodeType]] = frozenset({Committer._commit_here.__code__, Committer._commit_alone_here.__code__})

_STAT: Final = "/proc/stat"
"""Its first line is about all cores together: the eighth number is what the host took, in ticks."""
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")

_ASYNCIO: Final = os.path.dirname(asyncio.__file__)
_LOOP_FILES: Final = tuple(os.path.join(_ASYNCIO, name) for name in ("runners.py", "base_events.py", "events.py"))
"""Where the loop itself is; what stands above it is a callback."""

log = logging.getLogger("trunkline.loop")


class LoopGuard:
    """Watches the loop that it is started on."""

    def __init__(self, held_s: float = HELD_S) -> None:
        self._held_s = held_s
        self._beats = 0
        self._beat_at = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop-guard", daemon=True)
        self._loop_thread = threading.current_thread()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin. Called on the loop."""
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        """End. Called on the loop."""
        if self._timer is not None:
            self._timer.cancel()
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        self._beats += 1
        self._beat_at = time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def _watch(self) -> None:
        """The thread: look, and look again."""
        clocks = _Clocks(self._loop_thread.native_id or 0)
        last, free_s, others = clocks.look(), time.monotonic(), clocks.others_s()
        hold: _Hold | None = None
        slept_s = time.monotonic()
        while not self._ended.wait(LOOK_S):
            seen, woken_s, beat_at = self._late_stack(), time.monotonic(), self._beat_at  # before anything lets the loop go on
            look = clocks.look()
            gripped_s = _gripped_s(woken_s - max(slept_s + LOOK_S, beat_at), last, look, by_anybody=bool(seen))
            is_reported = gripped_s > self._held_s and hold is None and self._report(gripped_s, seen, GRIPPED)
            stack, now = self._late_stack(), time.monotonic()  # in one breath, last: each file that is read lets the loop go on
            if not stack:
                _end(hold)
                hold, others = None, clocks.others_s()
            elif hold is None or not hold.goes_on(stack[-1], self._beats):
                _end(hold)
                hold = _Hold(stack[-1], self._beats, now - max(free_s, self._beat_at), last, look)
            if hold is not None and is_reported:
                hold.reported = True
            if hold is not None and hold.own_s(look, 0.0) > self._held_s:
                pending_s = clocks.pending_s()  # first: who is run meanwhile is then counted twice, and not never
                own_s = hold.own_s(look, max(0.0, pending_s + clocks.others_s() - others))
                hold.reported = hold.reported or (own_s > self._held_s and self._report(own_s, stack))
            last, free_s, slept_s = look, now, time.monotonic()
        clocks.close()

    def _report(self, own_s: float, stack: list[FrameType], how: str = "") -> bool:
        where = "\n".join(_lines(stack)) or "  nobody knows where: it was over"
        if any(frame.f_code in EXEMPT for frame in stack):
            log.info("a commit takes %.0f ms of the loop's time, innermost first:\n%s", own_s * 1000, where)
        else:
            log.warning("%s %.0f ms%s, innermost first:\n%s", HELD, own_s * 1000, how, where)
        return True

    def _late_stack(self) -> list[FrameType]:
        """The frames of the callback that the loop is in, innermost first; none where it is in no callback, or beats. Only of one
        that is late: the interpreter makes an object of each frame, and of a loop in full run that is no small thing to do."""
        if time.monotonic() - self._beat_at < 2 * BEAT_S:
            return []
        usual_s = sys.getswitchinterval()
        sys.setswitchinterval(WALK_S)
        try:
            frame = sys._current_frames().get(self._loop_thread.ident or 0)
            stack: list[FrameType] = []
            while frame is not None and frame.f_code.co_filename not in _LOOP_FILES:
                stack.append(frame)
                frame = frame.f_back
        finally:
            sys.setswitchinterval(usual_s)
        return stack if frame is not None else []


class _Look(NamedTuple):
    """A moment, and what the clocks of the loop's thread and of this one showed then."""

    at_s: float
    run_s: float
    """How long the loop's thread has run."""
    delay_s: float
    """How long it was runnable and not run."""
    blind_s: float
    """The same for this thread."""
    all_s: float
    """How long all threads have run."""
    faults: int
    """How many pages of this process's memory had to come from the disk."""


class _Hold:
    """One callback for as long as the loop is in it."""

    def __init__(self, callback: FrameType, beats: int, since_s: float, before: _Look, first: _Look) -> None:
        """It was seen at the look ``first``, ``since_s`` after the loop was seen without it."""
        self._callback = callback  # kept, so that no other frame can get its place in memory
        self._beats = beats
        self._first = first
        # Others may have been there before it while this thread was not run, or waited for one that was not.
        self._at_first_s = since_s - (first.delay_s - before.delay_s) - (first.blind_s - before.blind_s)
        self._faults_before = before.faults
        self.last_s = 0.0
        """How long it had held the loop itself when that was looked at last."""
        self.reported = False

    def goes_on(self, callback: FrameType, beats: int) -> bool:
        """Whether it is this callback still."""
        return self._callback is callback and self._beats == beats

    def own_s(self, look: _Look, others_s: float) -> float:
        """How long it has held the loop itself: it ran, or it waited, but not for a thread of ours that was not run, nor for our
        own memory. All that is known of the others is for how long that was."""
        first = self._first
        ran = look.run_s - first.run_s
        waited = (look.at_s - first.at_s) - ran - (look.delay_s - first.delay_s) - (look.blind_s - first.blind_s)
        if look.faults > self._faults_before:
            self.last_s = ran
        else:
            # More taken off than was waited since: it was not run before the first look, which was counted only after it.
            at_first = self._at_first_s + min(0.0, waited)
            self.last_s = max(0.0, at_first - others_s) + ran + max(0.0, waited - others_s)
        return self.last_s


def _gripped_s(late_s: float, before: _Look, after: _Look, *, by_anybody: bool) -> float:
    """For how long the loop's thread, or where it waits in a callback any of ours, kept the interpreter from this one, which came
    so late: not while this one or the loop's was not run, and for no longer than they ran."""
    ran = after.all_s - before.all_s if by_anybody else after.run_s - before.run_s
    return min(late_s - (after.delay_s - before.delay_s) - (after.blind_s - before.blind_s), ran)


def _end(hold: _Hold | None) -> None:
    if hold is not None and hold.reported:
        log.info("%s %.0f ms or a little more", GOES_ON, hold.last_s * 1000)


class _Clocks:
    """How long the threads of this process ran, and were runnable and not run. Where the system does not say: all ran always."""

    def __init__(self, loop_thread: int) -> None:
        self._loop_thread = loop_thread
        self._this_thread = threading.get_native_id()
        self._files: dict[int, int] = {}
        """By thread, kept open: each call on the way is a moment in which another thread may take the interpreter."""
        self._delays_ns: dict[int, int] = {}
        self._counts: dict[int, tuple[tuple[int, int], float]] = {}
        """By thread: what was read of it last, and since when it may have been so."""
        self._loop_read_s = self._others_read_s = time.monotonic()
        self._loop_waits = False

    def look(self) -> _Look:
        """This moment."""
        self._loop_waits = _is_runnable(self._loop_thread)  # first, as below
        blind = self._read(self._this_thread)[1]
        run, delay = self._read(self._loop_thread)
        now = time.monotonic()
        self._note(self._loop_thread, (run, delay), self._loop_read_s)
        self._loop_read_s = now
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        return _Look(now, run / 1e9 if run else now, delay / 1e9, blind / 1e9, time.process_time(), faults)

    def others_s(self) -> float:
        """How long the other threads were runnable and not run (one that has ended keeps what it had), and what the host took.

        By the system's list: one that was just made, and that its maker waits for, is not yet in the interpreter's."""
        threads, now = self._others(), time.monotonic()
        for thread in threads:
            counts = self._read(thread)
            self._delays_ns[thread] = counts[1]
            self._note(thread, counts, self._others_read_s)
        self._others_read_s = now
        for gone in [each for each in self._files if each not in threads and each in self._delays_ns]:
            os.close(self._files.pop(gone))
        return sum(self._delays_ns.values()) / 1e9 + self._stolen_s()

    def pending_s(self) -> float:
        """For how long threads that wait for a core now may have waited: since each was seen to run, or for ever."""
        waiting = [thread for thread in self._others() if _is_runnable(thread)] + [self._loop_thread] * self._loop_waits
        return sum(time.monotonic() - self._counts[thread][1] if thread in self._counts else math.inf for thread in waiting)

    def _others(self) -> set[int]:
        try:
            return set(map(int, os.listdir("/proc/self/task"))) - {self._loop_thread, self._this_thread}
        except OSError:
            return set()

    def _note(self, thread: int, counts: tuple[int, int], read_before_s: float) -> None:
        known = self._counts.get(thread)
        if known is None or known[0] != counts:
            self._counts[thread] = counts, read_before_s if known is not None else 0.0

    def close(self) -> None:
        """Read no more."""
        for file in self._files.values():
            os.close(file)

    def _stolen_s(self) -> float:
        try:
            with open(_STAT, "rb") as file:
                return int(file.readline().split()[8]) * _TICK_S
        except (OSError, ValueError, IndexError):
            return 0.0  # nobody keeps count

    def _read(self, thread: int) -> tuple[int, int]:
        try:
            if thread not in self._files:
                self._files[thread] = os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            run, delay, _ = os.pread(self._files[thread], 100, 0).split()
            return int(run), int(delay)
        except (OSError, ValueError):
            return 0, 0  # it has ended, or nobody keeps count


def _is_runnable(thread: int) -> bool:
    """Whether it runs or wants to. Who asks has the interpreter, so that of our own code nobody else runs."""
    try:
        with open(f"/proc/self/task/{thread}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


def _lines(stack: list[FrameType]) -> Iterator[str]:
    for frame in stack[:FRAMES]:
        yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
    if len(stack) > FRAMES:
        yield f"  … {len(stack) - FRAMES} more, up to {stack[-1].f_code.co_qualname}"
