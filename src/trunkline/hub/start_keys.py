"""Sessions that are begun under a key: the same key again, for the same, is the same session.

Rule 1: who asks while the session is being started waits for that one. Who asks later gets it, also after a restart: the key is
in the session's own state.
Rule 2: what could not be started, or was deleted, is not remembered: the next try starts anew.
Rule 3: a key stands for what was wanted with it (agent, folder, title, prompt and all): the same key for something else is
refused, and nothing is started or sent.
Rule 4: bounded: only the newest sessions are looked at; a client tries again within seconds, not after a hundred sessions. What
was wanted is kept as a digest, and of variables for the agent only the names go into it: nothing of them is written down.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import KeyReused, SessionNotFound
from trunkline.hub.shapes import NewSession
from trunkline.journal.base import Journal, RowFilter

if TYPE_CHECKING:
    from trunkline.session.session import Session

LOOKED_AT = 100


class _Started(msgspec.Struct, rename="camel"):
    """What a stored state says of how the session was started."""

    start_key: str | None = None
    start_digest: str | None = None


_started = decoders.of(_Started)


class _UnderWay(NamedTuple):
    """A start that is not done, and what was wanted."""

    digest: str
    task: asyncio.Task[Session]


def digest_of(new: NewSession) -> str:
    """What distinguishes one wish from another."""
    wanted = replace(new, env=dict.fromkeys(sorted(new.env), ""))
    return hashlib.sha256(msgspec.json.encode(wanted)).hexdigest()


class StartKeys:
    """Starts sessions once. ``find`` opens the session of an id."""

    def __init__(self, journal: Journal, find: Callable[[str], Awaitable[Session]]) -> None:
        self._journal = journal
        self._find = find
        self._under_way: dict[str, _UnderWay] = {}

    async def once(self, key: str, digest: str, start: Callable[[], Awaitable[Session]]) -> Session:
        """The session that was started under ``key`` for the same; where there is none, it is started now."""
        starting = self._under_way.get(key)
        if starting is None:
            task = asyncio.create_task(self._found_or_started(key, digest, start))
            starting = self._under_way[key] = _UnderWay(digest, task)
            task.add_done_callback(lambda done: self._done(key, done))
        _check_same(starting.digest, digest)
        return await asyncio.shield(starting.task)

    async def close(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*(starting.task for starting in self._under_way.values()), return_exceptions=True)

    async def _found_or_started(self, key: str, digest: str, start: Callable[[], Awaitable[Session]]) -> Session:
        for row in await self._journal.rows(RowFilter(limit=LOOKED_AT)):
            started = _how_started(row.checkpoint)
            if started.start_key == key:
                try:
                    session = await self._find(row.id)
                except SessionNotFound:
                    break  # it was deleted meanwhile
                _check_same(started.start_digest, digest)
                return session
        return await start()

    def _done(self, key: str, done: asyncio.Task[Session]) -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # whoever waits gets it; nobody may be left to wait


def _check_same(before: str | None, now: str) -> None:
    """KeyReused, where something else was wanted. (None: by a hub that did not write it down.)"""
    if before not in (None, now):
        raise KeyReused("this Idempotency-Key was used to start another session, with another body; nothing was done. "
                        "Use a new key for each session", details={"field": "Idempotency-Key"})


def _how_started(checkpoint: bytes) -> _Started:
    try:
        return _started.decode(checkpoint)
    except BROKEN:
        return _Started()  # a session that cannot be read is none that could be gone on with
