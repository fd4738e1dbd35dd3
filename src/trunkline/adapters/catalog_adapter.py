"""An agent of the catalog as the Agent Context Protocol's adapter.

Rule 1: a session is listed once. One that the hub has goes by the hub's id, also where the agent or its files know it too.
Rule 2: what cannot be asked (an agent that is not installed, wants a login, does not start) has nothing to say: the rest is
still listed, and the log names what was not.
Rule 3: an agent's session that another program has open is only watched: two writers would spoil it. Who insists is refused.
Rule 4: what is in a file is read from there, and then gone on with (``handover.py``): the history is the file's, with its times.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import decoders, discovery
from trunkline.adapters.base import LIBRARY, Stop
from trunkline.adapters.capabilities import agent_capabilities
from trunkline.adapters.handover import Handover
from trunkline.adapters.hub_session import HubSession
from trunkline.adapters.listing import LISTED_MOST, from_agent, from_hub, from_store, merged
from trunkline.adapters.watching import watch_hub
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.acp.options import SessionConfigOption
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.types import AgentDataPaths, DiscoveredSession, SessionDiscoveryEvent, StartSessionOptions
from trunkline.dialects.outside import BROKEN
from trunkline.discovery.base import AgentStore, FoundSession
from trunkline.discovery.watch import watch_store
from trunkline.errors import HubStopping, Invalid, NotFound, RemoteError, Unsupported
from trunkline.hub import Hub, NewSession, SessionView, content_blocks
from trunkline.journal.base import RowFilter
from trunkline.session.driver.base import AgentSession

if TYPE_CHECKING:
    from trunkline.hub import Session

FOLDERS_MOST = 10
FOLDERS_FROM = 100
"""Folders of the hub's newest sessions that an agent's list is asked for one by one."""

TITLE_MOST = 200
"""Characters of an agent's own title that its session is shown with."""

log = logging.getLogger("trunkline.adapters")


class CatalogAdapter:
    """Implements ``ACPAdapter`` for one agent of a hub."""

    def __init__(self, spec: AgentSpec, hub: Hub) -> None:
        self._spec = spec
        self._hub = hub
        self._version: str | None = None
        self._watching: dict[asyncio.Task[None], Stop] = {}
        """Who is called back for sessions, and what ends the rest of each watch."""

    @property
    def name(self) -> str:
        """The agent's name in the catalog."""
        return self._spec.name

    def get_capabilities(self) -> Capabilities:
        """What runs of this agent have shown it to do."""
        return agent_capabilities(self._spec, self._version)

    async def is_installed(self) -> bool:
        """Whether the agent is on this machine."""
        return (await catalog.detect(self._spec, self._hub.environ, version=False)).installed

    async def get_version(self) -> str | None:
        """The version that the installed agent prints."""
        self._version = (await catalog.detect(self._spec, self._hub.environ)).version
        return self._version

    def get_data_paths(self) -> AgentDataPaths:
        """Where the agent keeps its files on this machine."""
        named = self._spec.paths
        paths = {name: catalog.expand(path, self._hub.environ)
                 for name, path in (("sessions", named.sessions), ("config", named.config), ("logs", named.logs))}
        return AgentDataPaths(**{name: path for name, path in paths.items() if path is not None})

    async def discover_sessions(self) -> list[DiscoveredSession]:
        """Sessions to attach to, newest activity first."""
        if self._hub.closing:
            raise HubStopping("the hub was stopped")
        views, listed, found = await asyncio.gather(self._views(), self._listed(), self._found())
        known = {view.agent_session_id for view in views}
        return merged([*map(from_hub, views),
                       *(from_store(self.name, each) for each in found if each.id not in known),
                       *(from_agent(self.name, each) for each in listed if each.session_id not in known)])

    def watch_sessions(self, callback: Callable[[SessionDiscoveryEvent], None]) -> Stop:
        """Call back when a session appears, changes or goes away, in the hub or in the agent's files."""
        task = watch_hub(self._hub, self.name, callback)
        self._watching[task] = watch_store(self._store, self.name, callback)
        return lambda: self._unwatch(task)

    async def close(self) -> None:
        """Call nobody back any more."""
        watching = list(self._watching)
        for task in watching:
            self._unwatch(task)
        await asyncio.gather(*watching, return_exceptions=True)

    def _unwatch(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._watching.pop(task, _nothing)()

    async def attach_to_session(self, session_id: str, *, watch: bool | None = None, project_path: str | None = None,
                                by: str = LIBRARY) -> HubSession:
        """Join the hub's session of that id, or take over (else: follow) the agent's own one. ``project_path`` is for one that
        the agent has and does not list: the folder that it is opened in."""
        async with self._hub.attach_lock(self.name, session_id):
            return self._session(await self._attach(session_id, watch, project_path, by))

    async def _attach(self, session_id: str, watch: bool | None, project_path: str | None, by: str) -> Session:
        views = await self._views()
        ours = next((view for view in views if session_id in (view.id, view.agent_session_id)), None)
        if ours is not None:
            return await self._ours(ours, session_id, watch, by)
        found = await self._find(session_id)
        if found is None and not watch:
            cwd, title = await self._place_of(session_id, project_path)
            return await self._hub.attach(self.name, session_id, cwd, title=title, by=by)
        if watch is None and found is not None:
            watch = found.in_use or not await self.is_installed() or not await self._hub.lane.run(self._resumes)
        if not watch:
            await self._handover.check_before(session_id)
        session = await self._follow(session_id, found, by)
        if not watch:
            await self._resume(session, by)
        return session

    async def _ours(self, view: SessionView, session_id: str, watch: bool | None, by: str) -> Session:
        """A session that the hub has; one that is followed is taken over, where somebody insists on that."""
        session = await self._hub.session(view.id)
        if watch is False and session_id == view.agent_session_id:
            await self._handover.resume(session, by=by)
        elif watch is False:
            await self._handover.take_over(session, "resume", by=by)
        return session

    async def _resume(self, session: Session, by: str) -> None:
        """Go on with a session that was just begun to be followed; where that fails, it never was."""
        try:
            await self._handover.resume(session, by=by)
        except BaseException:
            await self._hub.delete(session.id)
            raise

    @property
    def _handover(self) -> Handover:
        return Handover(self._hub, self._spec)

    async def latest(self, project_path: str) -> str:
        """The id of the session that was used last in that folder, wherever it was begun."""
        newest = await self._hub.lane.run(_newest_in, await self.discover_sessions(), project_path)
        if newest is None:
            raise NotFound(f"{self._spec.display_name} has no session in {project_path}", details={"projectPath": project_path})
        return newest

    async def start_session(self, options: StartSessionOptions, *, by: str = LIBRARY) -> HubSession:
        """Start a session with its first prompt; model and options are set before the agent gets it."""
        wanted = _wanted(options)
        _check_prompt(options.prompt)
        session = await self._hub.create(
            NewSession(agent=self.name, cwd=options.project_path, mode=wanted.pop("mode", None)), by=by)
        try:
            if options.model is not msgspec.UNSET:
                await session.settings.set_config(_model_option(session), options.model, by=by)
            for config_id, value in wanted.items():
                await session.settings.set_config(config_id, value, by=by)
            await session.turns.send(content_blocks(options.prompt), by=by)
        except BaseException:
            await self._hub.delete(session.id)
            raise
        return self._session(session)

    def _session(self, session: Session) -> HubSession:
        return HubSession(session, self._spec)

    def _store(self) -> AgentStore | None:
        """Where the agent keeps its sessions. It looks at the disk."""
        return discovery.store_of(self._spec.store, catalog.expand(self._spec.paths.sessions, self._hub.environ))

    async def _views(self) -> list[SessionView]:
        """The hub's sessions with this agent."""
        return await self._hub.list(RowFilter(agent=self.name, limit=LISTED_MOST))

    async def _listed(self) -> Iterable[AgentSession]:
        """What the agent lists itself."""
        if not await self.is_installed():
            return ()
        try:
            return await self._hub.agent_sessions(self.name, await self._folders())
        except RemoteError as error:
            log.warning("%s could not be asked for its sessions: %s", self.name, error.message)
            return ()

    async def _folders(self) -> list[str]:
        """Folders that the hub knows, the most recently used first: some agents list only the sessions of one that is named."""
        views = await self._hub.list(RowFilter(limit=FOLDERS_FROM))
        return list(dict.fromkeys(view.cwd for view in views))[:FOLDERS_MOST]

    async def _found(self) -> list[FoundSession]:
        """What is in the agent's files."""
        return await self._hub.lane.run(self._look_for_all)

    async def _find(self, session_id: str) -> FoundSession | None:
        return await self._hub.lane.run(self._look_for, session_id)

    def _look_for_all(self) -> list[FoundSession]:
        store = self._store()
        return store.sessions() if store is not None else []

    def _look_for(self, session_id: str) -> FoundSession | None:
        store = self._store()
        return store.find(session_id) if store is not None else None

    def _resumes(self) -> bool:
        store = self._store()
        return store is None or store.resumes

    async def _place_of(self, session_id: str, project_path: str | None) -> tuple[str, str]:
        """The folder and the title of a session that the agent has: as it lists it, else as whoever knows its id says."""
        if project_path is not None:
            return project_path, ""
        for listed in await self._hub.agent_sessions(self.name, await self._folders()):
            if listed.session_id == session_id:
                return listed.cwd, (listed.title or "")[:TITLE_MOST]
        raise NotFound(f"{self._spec.display_name} has no session {session_id} that it lists; one that it does not list is "
                       "opened where its folder is named", details={"sessionId": session_id})

    async def _follow(self, session_id: str, found: FoundSession | None, by: str) -> Session:
        if await self._hub.lane.run(self._store) is None:
            raise Unsupported(f"sessions of {self._spec.display_name} cannot be followed: it keeps no files that we can read")
        if found is None:
            raise NotFound(f"{self._spec.display_name} has no session {session_id}", details={"sessionId": session_id})
        return await self._hub.follow(self.name, found, by=by)


def hub_adapters(hub: Hub) -> dict[str, CatalogAdapter]:
    """An adapter for each agent of a hub, by name."""
    return {name: CatalogAdapter(spec, hub) for name, spec in hub.agents.items()}


def _wanted(options: StartSessionOptions) -> dict[str, Any]:
    """``agentOptions``: the agent's options by id, and ``mode``."""
    if options.agent_options is msgspec.UNSET:
        return {}
    try:
        wanted = decoders.decode(options.agent_options, dict[str, str | bool])
    except BROKEN as error:
        raise Invalid(f"agentOptions: an option is text or a boolean: {error}") from None
    if not isinstance(wanted.get("mode", ""), str):
        raise Invalid("agentOptions: mode is a text")
    return dict(wanted)


def _check_prompt(prompt: str) -> None:
    """Refuse a first prompt that says nothing, or that no wire could carry, before anything is started for it."""
    if not prompt:
        raise Invalid("prompt must not be empty", details={"field": "prompt"})
    try:
        prompt.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"prompt: {error}", details={"field": "prompt"}) from None


def _model_option(session: Session) -> str:
    """The id of the option by which this agent's model is chosen."""
    try:
        options = read_lenient(bytes(session.fold.config_options), list[SessionConfigOption])
    except Invalid:
        options = []
    for option in options:
        if "model" in (option.category, option.id):
            return option.id
    raise Unsupported("this agent offers no option to choose its model")


def _newest_in(sessions: Iterable[DiscoveredSession], folder: str) -> str | None:
    wanted = os.path.realpath(folder)
    return next((found.id for found in sessions if os.path.realpath(found.project_path) == wanted), None)


def _nothing() -> None:
    """What ends a watch of files where there are none."""
