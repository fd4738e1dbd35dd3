"""Which driver a session gets: its agent's own process, or the file that somebody else's agent writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trunkline import __version__, discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.environment import clean_env
from trunkline.dialects.roles import ToolNames
from trunkline.discovery.follow import Follower
from trunkline.errors import NotFound, Unsupported
from trunkline.session.acp_driver import AcpDriver
from trunkline.session.client_calls import ClientCalls
from trunkline.session.driver import AgentSession, Driver
from trunkline.session.listing import Inquiry, NoCalls, ask_for_sessions
from trunkline.session.pids import PidFiles
from trunkline.session.session import Session
from trunkline.session.watch_driver import WatchDriver


class Drivers:
    """The agents that a hub knows, ready to be started."""

    def __init__(self, agents: Mapping[str, AgentSpec], environ: Mapping[str, str], pids: PidFiles,
                 new_id: Callable[[str], str]) -> None:
        self._agents = agents
        self._environ = environ
        self._pids = pids
        self._new_id = new_id

    def spec(self, name: str) -> AgentSpec:
        """The catalog's entry of that name."""
        try:
            return self._agents[name]
        except KeyError:
            known = ", ".join(sorted(self._agents))
            raise NotFound(f"no agent {name!r}; known are: {known}", details={"agent": name}) from None

    def tool_names(self, agent: str) -> ToolNames:
        """What an agent calls its tools; a session may outlive its agent's entry."""
        spec = self._agents.get(agent)
        return spec.tool_names if spec is not None else ToolNames()

    def driver_for(self, session: Session) -> Driver:
        """What drives a session's agent."""
        spec = self.spec(session.fold.agent)
        if session.fold.watches is not None:
            return self._watch_driver(spec, session, session.fold.watches)
        env = self._env_for(spec, session.env)
        return AcpDriver(
            spec, cwd=session.fold.cwd, env=env,
            calls=ClientCalls(session.workspace, env, spec.quirks, session.permits, session.acted, session.printed),
            mcp_servers=session.fold.mcp_servers, sink=session, new_id=lambda: self._new_id("req"), version=__version__)

    async def ask_for_sessions(self, spec: AgentSpec, folders: Sequence[str]) -> Sequence[AgentSession]:
        """Ask an agent that is started for the question."""

        def driver(folder: str, sink: Inquiry) -> AcpDriver:
            return AcpDriver(spec, cwd=folder, env=self._env_for(spec, {}), calls=NoCalls(), mcp_servers=[], sink=sink,
                             new_id=lambda: self._new_id("req"), version=__version__)

        return await ask_for_sessions(driver, Inquiry(self._new_id("list"), self._pids), folders)

    def _watch_driver(self, spec: AgentSpec, session: Session, path: str) -> WatchDriver:
        store = discovery.store_of(spec.store, catalog.expand(spec.paths.sessions, self._environ))
        if store is None:
            raise Unsupported(f"the session files of {spec.display_name} cannot be read")
        position = session.fold.watch_position
        return WatchDriver(Follower(path, store.reading(), position, session.followed, folder=store.folder))

    def _env_for(self, spec: AgentSpec, more: Mapping[str, str]) -> dict[str, str]:
        return clean_env(spec.env_allow, {**self._environ, **more}, {**spec.env})
