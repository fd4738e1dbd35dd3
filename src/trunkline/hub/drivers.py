"""Which driver a session gets: one that speaks its agent's language, or one for the file that somebody else's agent writes.

Rule: a driver is imported when the first session needs it. A hub answers before it has any.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trunkline import __version__, discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.environment import clean_env
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.sandbox import Confine, as_is, nothing_hidden
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import Signal
from trunkline.discovery.base import AgentStore, TranscriptReading
from trunkline.discovery.follow import LINE_MOST
from trunkline.disk.reading import open_plain
from trunkline.errors import NotFound, Unavailable, Unsupported
from trunkline.hub.loading import DRIVERS, SESSIONS, load
from trunkline.hub.sandboxes import confined, stricter, wish_of
from trunkline.session.driver.base import AgentSession, Driver
from trunkline.session.driver.elsewhere import AsksElsewhere
from trunkline.session.fold import Fold
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.session.driver.acp.driver import AcpDriver
    from trunkline.session.driver.acp.listing import Inquiry
    from trunkline.session.driver.watch import WatchDriver
    from trunkline.session.session import Session

FREE_S = 5.0
"""How long a prompt waits for the disk to say how much fits on it."""

READ_S = 120.0
"""How long a long conversation may take to be read."""

REPLAYED = 200
"""Signals of a conversation's file that are emitted in one go; the loop runs between."""


class Drivers:
    """The agents that a hub knows, ready to be started."""

    def __init__(self, agents: Mapping[str, AgentSpec], environ: Mapping[str, str], pids: PidFiles,
                 new_id: Callable[[str], str], hidden: Sequence[str] = (), asks: AsksElsewhere | None = None) -> None:
        """``hidden`` is what no sandbox shows, ``asks`` what programs ask by hooks."""
        self._agents = agents
        self._environ = environ
        self._pids = pids
        self._new_id = new_id
        self._hidden = hidden
        self._asks = asks or AsksElsewhere()

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

    def kind_of(self, agent: str) -> str:
        """Which driver an agent has; that of most where nobody knows it any more."""
        spec = self._agents.get(agent)
        return spec.driver if spec is not None else "acp"

    def driver_for(self, session: Session) -> Driver:
        """What drives a session's agent."""
        spec = self.spec(session.fold.agent)
        if session.fold.watches is not None:
            return self._watch_driver(spec, session, session.fold.watches)
        env = self._env_for(spec, session.env)
        session.agent.set_sandbox(stricter(spec, session.fold.sandbox))
        if spec.driver == "stream-json":
            return self._stream_json_driver(spec, session, env)
        from trunkline.session.client.editors import EditorCalls
        from trunkline.session.driver.acp.driver import AcpDriver

        agent = session.agent
        return AcpDriver(
            spec, cwd=session.fold.cwd, env=env,
            calls=EditorCalls(session.editors, session.id, agent.workspace, env, spec.quirks, agent.permits,
                              agent.acted, agent.printed, agent.prints, session.confine, session.fold.resources),
            mcp_servers=session.fold.mcp_servers, sink=agent, new_id=lambda: self._new_id("req"), version=__version__,
            fork=_forks(session.fold), is_known=session.fold.turns > 0, confine=session.confine, resources=session.fold.resources)

    def confine(self, fold: Fold, more: Mapping[str, str]) -> Confine:
        """How what runs for a session is kept in its sandbox. (Its agent's entry may be gone; its sandbox is not.)"""
        spec = self._agents.get(fold.agent)
        sandbox = stricter(spec, fold.sandbox)
        if sandbox is None:
            return as_is
        return confined(spec, sandbox, [fold.cwd], self._env_in(spec, more), self._agents, self._environ, self._hidden)

    def hider(self, fold: Fold, more: Mapping[str, str]) -> Callable[[str], bool]:
        """Says of a real path whether a session's sandbox hides it by name. It looks at the disk."""
        spec = self._agents.get(fold.agent)
        if stricter(spec, fold.sandbox) is None:
            return nothing_hidden
        from trunkline.agents.sandbox.places import hider

        return hider(wish_of(spec, [fold.cwd], self._env_in(spec, more), self._agents, self._environ, self._hidden))

    async def capabilities_of(self, agent: str) -> msgspec.Raw | None:
        """What an agent can do whose driver is ours, so that it need not be asked."""
        spec = self._agents.get(agent)
        if spec is None or spec.driver != "stream-json":
            return None
        await load(*DRIVERS[spec.driver])
        from trunkline.session.driver.stream_json.opening import CAPABILITIES

        return CAPABILITIES

    async def ask_for_sessions(self, spec: AgentSpec, folders: Sequence[str]) -> Sequence[AgentSession]:
        """Ask an agent that is started for the question; one that cannot be asked has only its files, which others read."""
        if spec.driver != "acp":
            return []
        await load(SESSIONS, *DRIVERS[spec.driver])
        from trunkline.session.driver.acp.driver import AcpDriver
        from trunkline.session.driver.acp.listing import Inquiry, NoCalls, ask_for_sessions

        def driver(folder: str, sink: Inquiry) -> AcpDriver:
            listing = Fold(session_id="", agent=spec.name, cwd=folder, created_at=0, updated_at=0)
            return AcpDriver(spec, cwd=folder, env=self._env_for(spec, {}), calls=NoCalls(), mcp_servers=[], sink=sink,
                             new_id=lambda: self._new_id("req"), version=__version__, confine=self.confine(listing, {}))

        return await ask_for_sessions(driver, Inquiry(self._new_id("list"), self._pids), folders)

    def _stream_json_driver(self, spec: AgentSpec, session: Session, env: dict[str, str]) -> Driver:
        from trunkline.session.driver.stream_json.driver import StreamJsonDriver

        fold = session.fold
        past = _Past(spec.store, catalog.expand(spec.paths.sessions, env), session.workspace.lane)
        return StreamJsonDriver(
            spec, cwd=fold.cwd, env=env, mcp_servers=fold.mcp_servers, sink=session.agent, new_id=self._new_id,
            new_uuid=_new_uuid, past=past, verdict=session.agent.verdict_on, is_known=fold.turns > 0,
            waits=lambda: _waits(fold), fork=_forks(fold), confine=session.confine, resources=fold.resources)

    def _watch_driver(self, spec: AgentSpec, session: Session, path: str) -> WatchDriver:
        store, folder = discovery.store_type(spec.store), catalog.expand(spec.paths.sessions, self._environ)
        if store is None or folder is None:
            raise Unsupported(f"the session files of {spec.display_name} cannot be read")
        from trunkline.session.driver.watch import WatchDriver

        fold = session.fold
        source = store.following(path, fold.agent_session_id or "", fold.watch_position, session.agent.followed, folder=folder,
                                 prepare=session.agent.reading.prepare, parts=dict(fold.watch_parts),
                                 on_part=session.agent.followed_part)
        return WatchDriver(source, self._asks)

    def _env_in(self, spec: AgentSpec | None, more: Mapping[str, str]) -> dict[str, str]:
        return self._env_for(spec, more) if spec is not None else clean_env((), self._environ)

    def _env_for(self, spec: AgentSpec, more: Mapping[str, str]) -> dict[str, str]:
        return clean_env(spec.env_allow, {**self._environ, **more}, {**spec.env})


def _forks(fold: Fold) -> bool:
    """Whether the session is a branch that is still to be made."""
    return fold.fork_of is not None and fold.fork_of == fold.agent_session_id


class _Past:
    """An agent's sessions on disk, as its driver asks for them."""

    def __init__(self, name: str, folder: str | None, lane: Lane) -> None:
        self._name = name
        self._folder = folder
        self._lane = lane

    async def has(self, session_id: str) -> bool:
        """Whether there is a file of it; where its place is not known, it may be there."""
        return await self._lane.run(self._has, session_id)

    async def replay(self, session_id: str) -> AsyncIterator[list[Signal]]:
        """What its file holds, in pieces; nothing where there is none."""
        signals = await self._lane.run_within(READ_S, self._read_all, session_id)
        for start in range(0, len(signals), REPLAYED):
            yield signals[start:start + REPLAYED]
            await asyncio.sleep(0)

    async def free_bytes(self) -> int | None:
        """How much more fits on the disk that they are on; None where that is not known in time."""
        try:
            return await self._lane.run_within(FREE_S, self._free_bytes)
        except (OSError, Unavailable):  # TimeoutError is an OSError
            return None

    def _has(self, session_id: str) -> bool:
        store = self._store()
        return store is None or store.find(session_id) is not None

    def _read_all(self, session_id: str) -> list[Signal]:
        store, reading = self._store(), discovery.reading_of(self._name)
        return read_past(store, reading, session_id) if store is not None and reading is not None else []

    def _store(self) -> AgentStore | None:
        """Where they are. It looks at the disk, as all that is done with it does."""
        return discovery.store_of(self._name, self._folder)

    def _free_bytes(self) -> int | None:
        store = self._store()
        folder = store.folder if store is not None else ""
        while folder and not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        if not folder:
            return None
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize


def read_past(store: AgentStore, reading: TranscriptReading, session_id: str) -> list[Signal]:
    """All that the file of a session says. It looks at the disk."""
    found = store.find(session_id)
    if found is None:
        return []
    with open_plain(found.path) as file:
        lines = iter(lambda: file.readline(LINE_MOST), b"")
        signals = [signal for line in lines if line.endswith(b"\n") for _, signal in reading.line(line)]
    return [*signals, *(signal for _, signal in reading.settle())]


def _new_uuid() -> str:
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))


def _waits(fold: Fold) -> bool:
    """Whether a person is asked, or a tool runs: an agent that says nothing then is not stuck."""
    runs = any(not call.finished and call.state.status == "in_progress" for call in fold.calls.values())
    return runs or bool(fold.approvals or fold.questions)
