"""Trunkline as an Agent Client Protocol agent: one editor's connection, whatever carries it.

    line.py        messages to and from the editor      attachment.py  one session as the editor sees it
    updates.py     updates as it may get them           asks.py        permissions and questions, put to it
    settings.py    modes and options                    faults.py      errors as numbers
    offers.py      what is offered, our own additions   listing.py     the sessions, page by page
    told.py        what else the journal says
    socket.py      over a WebSocket                     http.py        over streamable HTTP

Rule 1: a session belongs to the hub. A connection that ends takes nothing with it.
Rule 2: a request is answered exactly once; what it may do is what the caller's token may.
Rule 3: what we add to the protocol stands in ``_meta.trunkline``, or in methods that begin with ``_trunkline/``.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import __version__
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.aliases import canonical_method
from trunkline.dialects.acp.decode import decode_params
from trunkline.dialects.acp.initialize import (
    PROTOCOL_VERSION,
    AgentCapabilities,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    Offered,
    PromptCapabilities,
    SessionCapabilities,
)
from trunkline.dialects.acp.methods import (
    AUTHENTICATE,
    CANCEL_REQUEST,
    INITIALIZE,
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_FORK,
    SESSION_LIST,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_PROMPT,
    SESSION_RESUME,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
)
from trunkline.dialects.acp.sessions import (
    CancelNotification,
    ListSessionsRequest,
    LoadSessionRequest,
    McpServer,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    ResumeSessionRequest,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
)
from trunkline.dialects.codes import ErrorCode
from trunkline.errors import Invalid, NotFound, SessionNotFound, TrunklineError, Unsupported
from trunkline.hub import Hub, NewSession
from trunkline.server.acp.attachment import Attachment, OpenPrompt
from trunkline.server.acp.connection import EditorLine, Left, Wire
from trunkline.server.acp.listing import Listing
from trunkline.server.acp.offers import (
    OurMeta,
    default_agent,
    encoded_servers,
    logins,
    ours_of,
    usable,
)
from trunkline.server.acp.settings import modes_of, settings_of
from trunkline.server.auth.credentials import Caller, check_scope
from trunkline.server.auth.tokens import Scope, allows

if TYPE_CHECKING:
    from trunkline.hub import Session

REQUESTS_AT_ONCE = 64

log = logging.getLogger("trunkline.server")

_encode = msgspec.json.Encoder().encode


class Asked(msgspec.Struct):
    """One request on its way."""

    id: msgspec.Raw
    params: bytes | None
    stream: str | None
    """Where its answer goes: the session's stream, or the connection's."""


Handler = Callable[[Asked], Awaitable[None]]


class AcpAgent:
    """Serves one editor."""

    def __init__(self, hub: Hub, caller: Caller, wire: Wire, *, agent: str | None = None,
                 check_live: Callable[[], None] = lambda: None) -> None:
        self._hub = hub
        self._caller = caller
        self._line = EditorLine(wire)
        self._agent = agent
        self._check_live = check_live
        self.greeted = False
        """Whether the handshake was made."""
        self.takes_lines = False
        """Whether several messages may share a frame."""
        self._by = caller.name
        self._listing = Listing(hub)
        self._attached: dict[str, Attachment] = {}
        self._requests: dict[bytes, asyncio.Task[None]] = {}
        """By the id that the editor gave; of two with one id, the newer."""
        self._under_way: set[asyncio.Task[None]] = set()
        """All that is being done because of a message: requests, notifications, complaints."""
        self._errands: set[asyncio.Task[None]] = set()
        self._methods: dict[str, tuple[Scope | None, Handler]] = {
            INITIALIZE: (None, self._initialize),
            AUTHENTICATE: (None, self._authenticate),
            SESSION_NEW: ("control", self._new),
            SESSION_LOAD: ("view", self._load),
            SESSION_RESUME: ("view", self._resume),
            SESSION_LIST: ("view", self._list),
            SESSION_CLOSE: ("control", self._close),
            SESSION_DELETE: ("control", self._delete),
            SESSION_FORK: ("control", self._fork),
            SESSION_PROMPT: ("control", self._prompt),
            SESSION_CANCEL: ("control", self._cancel_asked),
            SESSION_SET_MODE: ("control", self._set_mode),
            SESSION_SET_CONFIG_OPTION: ("control", self._set_option),
        }

    def watches(self, session_id: str, event_type: str) -> bool:
        """Whether the editor looks at this session; it has no filter."""
        attached = self._attached.get(session_id)
        return attached is not None and attached.following

    def has(self, session_id: str) -> bool:
        """Whether the editor has this session open."""
        return session_id in self._attached

    @property
    def busy(self) -> bool:
        """Whether something that the editor said is being answered or carried out."""
        return bool(self._under_way)

    async def room(self) -> None:
        """Wait while too much is being done for this editor at once, or it does not read what it is answered."""
        while len(self._under_way) >= REQUESTS_AT_ONCE:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    def receive(self, message: bytes, stream: str | None = None) -> None:
        """Take one message. Requests are begun in the order in which they came."""
        for heard in self._line.hear(message):
            if isinstance(heard, jsonrpc.Request):
                self._begin(heard, stream)
            elif isinstance(heard, jsonrpc.Notification):
                self._notified(heard)
        complaints = self._line.take()
        if complaints:
            self._count(self.spawn(self._line.send(complaints, stream)))

    async def leave(self) -> None:
        """The connection is over. Sessions go on; what was begun for them is carried out."""
        self._line.close()
        requests = self._under_way - self._errands
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        for attached in [*self._attached.values()]:
            await attached.end()
        self._attached.clear()
        await asyncio.gather(*self._errands, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside the conversation."""
        task = asyncio.create_task(_quietly(work))
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return task

    async def _carry_out(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what cannot be broken off halfway. Who takes the request back learns that it was done."""
        task = asyncio.create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                continue
        task.result()

    def _count(self, task: asyncio.Task[None]) -> None:
        """The editor may have only so much under way."""
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    # -- requests

    def _begin(self, request: jsonrpc.Request, stream: str | None) -> None:
        asked = Asked(request.id, bytes(request.params) if request.params is not None else None, stream)
        key = bytes(request.id)
        task = asyncio.create_task(self._answer(canonical_method(request.method, side="agent"), asked))
        self._requests[key] = task
        self._count(task)

        def ended(task: asyncio.Task[None]) -> None:
            if self._requests.get(key) is task:
                del self._requests[key]

        task.add_done_callback(ended)

    async def _answer(self, method: str, asked: Asked) -> None:
        try:
            try:
                await self._serve(method, asked)
            except TrunklineError as error:
                await self._line.send(self._line.error(asked.id, error), asked.stream)
            except asyncio.CancelledError:
                cancelled = self._line.fault(asked.id, ErrorCode.REQUEST_CANCELLED, "request cancelled")
                await self._line.send(cancelled, asked.stream)
            except (Left, OSError):
                raise
            except Exception as error:  # the request's boundary: an editor that is not answered hangs
                log.error("%s failed", method, exc_info=error)
                failed = TrunklineError("the hub failed to answer; its log says more")
                await self._line.send(self._line.error(asked.id, failed), asked.stream)
        except (Left, OSError):
            return

    async def _serve(self, method: str, asked: Asked) -> None:
        scope, handler = self._methods[method]
        if not self.greeted and method != INITIALIZE:
            lines = self._line.fault(asked.id, ErrorCode.INVALID_REQUEST, f"initialize comes before {method}")
            await self._line.send(lines, asked.stream)
            return
        self._check_live()
        if scope is not None:
            check_scope(self._caller, scope)
        await handler(asked)

    async def _reply(self, asked: Asked, result: bytes | msgspec.Struct | dict[str, Any]) -> None:
        body = _encode(result) if isinstance(result, dict) else result
        await self._line.send(self._line.result(asked.id, body), asked.stream)

    def _notified(self, heard: jsonrpc.Notification) -> None:
        params = bytes(heard.params) if heard.params is not None else None
        method = canonical_method(heard.method, side="agent")
        if method == SESSION_CANCEL:
            self._count(self.spawn(self._cancel(params)))
        elif method == CANCEL_REQUEST:
            self._count(self.spawn(self._cancel_request(params)))

    # -- the handshake

    async def _initialize(self, asked: Asked) -> None:
        hello: InitializeRequest = decode_params(INITIALIZE, asked.params)
        if hello.client_capabilities is not None:
            self._line.offers = hello.client_capabilities
        if hello.client_info is not None and hello.client_info.name.strip():
            self._by = f"{self._caller.name} ({' '.join(hello.client_info.name.split())[:60]})"
        wants = ours_of(self._line.offers.meta)
        self._line.tells_cursor = wants.cursor
        spec = await self._spec(None)
        answer = InitializeResponse(
            protocol_version=PROTOCOL_VERSION, agent_capabilities=await self._capabilities(spec), auth_methods=logins(spec),
            agent_info=Implementation(name="trunkline", title=f"Trunkline ({spec.display_name})", version=__version__),
            meta={"trunkline": {"agent": spec.name, "envAllow": list(spec.env_allow)}})
        self.greeted = True
        await self._reply(asked, answer)
        self.takes_lines = wants.lines

    async def _capabilities(self, spec: AgentSpec) -> AgentCapabilities:
        """What the hub gives to every agent, and what this one is known to take."""
        known = await self._hub.capabilities_of(spec.name)
        offered = Offered()
        session: dict[str, Any] = {name: offered for name in ("list", "delete", "resume", "close")}
        return AgentCapabilities(
            load_session=True, prompt_capabilities=PromptCapabilities(
                image=known.prompt.image, audio=known.prompt.audio, embedded_context=True),
            mcp_capabilities=known.mcp,
            session_capabilities=SessionCapabilities(**session, fork=known.session.fork),
            meta={"trunkline": {"cursor": True, "lines": True, "key": True, "after": True, "eventIds": True}})

    async def _authenticate(self, asked: Asked) -> None:
        """The person has logged in, by the agent's own means: the next session/new shows whether that is so."""
        method_id = decode_params(AUTHENTICATE, asked.params).method_id
        known = [method.id for method in logins(await self._spec(None))]
        if method_id not in known:
            raise Invalid(f"no way to log in is called {method_id!r}; there is: {', '.join(known) or 'none'}")
        await self._reply(asked, {})

    async def _spec(self, wanted: str | None) -> AgentSpec:
        """The agent that was asked for, or the connection's own, or the first that is installed."""
        name = wanted or self._agent
        if name is None:
            name = self._agent = await default_agent(self._hub)
        if name not in self._hub.agents:
            raise NotFound(f"no agent {name!r}; known are: {', '.join(sorted(self._hub.agents))}", details={"agent": name})
        return self._hub.agents[name]

    # -- sessions

    async def _new(self, asked: Asked) -> None:
        ask: NewSessionRequest = decode_params(SESSION_NEW, asked.params)
        ours = ours_of(ask.meta)
        spec = await self._spec(ours.agent)
        wanted = NewSession(agent=spec.name, cwd=ask.cwd, title=ours.title, env=ours.env,
                            mcp_servers=encoded_servers(ask.mcp_servers))
        session = await self._hub.create(wanted, by=self._by)
        attached = await self._opened(asked, session)
        attached.follow(0)

    async def _fork(self, asked: Asked) -> None:
        ask: ResumeSessionRequest = decode_params(SESSION_RESUME, asked.params)  # the same shape
        session = await self._hub.fork(ask.session_id, cwd=ask.cwd, env=ours_of(ask.meta).env, by=self._by,
                                       mcp_servers=encoded_servers(ask.mcp_servers or []))
        await self._opened(asked, session)
        async with self._opening(session) as attached:
            newest = (await session.snapshot()).last_seq  # who forks knows what was said so far
            await attached.tell_commands(newest)
            attached.follow(newest)

    async def _opened(self, asked: Asked, session: Session) -> Attachment:
        """A session is there that was not before: the editor learns its id before it hears anything of it."""
        attached = self._attach(session)
        settings = settings_of(session.fold, self._line.offers)
        answer = NewSessionResponse(
            session_id=session.id, modes=settings.modes, config_options=settings.config_options,
            meta={"trunkline": {"agent": session.fold.agent}})
        await self._reply(asked, answer)
        return attached

    async def _load(self, asked: Asked) -> None:
        ask: LoadSessionRequest = decode_params(SESSION_LOAD, asked.params)
        after = ours_of(ask.meta).after
        session = await self._taken_up(ask.session_id, ask.mcp_servers, ours_of(ask.meta))
        async with self._opening(session) as attached:
            until = (await session.snapshot()).last_seq
            followed = attached.following
            try:
                await attached.replay(min(after or 0, until), until, asked.stream, lost_since=after)
                await self._reply(asked, settings_of(session.fold, self._line.offers))
            except BaseException:
                if followed:  # broken off, or taken back: the editor's prompts in there still want their answers
                    await attached.go_on()
                raise
            attached.follow(until)

    async def _resume(self, asked: Asked) -> None:
        ask: ResumeSessionRequest = decode_params(SESSION_RESUME, asked.params)
        ours = ours_of(ask.meta)
        session = await self._taken_up(ask.session_id, ask.mcp_servers or [], ours)
        async with self._opening(session) as attached:
            newest = (await session.snapshot()).last_seq
            await self._reply(asked, settings_of(session.fold, self._line.offers))
            if ours.after is not None:
                await attached.rewind(min(ours.after, newest))
            elif not attached.following:
                await attached.tell_commands(newest)
                attached.follow(newest)

    async def _taken_up(self, session_id: str, servers: list[McpServer], ours: OurMeta) -> Session:
        """A session that somebody opens again: what came with it counts when its agent is started next, if it may steer it."""
        session = await self._hub.session(session_id)
        if allows(self._caller.scope, "control"):
            self._hub.lend_env(session, ours.env)
            taken = usable(servers, session.fold.agent_capabilities)
            session.fold.mcp_servers = encoded_servers(taken) or session.fold.mcp_servers
        return session

    async def _list(self, asked: Asked) -> None:
        ask: ListSessionsRequest = decode_params(SESSION_LIST, asked.params)
        await self._reply(asked, await self._listing.page(ask.cwd, ask.cursor))

    async def _close(self, asked: Asked) -> None:
        """Stop the agent, for everybody; what was said stays."""
        session = await self._hub.session(decode_params(SESSION_CLOSE, asked.params).session_id)
        await self._carry_out(self._end(session))
        await self._reply(asked, {})

    async def _end(self, session: Session) -> None:
        await session.terminate(by=self._by)
        await self._detach(session)

    async def _delete(self, asked: Asked) -> None:
        session_id = decode_params(SESSION_DELETE, asked.params).session_id
        await self._carry_out(self._erase(session_id))
        await self._reply(asked, {})

    async def _erase(self, session_id: str) -> None:
        try:
            await self._hub.delete(session_id)
        except SessionNotFound:
            pass  # the protocol wants it so: who deletes twice has what it wants
        attached = self._attached.get(session_id)
        if attached is not None:
            await self._detach(attached.session)

    # -- work

    async def _prompt(self, asked: Asked) -> None:
        ask: PromptRequest = decode_params(SESSION_PROMPT, asked.params)
        attached = await self._joined(ask.session_id)
        prompt = OpenPrompt(asked.id, ours_of(ask.meta).key or secrets.token_hex(16))
        await attached.prompt(prompt, ask.prompt)

    async def _cancel_asked(self, asked: Asked) -> None:
        await self._cancel(asked.params)
        await self._reply(asked, {})

    async def _cancel(self, params: bytes | None) -> None:
        check_scope(self._caller, "control")
        ask: CancelNotification = decode_params(SESSION_CANCEL, params)
        await (await self._joined(ask.session_id)).cancel(ours_of(ask.meta).key)

    async def _cancel_request(self, params: bytes | None) -> None:
        """The editor takes a request back: a prompt ends as cancelled, anything else is broken off."""
        wanted = bytes(decode_params(CANCEL_REQUEST, params).request_id)
        for attached in self._attached.values():
            prompt = attached.open_prompt(wanted)
            if prompt is not None:
                check_scope(self._caller, "control")
                await attached.cancel_prompt(prompt)
                return
        request = self._requests.get(wanted)
        if request is not None:
            request.cancel()

    async def _set_mode(self, asked: Asked) -> None:
        ask: SetSessionModeRequest = decode_params(SESSION_SET_MODE, asked.params)
        session = (await self._joined(ask.session_id)).session
        modes = modes_of(session.fold)
        known = [mode.id for mode in modes.available_modes] if modes is not None else []
        if ask.mode_id not in known:
            raise Invalid(f"no mode {ask.mode_id!r}; there are: {', '.join(known) or 'none'}")
        await session.set_mode(ask.mode_id, by=self._by)
        await self._reply(asked, {})

    async def _set_option(self, asked: Asked) -> None:
        ask: SetSessionConfigOptionRequest = decode_params(SESSION_SET_CONFIG_OPTION, asked.params)
        session = (await self._joined(ask.session_id)).session
        await session.set_config(ask.config_id, ask.value, by=self._by)
        options = settings_of(session.fold, self._line.offers).config_options
        if options is None:
            raise Unsupported(f"{session.fold.agent} has no options")
        await self._reply(asked, SetSessionConfigOptionResponse(config_options=options))

    # -- attachments

    def _attach(self, session: Session) -> Attachment:
        attached = self._attached.get(session.id)
        if attached is None:
            attached = self._attached[session.id] = Attachment(
                session, self._line, self._by, self.spawn, scope=self._caller.scope,
                stopping=lambda: self._hub.closing)
        return attached

    async def _joined(self, session_id: str) -> Attachment:
        """The editor's place in a session; one that it did not open in this connection is joined where it stands."""
        session = await self._hub.session(session_id)
        attached = self._attached.get(session_id)
        if attached is not None and attached.following:
            return attached
        async with self._opening(session) as attached:
            newest = (await session.snapshot()).last_seq
            if not attached.following:
                attached.follow(newest)
            return attached

    @asynccontextmanager
    async def _opening(self, session: Session) -> AsyncIterator[Attachment]:
        """The editor's place in a session, while it is told where it starts: never one that it has left meanwhile."""
        while True:
            attached = self._attach(session)
            async with attached.opening:
                if self._attached.get(session.id) is attached:
                    yield attached
                    return

    async def _detach(self, session: Session) -> None:
        """The editor leaves a session that has ended, once it was told of the end. What it says to it meanwhile keeps it."""
        attached = self._attached.get(session.id)
        if attached is None:
            return
        async with attached.opening:
            await attached.reached(session.feed.last_seq)
            if not attached.busy and self._attached.get(session.id) is attached:
                del self._attached[session.id]
                await attached.end()


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (Left, OSError):
        return
    except TrunklineError as error:
        # Not for everybody's log: an editor can say such things as often as it likes.
        log.debug("an editor's wish came to nothing: %s", error.message)
