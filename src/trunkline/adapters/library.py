"""A hub inside a program, without a server: ``async with trunkline.open() as line``.

Rule 1: one hub per data folder. A folder that a running hub has is refused, with what to do instead.
Rule 2: without a folder everything is in memory, and nothing is left when the block ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from trunkline.adapters.catalog_adapter import CatalogAdapter, hub_adapters
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.errors import HubLocked, NotFound, SessionNotFound
from trunkline.hub import Hub, HubOptions
from trunkline.journal.lock import FolderLock
from trunkline.journal.stores import MEMORY, SQLITE


class Library:
    """The agents of this machine, for one program. Used as an async context manager."""

    def __init__(self, data_dir: str | Path | None, agents: Mapping[str, str | AgentSpec] | None,
                 environ: Mapping[str, str] | None) -> None:
        self._data_dir = Path(data_dir) if data_dir is not None else None
        self._agents = {name: catalog.adhoc(name, agent) if isinstance(agent, str) else agent
                        for name, agent in (agents or {}).items()}
        self._environ = environ
        self._exits = AsyncExitStack()
        self._hub: Hub | None = None
        self._adapters: dict[str, CatalogAdapter] = {}

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            folder = self._data_dir
            if folder is not None:
                self._lock(folder, stack)
            options = HubOptions(data=folder or Path(tempfile.gettempdir()), store=MEMORY if folder is None else SQLITE,
                                 agents=self._agents)
            hub = await stack.enter_async_context(Hub(options, environ=self._environ))
            self._hub, self._adapters = hub, hub_adapters(hub)
            for adapter in self._adapters.values():
                stack.push_async_callback(adapter.close)  # before the hub: a watcher reads what it has
            self._exits = stack.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """Stop every agent, store everything."""
        await self._exits.aclose()

    @property
    def adapters(self) -> list[CatalogAdapter]:
        """An adapter for each agent, installed or not."""
        return list(self._adapters.values())

    def adapter(self, name: str) -> CatalogAdapter:
        """The adapter of one agent, by its name in the catalog."""
        try:
            return self._adapters[name]
        except KeyError:
            known = ", ".join(sorted(self._adapters))
            raise NotFound(f"no agent {name!r}; known are: {known}", details={"agent": name}) from None

    async def delete(self, session_id: str) -> None:
        """Stop a session's agent and forget the session."""
        if self._hub is None:
            raise SessionNotFound(f"no session {session_id}", details={"sessionId": session_id})
        await self._hub.delete(session_id)

    @staticmethod
    def _lock(folder: Path, stack: AsyncExitStack) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FolderLock(folder)
        if not lock.take():
            raise HubLocked(f"a hub already runs on {folder}: use trunkline.client to talk to it, or another folder",
                            details={"pid": lock.holder(), "url": None})
        stack.callback(lock.give_up)
