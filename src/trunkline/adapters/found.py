"""Sessions that other programs wrote, of every agent whose files can be read, in one list; and news of them.

Rule 1: no agent is started and nobody is asked: only files are looked at, off the loop. What the hub has itself is left out.
Rule 2: agents that share a store (two ways to run one) are looked at once; the one that is installed has the sessions.
Rule 3: files are watched while somebody waits for news, and ``LINGER_S`` longer. Otherwise nothing runs.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary, ref

from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.context.envelope import iso_ms
from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.discovery.base import AgentStore, FoundSession
from trunkline.discovery.follow import SETTLE_S
from trunkline.discovery.processes import is_running
from trunkline.discovery.watch import watch_store
from trunkline.errors import Unavailable
from trunkline.hub import Hub
from trunkline.hub.shapes import FoundView
from trunkline.journal.base import RowFilter

LISTED_MOST = 5_000
"""Sessions of the hub that are looked through for those that it has."""

LINGER_S = 30.0
"""How long files are watched after the last one who waited for news was answered."""

SLICE_S = 1.0
"""How often whoever waits sees whether the hub stops, and whether programs that ran still do."""

log = logging.getLogger("trunkline.adapters")

_hubs: WeakKeyDictionary[Hub, FoundSessions] = WeakKeyDictionary()


def found_sessions(hub: Hub) -> FoundSessions:
    """The sessions that other programs wrote on the machine of a hub."""
    return _hubs.setdefault(hub, FoundSessions(hub))


class FoundSessions:
    """Lists them, and says when the list is another one."""

    def __init__(self, hub: Hub) -> None:
        self._hub_ref = ref(hub)  # the table of them must not keep a hub that is over
        self.revision = 1
        """Another number when something has changed."""
        self._news = asyncio.Event()
        self._waiting = 0
        self._watches: list[Callable[[], None]] = []
        self._ends: asyncio.TimerHandle | None = None
        self._running: set[int] = set()

    @property
    def _hub(self) -> Hub:
        hub = self._hub_ref()
        assert hub is not None, "whoever asks has the hub"
        return hub

    async def listed(self, *, agent: str | None = None, text: str | None = None, limit: int = 200) -> list[FoundView]:
        """Those that the hub does not have, newest activity first."""
        ours = {view.agent_session_id for view in await self._hub.list(RowFilter(limit=LISTED_MOST))}
        stores = [spec for spec in await self._stores() if agent in (None, spec.name)]
        looked = await asyncio.gather(*(self._look(spec) for spec in stores))
        views = [_view(spec, found) for spec, sessions in zip(stores, looked, strict=True) for found in sessions
                 if found.id not in ours and _fits(found, spec.name, text)]
        views.sort(key=lambda view: view.updated_at, reverse=True)
        if agent is None and text is None:
            self._running = {view.pid for view in views if view.pid is not None}
        return views[:limit]

    async def wait(self, after: int, seconds: float) -> None:
        """Return when the list is another one than at that revision, after so many seconds, or when the hub stops."""
        await self._watch()
        self._waiting += 1
        until = asyncio.get_running_loop().time() + seconds
        try:
            while self.revision == after and not self._hub.closing and asyncio.get_running_loop().time() < until:
                self._news.clear()
                try:
                    async with asyncio.timeout(min(SLICE_S, seconds)):
                        await self._news.wait()
                except TimeoutError:
                    await self._see_who_runs()
        finally:
            self._waiting -= 1
            self._linger()

    def close(self) -> None:
        """Watch no more."""
        if self._ends is not None:
            self._ends.cancel()
        watches, self._watches = self._watches, []
        for stop in watches:
            stop()

    async def _watch(self) -> None:
        if self._ends is not None:
            self._ends.cancel()
            self._ends = None
        if not self._watches:
            self._watches = [lambda: None]  # whoever comes meanwhile begins no second one
            self._watches = [watch_store(_finder(spec, self._hub), spec.name, self._changed) for spec in await self._stores()]
            # Between the list that somebody has and the watch's beginning something may have come.
            asyncio.get_running_loop().call_later(SETTLE_S, self._changed)

    def _linger(self) -> None:
        if not self._waiting:
            if self._ends is not None:
                self._ends.cancel()
            self._ends = asyncio.get_running_loop().call_later(LINGER_S, self.close)

    def _changed(self, event: SessionDiscoveryEvent | None = None) -> None:
        self.revision += 1
        self._news.set()

    async def _see_who_runs(self) -> None:
        """Programs end without a word in any file."""
        if self._running and not all(await self._hub.lane.run(_all_run, frozenset(self._running))):
            self._running = set()
            self.revision += 1

    async def _stores(self) -> Iterable[AgentSpec]:
        """An agent for each store, an installed one where there is any."""
        chosen: dict[tuple[str, str], AgentSpec] = {}
        # Where none is installed: the program itself before what wraps it, and the plainest name.
        for spec in sorted(self._hub.agents.values(), key=lambda spec: (spec.driver == "acp", len(spec.name), spec.name)):
            folder = catalog.expand(spec.paths.sessions, self._hub.environ) if spec.store else None
            if folder is None:
                continue
            place = (spec.store, folder)
            if place not in chosen or (not await self._is_installed(chosen[place]) and await self._is_installed(spec)):
                chosen[place] = spec
        return list(chosen.values())

    async def _is_installed(self, spec: AgentSpec) -> bool:
        return (await catalog.detect(spec, self._hub.environ, version=False)).installed

    async def _look(self, spec: AgentSpec) -> list[FoundSession]:
        try:
            return await self._hub.lane.run(_sessions_of, _finder(spec, self._hub))
        except Unavailable as error:
            log.warning("the sessions of %s could not be looked at: %s", spec.name, error.message)
            return []


def _finder(spec: AgentSpec, hub: Hub) -> Callable[[], AgentStore | None]:
    environ = hub.environ
    return lambda: discovery.store_of(spec.store, catalog.expand(spec.paths.sessions, environ))


def _sessions_of(find: Callable[[], AgentStore | None]) -> list[FoundSession]:
    store = find()
    return store.sessions() if store is not None else []


def _all_run(pids: frozenset[int]) -> list[bool]:
    return [is_running(pid) for pid in pids]


def _fits(found: FoundSession, agent: str, text: str | None) -> bool:
    return text is None or any(text.lower() in each.lower() for each in (found.title, found.cwd, agent))


def _view(spec: AgentSpec, found: FoundSession) -> FoundView:
    return FoundView(
        id=found.id, agent=spec.name, cwd=found.cwd, project=os.path.basename(found.cwd.rstrip("/")) or found.cwd,
        title=found.title,
        created_at=iso_ms(found.created_at), updated_at=iso_ms(found.updated_at), last_text=found.last_message,
        running=found.in_use, pid=found.pid, model=found.model or None, tokens=found.tokens,
        resume_command=spec.resume_command(found.id, found.cwd))
