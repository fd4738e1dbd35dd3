"""The loop's guard: names the frame in which a callback holds the hub's loop. For debugging and for tests (``--debug-loop``).

The loop beats: a timer of its own moves a count. A thread looks at it; while the beat is late, it looks at the loop's stack too,
and when one and the same callback has been in it for over ``HELD_S`` of its own time it logs where, once for each time.

Rule 1: only own time counts: the callback's computing, and its waiting for a disk, a lock or another thread's grip on the
        interpreter (people wait for that as well). Time in which a thread of this process was runnable and not run (schedstat) is
        the machine's, and is taken off. On a busy machine the guard misses a short hold; it does not invent one.
Rule 2: what is measured is one callback. Many short ones in a row are work, not a hold.
Rule 3: the journal's commit (``EXEMPT``) is the one thing that may wait on the loop: the committer keeps count of it itself.
Rule 4: from the first request to the wish to stop. What loads before that and what is put away after it keeps nobody waiting.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Final

from trunkline.journal.committer import Committer

HELD_S: Final = 0.05
"""What a callback may take: a twentieth of a second is where people begin to feel that they wait."""
BEAT_S: Final = 0.01
LOOK_S: Final = 0.02
"""How often the loop beats, and how often the thread looks: often enough for what is looked for; a look takes 0.2 ms."""
FRAMES: Final = 12
"""Frames of a stack that are told, from the innermost outwards."""

HELD: Final = "the loop is held for"
"""How a line of the log begins that tells of it."""
EXEMPT: Final[frozenset[CodeType]] = frozenset({Committer._commit_here.__code__})

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
        delays = _RunDelays()
        free_s = time.monotonic()
        """When the loop was last seen without the callback that is looked at."""
        before = delays.read()
        hold: _Hold | None = None
        while not self._ended.wait(LOOK_S):
            stack, now = self._stack(), time.monotonic()  # in one breath: reading a file below lets the loop go on
            if now - self._beat_at < 2 * BEAT_S or not stack:
                _end(hold)
                hold = None
                before = delays.read()
            else:
                if hold is None or not hold.goes_on(stack[-1], self._beats):
                    _end(hold)
                    hold = _Hold(stack[-1], self._beats, max(free_s, self._beat_at))
                hold.wall_s = now - hold.begin_s
                if hold.wall_s > self._held_s and not hold.told:
                    own_s = hold.wall_s - _passed_s(before, delays.read())
                    hold.told = own_s > self._held_s and self._tell(own_s, stack)
            free_s = time.monotonic()
        delays.close()

    def _tell(self, own_s: float, stack: list[FrameType]) -> bool:
        where = "\n".join(_lines(stack))
        if any(frame.f_code in EXEMPT for frame in stack):
            log.info("a commit takes %.0f ms of the loop's time, innermost first:\n%s", own_s * 1000, where)
        else:
            log.warning("%s %.0f ms, innermost first:\n%s", HELD, own_s * 1000, where)
        return True

    def _stack(self) -> list[FrameType]:
        """The frames of the callback that the loop is in, innermost first; none where it is in no callback."""
        frame = sys._current_frames().get(self._loop_thread.ident or 0)
        stack: list[FrameType] = []
        while frame is not None and frame.f_code.co_filename not in _LOOP_FILES:
            stack.append(frame)
            frame = frame.f_back
        return stack if frame is not None else []


class _Hold:
    """One callback for as long as the loop is in it."""

    def __init__(self, callback: FrameType, beats: int, begin_s: float) -> None:
        self._callback = callback  # kept, so that no other frame can get its place in memory
        self._beats = beats
        self.begin_s = begin_s
        self.wall_s = 0.0
        self.told = False

    def goes_on(self, callback: FrameType, beats: int) -> bool:
        """Whether it is this callback still."""
        return self._callback is callback and self._beats == beats


def _end(hold: _Hold | None) -> None:
    if hold is not None and hold.told:
        log.info("the loop goes on, after %.0f ms or a little more", hold.wall_s * 1000)


class _RunDelays:
    """How long each thread of this process has been runnable and not run. Where the system does not say: not at all."""

    def __init__(self) -> None:
        self._files: dict[int, int] = {}
        """By thread, kept open: each call on the way is a moment in which another thread may take the interpreter."""

    def read(self) -> dict[int, int]:
        """Until now, in nanoseconds by thread."""
        threads = {thread.native_id for thread in threading.enumerate()}
        for gone in [each for each in self._files if each not in threads]:
            os.close(self._files.pop(gone))
        return {each: self._one_ns(each) for each in threads if each is not None}

    def close(self) -> None:
        """Read no more."""
        for file in self._files.values():
            os.close(file)

    def _one_ns(self, thread: int) -> int:
        try:
            if thread not in self._files:
                self._files[thread] = os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._files[thread], 100, 0).split()[1])  # time run, time runnable and not run, times run
        except (OSError, IndexError, ValueError):
            return 0  # it has ended, or nobody keeps count


def _passed_s(before: dict[int, int], after: dict[int, int]) -> float:
    """What came to all threads together; one that has ended since took what it had with it."""
    return sum([now - before.get(thread, 0) for thread, now in after.items()]) / 1e9


def _lines(stack: list[FrameType]) -> Iterator[str]:
    for frame in stack[:FRAMES]:
        yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
    if len(stack) > FRAMES:
        yield f"  … {len(stack) - FRAMES} more, up to {stack[-1].f_code.co_qualname}"
