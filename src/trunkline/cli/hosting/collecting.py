"""When memory is looked through for what only holds itself.

A full collection looks at every object that was made since the start and holds the loop meanwhile. Python does one whenever
enough has piled up, which is when everybody wants something. So it does only the small ones by itself, and the full ones are
done here. A session is some 300 objects, a connection 30. On a busy machine it took, of a core's own time: 2 to 14 ms with 60
sessions, 34 ms with 200, 46 ms with 500 connections beside them. So with 300 sessions it can be over the 50 ms that the loop's
guard allows (loop_guard.py). What it frees costs more than what it leaves, so a connection that has ended holds nothing of itself
(server/http/protocol.py): thousands of strangers that came and went once made one collection of 945 ms. To put aside what a
collection leaves (``gc.freeze``) was tried: one that had to look there again took 120 ms with 200 sessions.

Rule 1: a full collection waits for a moment at rest, up to LATEST_S; very much that was made in between waits for nothing.
Rule 2: where little was made since the last one, there is none.
Rule 3: a session is made of parts that know each other, so one that nobody holds any more is memory until a full collection. Many
of them wait for nothing.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable

LOOK_S = 5.0
"""How far apart it is looked whether the hub is at rest."""
LATEST_S = 60.0
WORTH = 10
"""Collections of the middle generation after which a full one is worth it: what Python itself takes for enough."""
MOST = 200
"""The same after which it is due at once: over a million objects were made and kept."""
MOST_SESSIONS = 64
"""Released sessions after which it is due at once: some 50 KB each, so 3 MB."""
BUSY = 0.05
"""Share of a core above which the hub is at work."""
_NEVER = 1_000_000


def leave_out_full_ones() -> None:
    """Have Python itself collect only what is young."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)


async def collect_at_rest(sessions_released: Callable[[], int]) -> None:
    """Do full collections until cancelled. ``sessions_released`` counts the sessions that left memory since the start."""
    waited_s, collected = 0.0, 0
    while True:
        used_s = time.process_time()
        await asyncio.sleep(LOOK_S)
        waited_s += LOOK_S
        released = sessions_released()
        if is_due(gc.get_count()[2], time.process_time() - used_s, waited_s, released - collected):
            gc.collect()
            waited_s, collected = 0.0, released


def is_due(collections: int, used_s: float, waited_s: float, sessions: int) -> bool:
    """Whether now is the time for a full collection, after so many of the middle generation, so much work since the last look,
    so long a wait, and so many sessions that were released."""
    if sessions >= MOST_SESSIONS:
        return True
    if collections < WORTH:
        return False
    return collections >= MOST or used_s <= BUSY * LOOK_S or waited_s >= LATEST_S
