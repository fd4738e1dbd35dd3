"""How a session comes to be: new, taken over from an agent's own store, branched off another, or followed by its file.

Rule 1: what can be refused is refused before an agent is started.
Rule 2: a session that is begun under a key is begun once (``start_keys.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec

from trunkline.agents.keeper.link import fork_ahead, open_nursery
from trunkline.agents.resources import check_resources
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import McpServer
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.elsewhere.hooks import hook_limit_s
from trunkline.discovery.base import FoundSession
from trunkline.errors import Invalid, Unsupported
from trunkline.hub.agents import Agents, env_for_agent, lend_env
from trunkline.hub.folders import check_place, folder
from trunkline.hub.sandboxes import sandbox_of
from trunkline.hub.sessions import Sessions
from trunkline.hub.shapes import NewSession, content_blocks
from trunkline.hub.start_keys import StartKeys, digest_of
from trunkline.journal.base import Journal
from trunkline.session.commands.requests import check_title
from trunkline.session.driver.elsewhere import waits_elsewhere
from trunkline.session.fold import Fold
from trunkline.session.services import Services
from trunkline.threads import Lane

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trunkline.session.session import Session


class Starts:
    """Begins sessions. ``lane`` is where folders are looked at that callers name."""

    def __init__(self, journal: Journal, sessions: Sessions, agents: Agents, services: Services, lane: Lane) -> None:
        self._sessions = sessions
        self._agents = agents
        self._services = services
        self._lane = lane
        self._keys = StartKeys(journal, sessions.find)
        self._attaching: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def create(self, new: NewSession, *, by: str, key: str | None = None) -> Session:
        """Start a session: the agent is running and ready when this returns. The same ``key`` again is the same session; for
        something else it is refused."""
        self._sessions.check_open()
        if key is None:
            return await self._create(new, by)
        digest = digest_of(new)
        session = await self._keys.once(key, digest, lambda: self._create(new, by, key, digest))
        if new.prompt is not None and session.fold.turns == 0:
            await session.turns.send(content_blocks(new.prompt), idempotency_key=key, by=by)  # known again, unless it was cut off
        return session

    async def attach(self, agent: str, agent_session_id: str, cwd: str, *, title: str | None = None, by: str) -> Session:
        """Take over a session of the agent's own store: its history becomes ours, as far as the agent replays it."""
        self._sessions.check_new()
        spec = self._agents.spec(agent)
        now, cwd = self._services.clock(), await self._real(cwd)
        fold = Fold(session_id=self._services.new_id("ses"), agent=spec.name, cwd=cwd, created_at=now, updated_at=now,
                    title=title or "", agent_session_id=agent_session_id, resources=spec.resources)
        return await self._begin(await self._make(fold), lambda session: session.lifecycle.adopt(by=by))

    async def fork(self, session_id: str, *, cwd: str | None = None, title: str | None = None,
                   env: Mapping[str, str] | None = None, mcp_servers: Sequence[msgspec.Raw] = (), by: str) -> Session:
        """Branch a session off another one, with the conversation so far; both go on by themselves. The branch's agent
        has the variables and MCP servers of the source's, as far as they are not given anew."""
        self._sessions.check_new()
        source = await self._sessions.find(session_id)
        fold = source.fold
        spec = self._agents.spec(fold.agent)
        if not await self._agents.can_fork(fold.agent):
            raise Unsupported(f"sessions with {spec.display_name} cannot be forked")
        if fold.turns == 0 or fold.agent_session_id is None:
            raise Invalid("nothing was said in this session yet; start a new one instead of a fork")
        now = self._services.clock()
        place = await self._real(cwd or fold.cwd) if cwd is not None or fold.watches is not None else fold.cwd
        branch = await self._make(Fold(
            session_id=self._services.new_id("ses"), agent=fold.agent, cwd=place, created_at=now, updated_at=now,
            title=title or fold.title, agent_session_id=fold.agent_session_id, fork_of=fold.agent_session_id,
            sandbox=fold.sandbox, resources=fold.resources, mcp_servers=[*mcp_servers] or fold.mcp_servers))
        branch.env = source.env
        lend_env(branch, env or {}, spec)
        return await self._begin(branch, lambda session: session.lifecycle.adopt(by=by))

    async def follow(self, agent: str, found: FoundSession, *, by: str) -> Session:
        """Watch a session that another program runs, by the file that it writes."""
        self._sessions.check_open()
        spec = self._agents.spec(agent)
        check_place(found.cwd)
        fold = Fold(session_id=self._services.new_id("ses"), agent=spec.name, cwd=found.cwd, created_at=found.created_at,
                    updated_at=found.created_at, title=found.title, agent_session_id=found.id, watches=found.path,
                    waits=waits_elsewhere(hook_limit_s(spec.hooks)), resources=spec.resources)
        return await self._begin(await self._sessions.make(fold), lambda session: session.lifecycle.watch(by=by))

    async def take_over(self, session: Session, check: Callable[[], Awaitable[None]], *, by: str) -> None:
        """Go on here with a session that was followed. ``check`` raises where somebody else has it."""
        self._sessions.check_open()
        await self._real(session.fold.cwd)
        await open_nursery()
        # Whoever asked may leave: it is done whole.
        await asyncio.shield(asyncio.ensure_future(session.lifecycle.take_over(check, by=by)))
        self._agents.on_started(session.fold)

    def attach_lock(self, agent: str, agent_session_id: str) -> asyncio.Lock:
        """Held by whoever looks for a session and attaches to it, so that nobody else does the same meanwhile."""
        return self._attaching.setdefault((agent, agent_session_id), asyncio.Lock())

    async def close(self) -> None:
        """Wait for what is under way."""
        await self._keys.close()

    async def _create(self, new: NewSession, by: str, key: str | None = None, digest: str | None = None) -> Session:
        self._sessions.check_new()
        spec = self._agents.spec(new.agent)
        cwd = await self._real(new.cwd)
        session_id = self._services.new_id("ses")
        now = self._services.clock()
        if new.title is not None:
            check_title(new.title)
        fold = Fold(session_id=session_id, agent=spec.name, cwd=cwd, created_at=now, updated_at=now,
                    mcp_servers=[mcp_server(raw) for raw in new.mcp_servers], start_key=key, start_digest=digest,
                    sandbox=sandbox_of(spec, new), resources=check_resources(new.resources.over(spec.resources)))

        async def open(session: Session) -> None:
            await session.lifecycle.open(env=env_for_agent(new.env, spec), mode=new.mode, title=new.title, by=by)
            if new.prompt is not None:
                await session.turns.send(content_blocks(new.prompt), idempotency_key=key, by=by)

        return await self._begin(await self._make(fold), open)

    async def _make(self, fold: Fold) -> Session:
        """A session whose agent is about to be started. What starts it comes meanwhile, where this is the hub's first."""
        session, _ = await asyncio.gather(self._sessions.make(fold), open_nursery())
        return session

    async def _begin(self, session: Session, open: Callable[[Session], Awaitable[None]]) -> Session:
        await self._sessions.begin(session, open)
        self._agents.on_started(session.fold)
        return session

    async def _real(self, cwd: str) -> str:
        """The folder of an agent that is about to be started. What keeps the agent is forked while the folder is looked at."""
        fork_ahead()
        return await self._lane.run(folder, cwd, self._services.guarded)


def mcp_server(raw: msgspec.Raw) -> msgspec.Raw:
    """An MCP server in the form that agents expect, whichever of the usual forms the client wrote."""
    try:
        return msgspec.Raw(encode_acp(read_lenient(bytes(raw), McpServer)))
    except Invalid as error:
        raise Invalid(f"mcpServers: {error.message}") from error
