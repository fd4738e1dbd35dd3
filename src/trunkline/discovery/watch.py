"""Notices when a session of a vendor's store appears, changes or goes away, by what happens to its file.

Rule 1: a burst of writes is one change. Where a file's name says which session it is, nothing is read.
Rule 2: where one file has them all, it is asked which have changed, one question at a time, off the loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Literal, TypeVar, cast

from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.discovery.base import AgentStore, RowStore
from trunkline.discovery.notice import APPEARED_S, Changes, What, listen
from trunkline.errors import Unavailable
from trunkline.threads import Lane

log = logging.getLogger("trunkline.discovery")

NewsKind = Literal["session_created", "session_removed", "session_updated"]
Callback = Callable[[SessionDiscoveryEvent], None]

T = TypeVar("T")

_KINDS: dict[What, NewsKind] = {"added": "session_created", "deleted": "session_removed", "changed": "session_updated"}
_WEIGHTS: tuple[NewsKind, ...] = ("session_updated", "session_removed", "session_created")
"""Of several in one burst the last of these counts: in which order they happened is not told. A file that is written by putting
another in its place is deleted and added; one that is written to and deleted is gone."""


def watch_store(find: Callable[[], AgentStore | None], agent: str, callback: Callback) -> Callable[[], None]:
    """Call back for every session of the store that ``find`` finds on the disk, from now on; returns what ends it."""
    watching = asyncio.get_running_loop().create_task(_watch(find, agent, callback))

    def stop() -> None:
        watching.cancel()

    return stop


async def _watch(find: Callable[[], AgentStore | None], agent: str, callback: Callback) -> None:
    try:
        store = await Lane(1).run(find)
    except Unavailable as error:
        log.warning("the sessions of %s are not watched: %s", agent, error.message)
        return
    if store is None:
        return
    await (_RowWatch if _has_rows(store) else _Watch)(store, agent, callback).run()


def _has_rows(store: AgentStore) -> bool:
    return hasattr(store, "states")


class _Watch:
    """Watches a store that has a file for each session."""

    def __init__(self, store: AgentStore, agent: str, callback: Callback) -> None:
        self._store = store
        self._agent = agent
        self._callback = callback
        self._known: dict[str, int] | None = None
        """What was there when all of it was looked at last; None where nobody has."""
        self._changes: Changes = []
        self._changed = asyncio.Event()
        self._lane = Lane(1)

    async def run(self) -> None:
        """Tell what happens, until this is cancelled."""
        await self._begin()
        unlisten = listen(self._store.folder, self._noticed)
        if self._known is not None:  # it may come before the watch begins
            asyncio.get_running_loop().call_later(APPEARED_S, self._changed.set)
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                changes, self._changes = self._changes, []
                for kind, session_id in await self._told(changes):
                    self._tell(SessionDiscoveryEvent(type=kind, session_id=session_id, agent=self._agent))
        finally:
            unlisten()

    def _noticed(self, changes: Changes) -> None:
        self._changes += changes
        self._changed.set()  # without any change: nobody knows what happened

    def _tell(self, event: SessionDiscoveryEvent) -> None:
        try:
            self._callback(event)
        except Exception as error:  # a listener's boundary: its fault must not end the watch
            asyncio.get_running_loop().call_exception_handler({"message": "a session callback failed", "exception": error})

    async def _begin(self) -> None:
        """What is there already is no news; where nothing is there, all that comes is."""
        if not await self._look(os.path.isdir, self._store.folder, otherwise=True):
            self._known = {}

    async def _told(self, changes: Changes) -> list[tuple[NewsKind, str]]:
        if changes:
            return await self._look(_news, self._store, changes, otherwise=[])
        before, self._known = self._known, await self._look(self._states, otherwise=self._known or {})
        return [] if before is None else _differences(before, self._known)

    def _states(self) -> dict[str, int]:
        """A number for each session that is another one when it has changed."""
        return {found.id: found.updated_at for found in self._store.sessions()}

    async def _look(self, job: Callable[..., T], *args: object, otherwise: T) -> T:
        try:
            return await self._lane.run(job, *args)
        except Unavailable:
            return otherwise  # the disk does not answer: nothing is known to have changed


class _RowWatch(_Watch):
    """Watches a store whose files say nothing of which session they are about."""

    async def _begin(self) -> None:
        self._known = await self._look(self._states, otherwise={})

    def _noticed(self, changes: Changes) -> None:
        if not changes or any(path in cast(RowStore, self._store).files for _, path in changes):
            self._changed.set()

    def _states(self) -> dict[str, int]:
        # A database that cannot be read for a moment is no news.
        return cast(RowStore, self._store).states() or self._known or {}


def _differences(before: dict[str, int], now: dict[str, int]) -> list[tuple[NewsKind, str]]:
    changed = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
    return [("session_created" if name not in before else "session_removed" if name not in now else "session_updated", name)
            for name in sorted(changed)]


def _news(store: AgentStore, changes: Changes) -> list[tuple[NewsKind, str]]:
    """What a burst of changes comes to: one piece of news for each session."""
    news: dict[str, NewsKind] = {}
    for what, path in changes:
        session_id = store.session_of(path)
        if session_id is not None:
            news[session_id] = max(news.get(session_id, "session_updated"), _KINDS[what], key=_WEIGHTS.index)
    return [(kind, session_id) for session_id, kind in sorted(news.items())]
