"""The agents that a hub can run: what is known of each, what it can do, which sessions it has itself.

Rule: what an agent declared when it was last started is believed, by this hub and by later ones. Nobody starts an
agent only to learn that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.environment import clean_env
from trunkline.dialects.acp.initialize import AgentCapabilities
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.errors import HubStopping, Invalid, SessionUnreadable
from trunkline.hub.drivers import Drivers
from trunkline.hub.in_memory import SessionsInMemory
from trunkline.hub.shapes import AgentInfo
from trunkline.journal.base import Journal, RowFilter
from trunkline.session.driver.base import AgentSession
from trunkline.session.fold import NULL, Fold, restore

if TYPE_CHECKING:
    from trunkline.session.session import Session


class Agents:
    """The catalog's agents and those of the settings."""

    def __init__(self, specs: Mapping[str, AgentSpec], environ: Mapping[str, str], journal: Journal, memory: SessionsInMemory,
                 drivers: Drivers) -> None:
        self._specs = specs
        self._environ = environ
        self._journal = journal
        self._memory = memory
        self._drivers = drivers
        self._capabilities: dict[str, msgspec.Raw] = {}
        self._listing: dict[tuple[str, ...], asyncio.Task[Sequence[AgentSession]]] = {}
        """Agents that were started only to list their sessions, by agent and folders."""

    def spec(self, name: str) -> AgentSpec:
        """The entry of that name; NotFound where there is none."""
        return self._drivers.spec(name)

    async def infos(self) -> list[AgentInfo]:
        """All of them, with what is on this machine."""
        return list(await asyncio.gather(*(self._info(spec) for spec in self._specs.values())))

    def on_started(self, fold: Fold) -> None:
        """A session's agent was started, and declared what it can do."""
        if fold.watches is None:
            self._capabilities[fold.agent] = fold.agent_capabilities

    async def can_fork(self, agent: str) -> bool:
        """Whether sessions with this agent can be forked, as far as is known."""
        return (await self.capabilities_of(agent)).session.fork is not None

    async def capabilities_of(self, agent: str) -> AgentCapabilities:
        """What an agent declared when it was last started, by this hub or an earlier one; nothing where it never was."""
        known = self._capabilities.get(agent) or await self._drivers.capabilities_of(agent) or await self._stored(agent)
        try:
            return read_lenient(bytes(known), AgentCapabilities)
        except Invalid:
            return AgentCapabilities()

    async def sessions_of(self, agent: str, folders: Sequence[str] = ()) -> Sequence[AgentSession]:
        """The sessions of the agent's own store; none where the agent does not list them."""
        spec = self.spec(agent)
        for session in self._memory:
            if session.fold.agent == agent and session.agent.running and not session.busy:
                return await session.agent.list_sessions(folders)
        key = (agent, *folders)
        listing = self._listing.get(key)
        if listing is None:
            listing = self._listing[key] = asyncio.create_task(self._drivers.ask_for_sessions(spec, folders))
            listing.add_done_callback(lambda _: self._listing.pop(key, None))
        try:
            return await asyncio.shield(listing)
        except asyncio.CancelledError:
            if listing.cancelled():  # by the hub, which is being stopped, and not by the caller
                raise HubStopping("the hub was stopped") from None
            raise

    async def close(self) -> None:
        """End those that were started only to list their sessions."""
        for listing in [*self._listing.values()]:
            listing.cancel()
        await asyncio.gather(*self._listing.values(), return_exceptions=True)

    async def _info(self, spec: AgentSpec) -> AgentInfo:
        found = await catalog.detect(spec, self._environ)
        return AgentInfo.of(spec, found, self._capabilities.get(spec.name, NULL))

    async def _stored(self, agent: str) -> msgspec.Raw:
        """What the agent's newest session in the journal knows of it."""
        rows = await self._journal.rows(RowFilter(agent=agent, limit=1))
        try:
            known = self._capabilities[agent] = restore(rows[0].checkpoint).agent_capabilities if rows else NULL
        except SessionUnreadable:
            return NULL
        return known


def env_for_agent(env: Mapping[str, str], spec: AgentSpec) -> dict[str, str]:
    """The caller's variables that this agent may see."""
    allowed = clean_env(spec.env_allow, env)
    return {name: value for name, value in env.items() if name in allowed}


def lend_env(session: Session, env: Mapping[str, str], spec: AgentSpec) -> None:
    """Variables for the next start of a session's agent; those it has stay, unless they are given anew."""
    session.env = {**session.env, **env_for_agent(env, spec)}
