"""The hub: sessions made, found, joined, deleted and recovered.

Rule 1: wiring only. What a session does is in ``session/``; what clients may do is in ``server/``.
Rule 2: one hub per data directory (the lock is taken by whoever starts it). What an earlier hub left open is closed at the start,
before anybody is let in.
Rule 3: a session is in memory while it is used or waits for a person; any other is opened from the journal when somebody asks
for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self
from weakref import WeakValueDictionary

import msgspec

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process import close_nursery
from trunkline.agents.process_tree import end_leftover
from trunkline.agents.resources import check_resources
from trunkline.dialects.acp.initialize import AgentCapabilities
from trunkline.dialects.acp.lenient import read_lenient
from trunkline.discovery.base import FoundSession
from trunkline.errors import (
    HubRestarted,
    HubStopping,
    Invalid,
    SessionDeleted,
    SessionNotFound,
    SessionUnreadable,
    TrunklineError,
    Unsupported,
)
from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import TailBudget
from trunkline.hub.audit import Noting
from trunkline.hub.drivers import Drivers
from trunkline.hub.loading import session_type
from trunkline.hub.restore import restored
from trunkline.hub.rows import stored_view
from trunkline.hub.rule_preview import RulePreview, preview_rule
from trunkline.hub.sandboxes import hidden_places, sandbox_of
from trunkline.hub.setup import (
    allowed_env,
    audit_log,
    chain_key,
    check_place,
    folder,
    folder_lane,
    guarded_folders,
    journal_for,
    mcp_server,
    now_us,
)
from trunkline.hub.shapes import AgentInfo, HubMetrics, HubOptions, NewSession, PendingAsk, content_blocks, pending_in
from trunkline.hub.starting import Starts, digest_of
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.journal.committer import Committer
from trunkline.journal.newest import NewestIds
from trunkline.journal.search import SearchIndex
from trunkline.session.commands.requests import Scope, check_title
from trunkline.session.driver.base import AgentSession
from trunkline.session.fold import IS_OPEN, NULL, Artifact, Fold, SessionView, restore
from trunkline.session.policy.file import PolicyBook
from trunkline.session.services import Lent, Limits

if TYPE_CHECKING:
    from trunkline.session.session import Session

log = logging.getLogger("trunkline.hub")

Place = tuple[int, str]
"""Where a session stands in a list, the newest activity first: when something last happened in it, and its id."""

KEPT_IDLE = 200
"""Sessions kept in memory though nobody uses them; beyond it the one that was used longest ago is dropped."""


class Hub:
    """All sessions of one data directory. Used as an async context manager."""

    def __init__(self, options: HubOptions, *, environ: Mapping[str, str] | None = None) -> None:
        self.options = options
        self.agents: dict[str, AgentSpec] = {**catalog.load(), **options.agents}
        self.preview_url: Callable[[str, Artifact], str | None] = lambda session_id, artifact: None
        """Set by the server: the address under which an artifact can be shown."""
        self.environ = os.environ if environ is None else environ
        """Where agents are looked for, and what they may see a part of."""
        self.lane = folder_lane()
        self._journal: Journal = journal_for(options)
        self.journal_health = self._journal.health
        self.policies = PolicyBook(None if options.memory else options.policy_file or options.data_dir / "policy.toml")
        self.everything = HubFeed(self._journal)
        """The entries of all sessions, in the order of their commits."""
        self._starts = Starts(self._journal, self.session)
        self._committer = Committer(self._journal, on_drained=self._drained, on_committed=self.everything.committed)
        self.index = SearchIndex(self._journal, None if options.memory else options.data_dir / "search.db", self._store_rows)
        """Words to sessions."""
        self._pids = PidFiles(None if options.memory else options.data_dir / "agents")
        self._sessions: dict[str, Session] = {}
        self._unused: WeakValueDictionary[str, Session] = WeakValueDictionary()
        """Sessions that only their readers, if anybody, still hold: a second one of the same id must not be made."""
        self._creating: dict[Session, asyncio.Event] = {}
        """Sessions that are being opened; the event is set when they are open, or undone."""
        self._opening: dict[str, asyncio.Task[Session]] = {}
        self._asking: dict[tuple[str, ...], asyncio.Task[Sequence[AgentSession]]] = {}
        """Agents that were started only to be asked for their sessions, by agent and folders."""
        self._attaching: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._deleted = NewestIds()
        self._turns: dict[str, int] = {}
        self._capabilities: dict[str, msgspec.Raw] = {}
        self._closing = False
        self._drivers = Drivers(self.agents, self.environ, self._pids, _new_id, hidden_places(options))
        key = chain_key(options)
        self._noting = Noting(self._journal, audit_log(options, key), lambda: self._sessions.values())
        self._lent = Lent(
            journal=self._journal, committer=self._committer, budget=TailBudget(), pids=self._pids,
            clock=now_us, new_id=_new_id,
            limits=Limits(approval_s=options.approval_timeout_s, silence_s=options.idle_timeout_s,
                          tool_silence_s=options.tool_timeout_s, agent_idle_s=options.agent_idle_stop_s,
                          cancel_grace_s=options.cancel_grace_s, silence_grace_s=options.silence_grace_s),
            policies=self.policies, chain_key=key, raw_as_sent=options.packets_raw == "agent", guarded=guarded_folders(options),
            preview_url=lambda session_id, artifact: self.preview_url(session_id, artifact), turn_ended=self._count_turn,
            tool_names=self._drivers.tool_names, confine=self._drivers.confine, hider=self._drivers.hider,
            home=self.environ.get("HOME"))

    async def __aenter__(self) -> Self:
        if not self.options.memory:
            for folder in (self.options.data_dir, self.options.data_dir / "agents"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await self._journal.__aenter__()
        self.policies.changed = partial(asyncio.get_running_loop().call_soon_threadsafe, self._rules_changed)
        self.everything.start()
        try:
            self._noting.open()
            await self._recover()
        except BaseException:
            await self._journal.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """Stop every agent, end every reader, store everything."""
        self._closing = True
        self.policies.changed = lambda: None
        stopping = HubStopping("the hub was stopped")
        for asking in [*self._asking.values()]:
            asking.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)
        creating = [*self._creating.values()]
        await asyncio.gather(*(session.close(stopping) for session in [*self._sessions.values(), *self._creating]))
        await asyncio.gather(*(done.wait() for done in creating))
        await self._starts.close()
        await self._committer.close()
        await self._noting.close()
        await self._noting.note([*self._sessions.values()])
        self.everything.close()
        await self.index.close()
        await self._journal.__aexit__(kind, error, trace)
        close_nursery()

    @property
    def metrics(self) -> HubMetrics:
        """What the hub is doing."""
        sessions = self._sessions.values()
        return HubMetrics(
            entries=sum(session.feed.last_seq for session in sessions), commits=self._committer.commits,
            sessions_open=len(sessions), agents_running=sum(session.agent_running for session in sessions),
            readers_waiting=sum(session.feed.waiting for session in sessions), turns=dict(self._turns),
        )

    @property
    def closing(self) -> bool:
        """Whether the hub is on its way out."""
        return self._closing

    def busy(self) -> bool:
        """Whether a turn runs or an approval waits, anywhere."""
        return any(session.busy for session in self._sessions.values())

    def pending(self) -> list[PendingAsk]:
        """Every approval and question that waits, in every session. (Who is waited for is in memory.)"""
        return [ask for session in self._sessions.values() for ask in pending_in(session.fold)]

    async def preview_rule(self, request_id: str, *, allow: bool, scope: Scope, by: str) -> RulePreview:
        """What deciding an approval so, for longer than once, would save and answer."""
        return await preview_rule([*self._sessions.values()], request_id, allow=allow, scope=scope, by=by)

    async def agent_infos(self) -> list[AgentInfo]:
        """The catalog, with what is on this machine."""
        return list(await asyncio.gather(*(self._agent_info(spec) for spec in self.agents.values())))

    async def create(self, new: NewSession, *, by: str, key: str | None = None) -> Session:
        """Start a session: the agent is running and ready when this returns. The same ``key`` again is the same session; for
        something else it is refused."""
        self._check_open()
        if key is None:
            return await self._create(new, by)
        digest = digest_of(new)
        session = await self._starts.once(key, digest, lambda: self._create(new, by, key, digest))
        if new.prompt is not None and session.fold.turns == 0:
            await session.send(content_blocks(new.prompt), idempotency_key=key, by=by)  # known again, unless it was cut off
        return session

    async def _create(self, new: NewSession, by: str, key: str | None = None, digest: str | None = None) -> Session:
        spec = self._drivers.spec(new.agent)
        cwd = await self.lane.run(folder, new.cwd, self._lent.guarded)
        session_id = self._lent.new_id("ses")
        now = self._lent.clock()
        if new.title is not None:
            check_title(new.title)
        fold = Fold(session_id=session_id, agent=spec.name, cwd=cwd, created_at=now, updated_at=now,
                    mcp_servers=[mcp_server(raw) for raw in new.mcp_servers], start_key=key, start_digest=digest,
                    sandbox=sandbox_of(spec, new), resources=check_resources(new.resources.over(spec.resources)))

        async def open(session: Session) -> None:
            await session.open(env=allowed_env(new.env, spec), mode=new.mode, title=new.title, by=by)
            if new.prompt is not None:
                await session.send(content_blocks(new.prompt), idempotency_key=key, by=by)

        return await self._begin(await self._session_of(fold), open)

    async def attach(self, agent: str, agent_session_id: str, cwd: str, *, title: str | None = None, by: str) -> Session:
        """Take over a session of the agent's own store: its history becomes ours, as far as the agent tells it again."""
        self._check_open()
        spec = self._drivers.spec(agent)
        now, cwd = self._lent.clock(), await self.lane.run(folder, cwd, self._lent.guarded)
        fold = Fold(session_id=self._lent.new_id("ses"), agent=spec.name, cwd=cwd, created_at=now, updated_at=now,
                    title=title or "", agent_session_id=agent_session_id, resources=spec.resources)
        return await self._begin(await self._session_of(fold), lambda session: session.adopt(by=by))

    async def fork(self, session_id: str, *, cwd: str | None = None, title: str | None = None,
                   env: Mapping[str, str] | None = None, mcp_servers: Sequence[msgspec.Raw] = (), by: str) -> Session:
        """Branch a session off another one, with all that was said in it so far; both go on by themselves. The branch's agent
        has the variables and MCP servers of the source's, as far as they are not given anew."""
        self._check_open()
        source = await self.session(session_id)
        fold = source.fold
        spec = self._drivers.spec(fold.agent)
        if not await self.forks(fold.agent) or fold.watches is not None:
            raise Unsupported(f"sessions with {spec.display_name} cannot be forked")
        if fold.turns == 0 or fold.agent_session_id is None:
            raise Invalid("nothing was said in this session yet; start a new one instead of a fork")
        now = self._lent.clock()
        place = await self.lane.run(folder, cwd, self._lent.guarded) if cwd is not None else fold.cwd
        branch = await self._session_of(Fold(
            session_id=self._lent.new_id("ses"), agent=fold.agent, cwd=place, created_at=now, updated_at=now,
            title=title or fold.title, agent_session_id=fold.agent_session_id, fork_of=fold.agent_session_id,
            sandbox=fold.sandbox, resources=fold.resources, mcp_servers=[*mcp_servers] or fold.mcp_servers))
        branch.env = source.env
        self.lend_env(branch, env or {})
        return await self._begin(branch, lambda session: session.adopt(by=by))

    async def follow(self, agent: str, found: FoundSession, *, by: str) -> Session:
        """Watch a session that another program runs, by the file that it writes."""
        self._check_open()
        spec = self._drivers.spec(agent)
        check_place(found.cwd)
        fold = Fold(session_id=self._lent.new_id("ses"), agent=spec.name, cwd=found.cwd, created_at=found.created_at,
                    updated_at=found.created_at, title=found.title, agent_session_id=found.id, watches=found.path)
        return await self._begin(await self._session_of(fold), lambda session: session.watch(by=by))

    async def forks(self, agent: str) -> bool:
        """Whether sessions with this agent can be forked, as far as is known."""
        return (await self.capabilities_of(agent)).session.fork is not None

    async def capabilities_of(self, agent: str) -> AgentCapabilities:
        """What an agent said of itself when it was last started, by this hub or an earlier one; nothing where it never was."""
        known = self._capabilities.get(agent) or await self._drivers.capabilities_of(agent)
        if known is None:
            rows = await self._journal.rows(RowFilter(agent=agent, limit=1))
            try:
                known = self._capabilities[agent] = restore(rows[0].checkpoint).agent_capabilities if rows else NULL
            except SessionUnreadable:
                known = NULL
        try:
            return read_lenient(bytes(known), AgentCapabilities)
        except Invalid:
            return AgentCapabilities()

    def lend_env(self, session: Session, env: Mapping[str, str]) -> None:
        """Variables for the next start of a session's agent; those it has stay, unless they are given anew."""
        session.env = {**session.env, **allowed_env(env, self._drivers.spec(session.fold.agent))}

    def attach_lock(self, agent: str, agent_session_id: str) -> asyncio.Lock:
        """Held by whoever looks for a session and attaches to it, so that nobody else does the same meanwhile."""
        return self._attaching.setdefault((agent, agent_session_id), asyncio.Lock())

    async def agent_sessions(self, agent: str, folders: Sequence[str] = ()) -> Sequence[AgentSession]:
        """The sessions of the agent's own store; none where the agent does not list them. (Some list only those of a folder
        that one names, so whoever knows folders names them.)"""
        self._check_open()
        spec = self._drivers.spec(agent)
        for session in self._sessions.values():
            if session.fold.agent == agent and session.agent_running and not session.busy:
                return await session.agent_sessions(folders)
        key = (agent, *folders)
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._drivers.ask_for_sessions(spec, folders))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if asking.cancelled():  # by the hub, which is being stopped, and not who asks
                raise HubStopping("the hub was stopped") from None
            raise

    async def session(self, session_id: str) -> Session:
        """The session of that id, opened from the journal where it is not in memory."""
        if session_id in self._deleted:
            raise _not_found(session_id)
        session = self._sessions.get(session_id) or self._recall(session_id)
        if session is not None:
            return session
        self._check_open()
        opening = self._opening.get(session_id)
        if opening is None:
            opening = self._opening[session_id] = asyncio.create_task(self._open(session_id))
            opening.add_done_callback(lambda _: self._opening.pop(session_id, None))
        return await asyncio.shield(opening)

    async def _store_rows(self) -> None:
        """Have every session's row say how it is now."""
        await asyncio.gather(*(session.store_row() for session in [*self._sessions.values()]))

    async def list(self, which: RowFilter) -> list[SessionView]:
        """Sessions, newest activity first."""
        return [view for _, view in (await self.list_on(which))[0]]

    async def list_on(self, which: RowFilter) -> tuple[Sequence[tuple[Place, SessionView]], Place | None]:
        """The same, each with its place in that order, and the place to go on from (``before``); None at the end."""
        await self._store_rows()
        rows = await self._journal.rows(which)
        found = [((row.updated_at, row.id), await self._view(row)) for row in rows if row.id not in self._deleted]
        return found, (rows[-1].updated_at, rows[-1].id) if len(rows) == which.limit else None

    async def delete(self, session_id: str) -> None:
        """Stop a session and forget it. From the first moment on nobody finds it any more."""
        try:
            session: Session | None = await self.session(session_id)
        except SessionUnreadable:
            session = None
        self._deleted.add(session_id)
        self.index.hide(session_id)
        if session is not None:
            await session.close(SessionDeleted(f"session {session_id} was deleted", details={"sessionId": session_id}))
        self._sessions.pop(session_id, None)
        self._noting.delete(session_id)
        await self._journal.delete(session_id)
        await self.index.forget(session_id)
        self.everything.forget_session(session_id)

    async def _view(self, row: SessionRow) -> SessionView:
        session = self._sessions.get(row.id)
        return session.view() if session is not None else await stored_view(self._journal, row)

    async def _open(self, session_id: str) -> Session:
        rows = await self._journal.rows(RowFilter(id=session_id, limit=1))
        if not rows or session_id in self._deleted:
            raise _not_found(session_id)
        session = await self._restored(rows[0])
        await session.reread_open_text()
        if session_id in self._deleted:
            raise _not_found(session_id)
        self._sessions[session_id] = session
        self._make_room()
        if session.fold.watches is not None:
            await self._follow_on(session)
        return session

    async def _follow_on(self, session: Session) -> None:
        try:
            await session.watch(by="hub")
        except TrunklineError as error:
            log.warning("session %s is no longer followed: %s", session.id, error.message)

    async def _restored(self, row: SessionRow) -> Session:
        session = await restored(self._journal, row, self._session_of)
        self._noting.found(row.id, session.fold.chain)
        return session

    async def _session_of(self, fold: Fold) -> Session:
        found = await session_type(self._drivers.kind_of(fold.agent))
        return found(fold, self._lent, self._drivers.driver_for)

    async def _recover(self) -> None:
        """End agents that were left behind and turns that were cut off; open the sessions in which a person is still asked."""
        spared = [daemon.command for spec in self.agents.values() for daemon in spec.daemons]
        for left in await asyncio.to_thread(self._pids.left_behind):
            await end_leftover(left.pid, left.start_time, left.marker, keepers=left.keepers, spared=spared)
            self._pids.forget(left.session_id)
        before: tuple[int, str] | None = None
        asking: list[str] = []
        while rows := await self._journal.rows(RowFilter(status=IS_OPEN, before=before, limit=200)):
            for row in rows:
                if await self._recover_session(row):
                    asking.append(row.id)
            before = (rows[-1].updated_at, rows[-1].id)
        for session_id in asking:
            await self.session(session_id)

    async def _recover_session(self, row: SessionRow) -> bool:
        """Returns whether a question is still open in it: one that the hub itself asked outlives the hub."""
        restarted = HubRestarted("the hub was restarted in the middle of this turn; send the prompt again")
        try:
            session = await self._restored(row)
        except SessionUnreadable as error:
            log.error("%s; it is left as it is", error.message)
            return False
        await session.reread_open_text()
        if session.fold.watches is None:
            session.recover(restarted)
        await session.close(restarted)
        await self._noting.note([session])
        return session.fold.watches is None and bool(session.fold.questions)

    async def _begin(self, session: Session, open: Callable[[Session], Awaitable[None]]) -> Session:
        """Open a session that is new here; one that cannot be opened never was."""
        self._creating[session] = asyncio.Event()
        try:
            await open(session)
            self._check_open()
        except BaseException:
            await self._undo(session)
            self._check_open()
            raise
        finally:
            self._creating.pop(session).set()
        self._sessions[session.id] = session
        if session.fold.watches is None:
            self._capabilities[session.fold.agent] = session.fold.agent_capabilities
        self._make_room()
        return session

    async def _undo(self, session: Session) -> None:
        """A session that could not be started never was."""
        self._deleted.add(session.id)
        await session.close(HubStopping("the session could not be started"))
        self._noting.delete(session.id)
        await self._journal.delete(session.id)
        self.everything.forget_tail()

    async def _agent_info(self, spec: AgentSpec) -> AgentInfo:
        found = await catalog.detect(spec, self.environ)
        return AgentInfo.of(spec, found, self._capabilities.get(spec.name, NULL))

    def _rules_changed(self) -> None:
        """What waits for a person in any session may be decided by the policy now. Always from the loop, never from within a
        session that just added a rule: its own answer comes first."""
        for session in list(self._sessions.values()):
            session.rules_changed()

    def _count_turn(self, outcome: str) -> None:
        self._turns[outcome] = self._turns.get(outcome, 0) + 1
        self._noting.soon()

    def _drained(self) -> None:
        for session in self._sessions.values():
            session.drained()

    def _make_room(self) -> None:
        """Drop sessions that nobody uses; they are opened again when somebody asks."""
        unused = [session for session in self._sessions.values()
                  if not (session.busy or session.agent_running or session.fold.questions)]
        unused.sort(key=lambda session: session.fold.updated_at)
        for session in unused[:max(0, len(unused) - KEPT_IDLE)]:
            self._unused[session.id] = self._sessions.pop(session.id)
            session.doze()

    def _recall(self, session_id: str) -> Session | None:
        session = self._unused.pop(session_id, None)
        if session is not None:
            session.wake()
            self._sessions[session_id] = session
        return session

    def _check_open(self) -> None:
        if self._closing:
            raise HubStopping("the hub is stopping")


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"no session {session_id}", details={"sessionId": session_id})


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"
