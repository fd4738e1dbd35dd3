"""Notices when a session of a vendor's store appears, changes or goes away, by what happens to its file.

Rule 1: a burst of writes is one change. Of a store that has a file for each session nothing is read.
Rule 2: where one file has them all, it is asked which have changed, one question at a time, off the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, TypeGuard

from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.discovery.base import AgentStore, RowStore
from trunkline.discovery.notice import Changes, What, listen
from trunkline.errors import Unavailable
from trunkline.threads import Lane

log = logging.getLogger("trunkline.discovery")

NewsKind = Literal["session_created", "session_removed", "session_updated"]
Callback = Callable[[SessionDiscoveryEvent], None]

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
    if _has_rows(store):
        await _RowWatch(store, agent, callback).run()
        return
    found = store

    def on_change(changes: Changes) -> None:
        for kind, session_id in _news(found, changes):
            callback(SessionDiscoveryEvent(type=kind, session_id=session_id, agent=agent))

    unlisten = listen(store.folder, on_change)
    try:
        await asyncio.get_running_loop().create_future()  # until this is cancelled
    finally:
        unlisten()


def _has_rows(store: AgentStore) -> TypeGuard[RowStore]:
    return hasattr(store, "states")


class _RowWatch:
    """Watches a store whose files say nothing of which session they are about."""

    def __init__(self, store: RowStore, agent: str, callback: Callback) -> None:
        self._store = store
        self._agent = agent
        self._callback = callback
        self._changed = asyncio.Event()
        self._lane = Lane(1)

    async def run(self) -> None:
        """Ask whenever something was written, until this is cancelled."""
        unlisten = listen(self._store.folder, self._noticed)
        try:
            known = await self._states({})
            while True:
                await self._changed.wait()
                self._changed.clear()
                states = await self._states(known)
                self._tell(known, states)
                known = states
        finally:
            unlisten()

    def _noticed(self, changes: Changes) -> None:
        if not changes or any(path in self._store.files for _, path in changes):
            self._changed.set()

    async def _states(self, otherwise: dict[str, int]) -> dict[str, int]:
        try:
            return await self._lane.run(self._store.states) or otherwise
        except Unavailable:
            return otherwise  # the disk does not answer: nothing is known to have changed

    def _tell(self, known: dict[str, int], states: dict[str, int]) -> None:
        for session_id in sorted(known.keys() | states.keys()):
            before, now = known.get(session_id), states.get(session_id)
            if before != now:
                kind: NewsKind = ("session_created" if before is None else "session_removed" if now is None
                                  else "session_updated")
                self._callback(SessionDiscoveryEvent(type=kind, session_id=session_id, agent=self._agent))


def _news(store: AgentStore, changes: Changes) -> list[tuple[NewsKind, str]]:
    """What a burst of changes comes to: one piece of news for each session."""
    news: dict[str, NewsKind] = {}
    for what, path in changes:
        session_id = store.session_of(path)
        if session_id is not None:
            news[session_id] = max(news.get(session_id, "session_updated"), _KINDS[what], key=_WEIGHTS.index)
    return [(kind, session_id) for session_id, kind in sorted(news.items())]
