"""How an ask of a terminal ends, when it is not answered here: what its program and its file say meanwhile.

Rule: looked at only while something is asked, off the loop, a few times a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from trunkline.dialects.signals import AskWithdrawn
from trunkline.discovery.base import AgentStore, ProgramState, TellsState
from trunkline.discovery.processes import is_running
from trunkline.errors import Unavailable
from trunkline.threads import Lane

LOOK_S: Final = 0.25
"""How far apart it is looked whether the program still waits for its person; it says so within half a second itself."""
GRACE_S: Final = 0.4
"""How long a program may take to end after its hook: it ends its hooks first."""

TERMINAL: Final = "terminal"
"""Who decided, in the journal, where somebody did at the terminal."""
ANSWERED: Final = "answered in the terminal"
ALLOWED: Final = "answered in the terminal: allowed"
NOT_ALLOWED: Final = "answered in the terminal: not allowed"
GONE: Final = "the program that asked has ended"

FindStore = Callable[[], AgentStore | None]


def allowed_there(request_id: str) -> AskWithdrawn:
    """Somebody said yes in the terminal."""
    return AskWithdrawn(request_id, by=TERMINAL, reason=ALLOWED, approved=True)


def not_allowed_there(request_id: str) -> AskWithdrawn:
    """Somebody said no in the terminal."""
    return AskWithdrawn(request_id, by=TERMINAL, reason=NOT_ALLOWED, approved=False)


def went_on(request_id: str) -> AskWithdrawn:
    """The work went on: somebody answered, and it is not known what."""
    return AskWithdrawn(request_id, by=TERMINAL, reason=ANSWERED)


class Program:
    """The program that asks."""

    def __init__(self, pid: int, store: FindStore, lane: Lane) -> None:
        """``pid`` is 0 where it is not known."""
        self._pid = pid
        self._store = store
        self._lane = lane

    async def stopped_waiting(self, request_id: str, is_done: Callable[[], bool]) -> AskWithdrawn:
        """Return when the program no longer waits for its person; ``is_done`` says whether the call has ended."""
        has_waited = False
        while True:
            await asyncio.sleep(LOOK_S)
            if is_done():
                return allowed_there(request_id)
            state = await self._state()
            if state is None:
                return AskWithdrawn(request_id, by="agent", reason=GONE)
            if has_waited and state.waits is False:
                return allowed_there(request_id)
            has_waited = has_waited or state.waits is True

    async def hook_ended(self, request_id: str) -> AskWithdrawn:
        """Its hook is gone: somebody said no, or the program itself is going."""
        await asyncio.sleep(GRACE_S)
        if self._pid and await self._state() is None:
            return AskWithdrawn(request_id, by="agent", reason=GONE)
        return not_allowed_there(request_id)

    async def _state(self) -> ProgramState | None:
        if not self._pid:
            return ProgramState()
        try:
            return await self._lane.run(self._look)
        except Unavailable:
            return ProgramState()  # the disk does not answer: nothing is known

    def _look(self) -> ProgramState | None:
        store: object = self._store()
        if isinstance(store, TellsState):
            return store.program_state(self._pid)
        return ProgramState() if is_running(self._pid) else None
