"""The sessions of other nodes that somebody reads here.

Rule 1: of one id there is one. It is opened when somebody asks for it, and hears nothing any more some time after the last
        reader left.
Rule 2: one that hears nothing is forgotten with its last reader: who still holds it has the same one as who comes next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final
from weakref import WeakValueDictionary

from trunkline.cluster.showing.remote import RemoteSession

KEPT: Final = 200
"""That nobody reads and that are followed all the same: who leaves often comes back."""
LINGER_S: Final = 60.0
LOOK_S: Final = 5.0


class OpenSessions:
    """Sessions by id; ``make`` makes one that is not opened yet."""

    def __init__(self, make: Callable[[str], RemoteSession]) -> None:
        self._make = make
        self._kept: dict[str, RemoteSession] = {}
        self._dozing: WeakValueDictionary[str, RemoteSession] = WeakValueDictionary()
        self._opening: dict[str, asyncio.Task[RemoteSession]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._kept))

    async def find(self, session_id: str) -> RemoteSession:
        """The session of that id, opened where nobody reads it yet. Raises as ``RemoteSession.open``."""
        found = self._kept.get(session_id) or self._dozing.pop(session_id, None)
        if found is not None and not found.feed.closed:
            self._keep(found)
            await found.catch_up()
            return found
        opening = self._opening.get(session_id)
        if opening is None:
            opening = self._opening[session_id] = asyncio.create_task(self._open(session_id))
            opening.add_done_callback(lambda _: self._opening.pop(session_id, None))
        return await asyncio.shield(opening)

    def followed(self, session_id: str) -> RemoteSession | None:
        """The session of that id, where what happens in it is heard at this moment."""
        session = self._kept.get(session_id)
        return session if session is not None and session.is_awake else None

    def moved(self, session_id: str) -> None:
        """The session's row has changed: perhaps it is elsewhere."""
        session = self._kept.get(session_id)
        if session is not None:
            self._later(session.moved())

    def gone(self, session_id: str) -> None:
        """The session was deleted."""
        session = self._kept.pop(session_id, None) or self._dozing.pop(session_id, None)
        if session is not None:
            self._later(session.end())

    async def close(self) -> None:
        """Nobody reads any more."""
        tasks = [task for task in (self._looking, *self._opening.values()) if task is not None]
        for task in tasks:
            task.cancel()
        kept, self._kept = [*self._kept.values(), *self._dozing.values()], {}
        await asyncio.gather(*tasks, *self._ending, return_exceptions=True)
        for session in kept:
            await session.stop()

    async def _open(self, session_id: str) -> RemoteSession:
        session = self._make(session_id)
        await session.open()
        self._keep(session)
        return session

    def _keep(self, session: RemoteSession) -> None:
        self._kept[session.id] = session
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_always())

    async def _look_always(self) -> None:
        while self._kept:
            await asyncio.sleep(LOOK_S)
            await self._let_go()

    async def _let_go(self) -> None:
        """Stop to follow what nobody has waited for for a while, and what is too much."""
        now = asyncio.get_running_loop().time()
        unused = sorted((each for each in self._kept.values() if not each.feed.waiting), key=lambda each: each.used_at)
        for number, session in enumerate(unused):
            if now - session.used_at > LINGER_S or len(unused) - number > KEPT:
                del self._kept[session.id]
                self._dozing[session.id] = session
                await session.doze()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
