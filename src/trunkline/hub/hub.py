"""The hub: one object for servers and programs, made of its parts.

Rule 1: wiring only. What a session does is in ``session/``; what clients may do is in ``server/``; what a hub does with
sessions is in the parts beside this file.
Rule 2: one hub per data directory (the lock is taken by whoever starts it). What an earlier hub left open is closed at the start,
before anybody is let in.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from trunkline.agents.catalog import AgentSpec, Catalog
from trunkline.agents.catalog.own import FOLDER, OwnFolder
from trunkline.agents.keeper.link import open_nursery
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process import close_nursery
from trunkline.dialects.acp.initialize import AgentCapabilities
from trunkline.discovery.base import FoundSession
from trunkline.disk.own_folder import make_own_folder
from trunkline.errors import HubStopping, NotClustered, SessionInUse, TrunklineError
from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import TailBudget
from trunkline.hub.agents import Agents, lend_env
from trunkline.hub.audit import AuditNotes, audit_log, chain_key
from trunkline.hub.away import Away
from trunkline.hub.drivers import Drivers
from trunkline.hub.elsewhere import Elsewhere
from trunkline.hub.folders import folder_lane, guarded_folders
from trunkline.hub.handing import Handing
from trunkline.hub.in_memory import SessionsInMemory
from trunkline.hub.loading import load_for_sessions
from trunkline.hub.recovery import end_left_agents, recover_sessions
from trunkline.hub.replica import Replica
from trunkline.hub.rule_preview import PolicyPreview, RulePreview, preview_policy, preview_rule
from trunkline.hub.sandboxes import hidden_places
from trunkline.hub.sessions import Sessions
from trunkline.hub.shapes import AgentInfo, HubMetrics, HubOptions, NewSession, PendingAsk, Removed, pending_in
from trunkline.hub.sight import ListPage
from trunkline.hub.starts import Starts
from trunkline.journal.base import Entry, RowFilter
from trunkline.journal.committer import Committer
from trunkline.journal.search import SearchIndex
from trunkline.journal.stores import open_store
from trunkline.session.commands.requests import Scope
from trunkline.session.driver.base import AgentSession
from trunkline.session.driver.elsewhere import AsksElsewhere
from trunkline.session.fold import Artifact, Fold, SessionView
from trunkline.session.policy.decide import Policy
from trunkline.session.policy.file import PolicyBook
from trunkline.session.services import Limits, Services

if TYPE_CHECKING:
    from trunkline.session.session import Session

WARM_AFTER_S = 0.05
"""How long whoever came first is served first: to load what sessions need takes a core for some 50 ms."""


class Hub:
    """All sessions of one data directory. Used as an async context manager."""

    def __init__(self, options: HubOptions, *, environ: Mapping[str, str] | None = None, replica: Replica | None = None) -> None:
        self.options = options
        self._replica = replica
        self.agents: Mapping[str, AgentSpec] = Catalog(options.agents, OwnFolder(options.file(FOLDER)))
        self.environ = os.environ if environ is None else environ
        """Where agents are looked for, and what they may see a part of."""
        self.preview_url: Callable[[str, Artifact], str | None] = lambda session_id, artifact: None
        """Set by the server: the address under which an artifact can be shown."""
        self.lane = folder_lane()
        self.policies = PolicyBook(options.rules_file)
        self._warming: asyncio.Task[None] | None = None
        self._turns: dict[str, int] = {}
        self._memory = SessionsInMemory()
        self._pids = PidFiles(options.file("agents"))
        self._journal = open_store(options.store, options.data, options.durability)
        if replica is not None:
            self._journal = replica.wrap(self._journal, lambda held: self._committer.hold(held))
        self.journal_health = self._journal.health
        self.everything = HubFeed(self._journal)
        """The entries of all sessions, in the order of their commits."""
        self.index = SearchIndex(self._journal, options.file("search.db"), self._memory.store_rows)
        """Words to sessions."""
        self._committer = Committer(self._journal, on_drained=self._memory.on_drained, on_committed=self._on_committed(replica))
        self._committer.on_rows = replica.rows if replica is not None else None
        key = chain_key(options)
        self._audit = AuditNotes(self._journal, audit_log(options, key), self._memory)
        self.asks_elsewhere = AsksElsewhere()
        """What programs ask that others run in terminals, through hooks of ours."""
        self.away = Away(options.file("away.json"))
        """Whether the person is away from all terminals."""
        self.elsewhere = Elsewhere(self.agents, self.environ, self._pids, self.lane)
        """Who else has the agents' sessions open."""
        drivers = Drivers(self.agents, self.environ, self._pids, _new_id, hidden_places(options), self.asks_elsewhere)
        services = self._services(drivers, key)
        self._agents = Agents(self.agents, self.environ, self._journal, self._memory, drivers)
        self._sessions = Sessions(self._journal, self._memory, services, drivers, everything=self.everything, index=self.index,
                                  audit=self._audit)
        self._starts = Starts(self._journal, self._sessions, self._agents, services, self.lane)
        self._handing = Handing(self._journal, self._committer, self._sessions, self._agents, self.lane, services.guarded)

    def _services(self, drivers: Drivers, key: bytes) -> Services:
        """What every session gets of this hub."""
        options = self.options
        return Services(
            journal=self._journal, committer=self._committer, budget=TailBudget(), pids=self._pids,
            clock=_now_us, new_id=_new_id,
            limits=Limits(**{name: getattr(options, name) for name in Limits.__struct_fields__}),
            policies=self.policies, chain_key=key, raw_as_sent=options.packets_raw == "agent", guarded=guarded_folders(options),
            preview_url=lambda session_id, artifact: self.preview_url(session_id, artifact), turn_ended=self._on_turn_ended,
            tool_names=drivers.tool_names, confine=drivers.confine, hider=drivers.hider,
            hold_readers=self.everything.hold, let_readers_go=self.everything.let_go, home=self.environ.get("HOME"),
            check_free=self._check_free, node=msgspec.UNSET if self._replica is None else self._replica.node,
            stored_within_s=None if self._replica is None else self._replica.stored_within_s)

    def _on_committed(self, replica: Replica | None) -> Callable[[dict[str, list[Entry]]], None]:
        """Who is told of each group: the readers of the whole hub, and then its copy elsewhere."""
        told = self.everything.committed
        if replica is None:
            return told

        def tell(parts: dict[str, list[Entry]]) -> None:
            told(parts)
            replica.committed(parts)

        return tell

    async def __aenter__(self) -> Self:
        if self.options.keeps_files:
            for folder in (self.options.data, self.options.data / "agents"):
                make_own_folder(folder)
        await self._journal.__aenter__()
        self.policies.changed = partial(asyncio.get_running_loop().call_soon_threadsafe, self._memory.on_rules_changed)
        self.everything.start(self._journal.last_pos)
        try:
            if self._replica is not None:
                await self._replica.open()
            self._audit.open()
            self.away.load()
            await end_left_agents(self._pids, self.agents)
            await recover_sessions(self._journal, self._sessions, self._audit)
        except BaseException:
            await self._journal.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """Stop every agent, end every reader, store everything."""
        self._sessions.closing = True
        if self._replica is not None:
            self._replica.stopping()
        if self._warming is not None:
            self._warming.cancel()
        self.policies.changed = lambda: None
        await self._agents.close()
        await self._sessions.close(HubStopping("the hub was stopped"))
        await self._starts.close()
        await self._committer.close()
        if self._replica is not None:
            await self._replica.close()
        await self._audit.close()
        await self._audit.note(self._memory)
        self.everything.close()
        await self.index.close()
        await self._journal.__aexit__(kind, error, trace)
        close_nursery()

    def expect_session(self) -> None:
        """Somebody is there who may start a session: have ready, in a moment, what the first one needs."""
        if self._warming is None and not self.closing:
            self._warming = asyncio.create_task(self._warm_up())

    async def _warm_up(self) -> None:
        await asyncio.sleep(WARM_AFTER_S)
        await load_for_sessions()
        await open_nursery()

    # What the hub is doing.

    @property
    def sessions_released(self) -> int:
        """How many sessions were dropped from memory or deleted since the start."""
        return self._memory.released

    @property
    def metrics(self) -> HubMetrics:
        """Counters and gauges of this moment."""
        sessions = [*self._memory]
        return HubMetrics(
            entries=sum(session.feed.last_seq for session in sessions), commits=self._committer.commits,
            sessions_open=len(sessions), agents_running=sum(session.agent.running for session in sessions),
            readers_waiting=sum(session.feed.waiting for session in sessions), turns=dict(self._turns),
        )

    @property
    def closing(self) -> bool:
        """Whether the hub is on its way out."""
        return self._sessions.closing

    def refuse_new_with(self, check: Callable[[], None]) -> None:
        """Have ``check`` asked before a session begins here: it raises why none may."""
        self._sessions.refuse_new = check

    def busy(self) -> bool:
        """Whether a turn runs or an approval waits, anywhere."""
        return any(session.busy for session in self._memory)

    def pending(self) -> list[PendingAsk]:
        """Every approval and question that waits, in every session. (Who is waited for is in memory.)"""
        return [ask for session in self._memory for ask in pending_in(session.fold)]

    async def preview_rule(self, request_id: str, *, allow: bool, scope: Scope, by: str) -> RulePreview:
        """What deciding an approval so, for longer than once, would save and answer."""
        return await preview_rule([*self._memory], request_id, allow=allow, scope=scope, by=by)

    async def preview_policy(self, policy: Policy) -> PolicyPreview:
        """What a policy would answer of all that waits if it took the place of the one in force."""
        return await preview_policy([*self._memory], policy)

    # Agents.

    async def agent_infos(self) -> list[AgentInfo]:
        """The catalog, with what is on this machine."""
        return await self._agents.infos()

    async def capabilities_of(self, agent: str) -> AgentCapabilities:
        """What an agent declared when it was last started, by this hub or an earlier one; nothing where it never was."""
        return await self._agents.capabilities_of(agent)

    async def agent_sessions(self, agent: str, folders: Sequence[str] = ()) -> Sequence[AgentSession]:
        """The sessions of the agent's own store; none where the agent does not list them. (Some list only those of a folder
        that one names, so whoever knows folders names them.)"""
        self._sessions.check_open()
        return await self._agents.sessions_of(agent, folders)

    def lend_env(self, session: Session, env: Mapping[str, str]) -> None:
        """Variables for the next start of a session's agent; those it has stay, unless they are given anew."""
        lend_env(session, env, self._agents.spec(session.fold.agent))

    # How sessions come to be.

    async def create(self, new: NewSession, *, by: str, key: str | None = None) -> Session:
        """Start a session: the agent is running and ready when this returns. The same ``key`` again is the same session; for
        something else it is refused."""
        return await self._starts.create(new, by=by, key=key)

    async def attach(self, agent: str, agent_session_id: str, cwd: str, *, title: str | None = None, by: str) -> Session:
        """Take over a session of the agent's own store: its history becomes ours, as far as the agent replays it."""
        return await self._starts.attach(agent, agent_session_id, cwd, title=title, by=by)

    def attach_lock(self, agent: str, agent_session_id: str) -> asyncio.Lock:
        """Held by whoever looks for a session and attaches to it, so that nobody else does the same meanwhile."""
        return self._starts.attach_lock(agent, agent_session_id)

    async def fork(self, session_id: str, *, cwd: str | None = None, title: str | None = None,
                   env: Mapping[str, str] | None = None, mcp_servers: Sequence[msgspec.Raw] = (), by: str) -> Session:
        """Branch a session off another one, with the conversation so far; both go on by themselves."""
        return await self._starts.fork(session_id, cwd=cwd, title=title, env=env, mcp_servers=mcp_servers, by=by)

    async def follow(self, agent: str, found: FoundSession, *, by: str) -> Session:
        """Watch a session that another program runs, by the file that it writes."""
        return await self._starts.follow(agent, found, by=by)

    async def take_over(self, session: Session, check: Callable[[], Awaitable[None]], *, by: str) -> None:
        """Go on here with a session that was followed, under the same id; ``check`` raises where somebody else has it."""
        await self._starts.take_over(session, check, by=by)

    async def can_fork(self, agent: str) -> bool:
        """Whether sessions with this agent can be forked, as far as is known."""
        return await self._agents.can_fork(agent)

    # Sessions by id.

    async def session(self, session_id: str) -> Session:
        """The session of that id, opened from the journal where it is not in memory."""
        return await self._sessions.find(session_id)

    async def list(self, which: RowFilter) -> list[SessionView]:
        """Sessions, newest activity first."""
        return [view for _, view in (await self._sessions.list(which))[0]]

    async def list_on(self, which: RowFilter, *, node: str | None = None) -> ListPage:
        """The same, each with its place in that order, and the place to go on from (``before``); None at the end."""
        if node is not None:
            raise NotClustered("node chooses a node of a cluster, and this hub shows its own sessions only")
        return await self._sessions.list(which)

    async def whole(self) -> HubFeed:
        """The entries of all sessions. (A hub in a cluster shows more than its own: ``sight.py``.)"""
        return self.everything

    def drives(self, agent_session_id: str) -> bool:
        """Whether an agent of ours has a session of that id of its own, whichever: several speak for one program."""
        return any(session.fold.agent_session_id == agent_session_id and session.fold.watches is None for session in self._memory)

    async def _check_free(self, fold: Fold) -> None:
        """Refuse to start an agent on a session that another program has open, or another agent of ours that shares its files."""
        if fold.agent_session_id not in (None, fold.fork_of) and any(
                self._shares_store(session.fold, fold) and session.agent.running for session in self._memory):
            raise SessionInUse("another session of this hub goes on with it: give that one back first",
                               details={"sessionId": fold.agent_session_id, "can": []})
        await self.elsewhere.check_free(fold)

    def _shares_store(self, one: Fold, other: Fold) -> bool:
        """Whether these are two sessions of this hub's agents, and one in the files of the program that both are for."""
        specs = [self.agents.get(fold.agent) for fold in (one, other)]
        stores = [spec.store for spec in specs if spec is not None and spec.store]
        return (one.agent_session_id == other.agent_session_id and one.session_id != other.session_id and one.watches is None
                and other.watches is None and len(stores) == 2 and stores[0] == stores[1])

    async def delete(self, session_id: str) -> Removed | None:
        """Stop a session and forget it. From the first moment on nobody finds it any more. Of a hub in a cluster: what became of
        it there."""
        await self._sessions.delete(session_id)
        return None if self._replica is None else await self._replica.deleted(session_id)

    # Sessions that change hubs.

    async def let_go(self, session_id: str, why: TrunklineError, *, force: bool) -> int:
        """Stop a session at its rest, so that another hub can go on with it; its last seq. ``keep`` undoes it."""
        return await self._sessions.let_go(session_id, why, force=force)

    def keep(self, session_id: str) -> None:
        """Nobody came for it: it goes on here."""
        self._sessions.keep(session_id)

    @property
    def handing(self) -> Handing:
        """What takes sessions in that come from other hubs."""
        return self._handing

    def _on_turn_ended(self, outcome: str, fold: Fold) -> None:
        self._turns[outcome] = self._turns.get(outcome, 0) + 1
        self._audit.turn_ended(fold.session_id, fold.chain)


def _now_us() -> int:
    """UTC, microseconds."""
    return time.time_ns() // 1000


def _new_id(prefix: str) -> str:
    return f"{prefix}_{os.urandom(8).hex()}"
