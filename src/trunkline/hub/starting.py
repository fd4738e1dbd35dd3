"""Sessions that are started under a key: the same key again is the same session.

Rule 1: who asks while the session is being started waits for that one. Who asks later gets it, also after a restart: the key is
in the session's own state.
Rule 2: what could not be started, or was deleted, is not remembered: the next try starts anew.
Rule 3: bounded: of the sessions that are not in memory only the newest of that agent are looked at; a client tries again within
seconds, not after fifty sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from trunkline.errors import SessionNotFound
from trunkline.journal.base import Journal, RowFilter

if TYPE_CHECKING:
    from trunkline.session.session import Session

LOOKED_AT = 50


class _Started(msgspec.Struct, rename="camel"):
    """What a stored state says of how the session was started."""

    start_key: str | None = None


_started = msgspec.json.Decoder(_Started)


class Starts:
    """Starts sessions once. ``find`` opens the session of an id."""

    def __init__(self, journal: Journal, find: Callable[[str], Awaitable[Session]]) -> None:
        self._journal = journal
        self._find = find
        self._under_way: dict[str, asyncio.Task[Session]] = {}

    async def once(self, key: str, agent: str, start: Callable[[], Awaitable[Session]]) -> Session:
        """The session that was started under ``key``; where there is none, it is started now."""
        starting = self._under_way.get(key)
        if starting is None:
            starting = self._under_way[key] = asyncio.create_task(self._found_or_started(key, agent, start))
            starting.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(starting)

    async def close(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _found_or_started(self, key: str, agent: str, start: Callable[[], Awaitable[Session]]) -> Session:
        for row in await self._journal.rows(RowFilter(agent=agent, limit=LOOKED_AT)):
            if _key_in(row.checkpoint) == key:
                try:
                    return await self._find(row.id)
                except SessionNotFound:
                    break  # it was deleted meanwhile
        return await start()

    def _done(self, key: str, done: asyncio.Task[Session]) -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # whoever waits is told; nobody may be left to wait


def _key_in(checkpoint: bytes) -> str | None:
    try:
        return _started.decode(checkpoint).start_key
    except msgspec.DecodeError:
        return None  # a session that cannot be read is none that could be gone on with
