"""How a session with an agent is opened: the greeting, the way in, the login; and whose updates are ours meanwhile.

Rule 1: the agent's session id is known before the message behind its answer is looked at, since agents write both at once.
Rule 2: an update for a session that is not open yet is held, never dropped; a replay of what the journal has is not news.
The replay of a session that somebody else began is: the journal has nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from trunkline import decoders
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.acp.initialize import (
    PROTOCOL_VERSION,
    AuthMethodAgent,
    ClientCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    FileSystemCapabilities,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    McpCapabilities,
    Offered,
    SessionConfigOptionsCapabilities,
)
from trunkline.dialects.acp.methods import (
    AUTHENTICATE,
    INITIALIZE,
    SESSION_FORK,
    SESSION_LOAD,
    SESSION_NEW,
    SESSION_RESUME,
    SESSION_UPDATE,
)
from trunkline.dialects.acp.reading.decode import decode_result
from trunkline.dialects.acp.reading.large import LARGE_UPDATE
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import McpServer, McpServerHttp, McpServerSse
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import LargeUpdate, Malformed, Signal, Update
from trunkline.errors import AgentAuthRequired, AgentError, AgentProtocolMismatch, Unsupported
from trunkline.session.driver.base import How

_encode = msgspec.json.Encoder().encode

_OUR_CAPABILITIES = ClientCapabilities(
    fs=FileSystemCapabilities(read_text_file=True, write_text_file=True),
    terminal=True,
    session=ClientSessionCapabilities(
        config_options=SessionConfigOptionsCapabilities(boolean=Offered()), notices=Offered(),
        compaction=Offered()),
    elicitation=ElicitationCapabilities(form=Offered(), url=Offered()),
    meta={"trunkline": {"notes": True}},
)


EARLY_BYTES = 64 << 20
"""Updates that are held because they came before their session's id was known; one line may be that long."""

EARLY_EACH = 256
"""Bytes that each of them counts beside its own: what it takes to hold even the shortest."""

SESSION_ID_CHARS = 1024
"""Characters of the id that an agent gives its session."""


NOTED_BYTES = 256 << 10
"""Bytes of a message that nobody here understands, or that is not for us, which are recorded."""


class _UpdateParams(msgspec.Struct, rename="camel", gc=False):
    session_id: str
    update: msgspec.Raw


_read_params = decoders.of(_UpdateParams).decode
_LARGE = LARGE_UPDATE


class Inbox:
    """Which session's updates we take, and those that came before we knew."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.replaying = False
        """The agent replays its history, at our request."""
        self._early: list[tuple[str, bytes]] = []
        self._early_bytes = 0

    def read(self, params: msgspec.Raw) -> tuple[Signal, ...]:
        """What the params of one ``session/update`` mean to us. The hot path: nothing is looked at but whose it is."""
        try:
            message = _read_params(params)
        except BROKEN as error:
            return (unreadable(SESSION_UPDATE, params, str(error)),)
        if message.session_id == self.session_id and not self.replaying:
            update = message.update
            return (Update(bytes(update)) if len(memoryview(update)) <= _LARGE else LargeUpdate(update),)
        return self._out_of_place(message)

    def is_ours(self, session_id: str) -> bool:
        """Whether this is our session; while we do not know its id, any may be."""
        return self.session_id is None or session_id == self.session_id

    def take_early(self) -> list[Signal]:
        """The updates of our session that came before we knew its id, in order."""
        early, self._early = self._early, []
        return [Update(update) if len(update) <= _LARGE else LargeUpdate(update)
                for session_id, update in early if session_id == self.session_id]

    def _out_of_place(self, message: _UpdateParams) -> tuple[Signal, ...]:
        if self.session_id is None:
            self._early_bytes += len(memoryview(message.update)) + EARLY_EACH
            if self._early_bytes <= EARLY_BYTES and len(message.session_id) <= SESSION_ID_CHARS:  # no session has a longer id
                self._early.append((message.session_id, bytes(message.update)))
                return ()
            return (CustomNote("early_update", _encode({"sessionId": message.session_id[:SESSION_ID_CHARS], "dropped": True})),)
        if self.replaying and message.session_id == self.session_id:
            return ()
        data = {"sessionId": message.session_id[:SESSION_ID_CHARS], "update": noted(message.update)}
        return (CustomNote("foreign_update", _encode(data)),)


class CallAgent(Protocol):
    """Sends a request to the agent and waits for its result; ``at_once`` sees it before any later message is handled."""

    async def __call__(
        self, method: str, params: Any, *, at_once: Callable[[bytes], None] | None = None) -> msgspec.Raw | None: ...


class Opened(msgspec.Struct, rename="camel"):
    """What an agent answers when it opens a session; by load and resume it names no id."""

    session_id: str | None = None
    modes: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    models: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    config_options: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def _read(result: bytes) -> Opened:
    try:
        return decoders.decode(result if result != b"null" else b"{}", Opened)
    except BROKEN:
        return Opened()


def _ways_back(hello: InitializeResponse) -> list[tuple[How, str]]:
    """How an agent can open a session again, the way that repeats nothing first."""
    ways: list[tuple[How, str]] = []
    if hello.capabilities.session.resume:
        ways.append(("resumed", SESSION_RESUME))
    if hello.capabilities.load_session:
        ways.append(("loaded", SESSION_LOAD))
    return ways


class AcpOpening:
    """Opens one session with one agent."""

    def __init__(self, spec: AgentSpec, cwd: str, mcp_servers: list[msgspec.Raw], version: str, inbox: Inbox,
                 call: CallAgent) -> None:
        self._spec = spec
        self._cwd = cwd
        self._mcp_servers = mcp_servers
        self._version = version
        self._inbox = inbox
        self._call = call

    async def greet(self) -> InitializeResponse:
        """Exchange versions and capabilities."""
        request = InitializeRequest(
            protocol_version=PROTOCOL_VERSION, client_capabilities=_OUR_CAPABILITIES,
            client_info=Implementation(name="trunkline", title="Trunkline", version=self._version))
        hello: InitializeResponse = decode_result(INITIALIZE, await self._call(INITIALIZE, request))
        if hello.protocol_version != PROTOCOL_VERSION:
            raise AgentProtocolMismatch(
                f"{self._spec.display_name} speaks version {hello.protocol_version} of the Agent Client Protocol, "
                f"Trunkline speaks {PROTOCOL_VERSION}. Another release of the agent may speak it.",
                details={"command": list(self._spec.command), "answered": hello.protocol_version})
        self._check_servers(hello.capabilities.mcp)
        return hello

    def _check_servers(self, offered: McpCapabilities) -> None:
        """Agents drop MCP servers that they cannot reach, silently; we do not."""
        for raw in self._mcp_servers:
            server = read_lenient(bytes(raw), McpServer)
            if isinstance(server, McpServerHttp) and not offered.http:
                raise Unsupported(f"{self._spec.display_name} takes no MCP servers over http: {server.name}")
            if isinstance(server, McpServerSse) and not offered.sse:
                raise Unsupported(f"{self._spec.display_name} takes no MCP servers over sse: {server.name}")

    async def open(self, hello: InitializeResponse, previous: str | None) -> tuple[How, Opened]:
        """Open the previous session where the agent can, else a new one; log in where that is needed and possible."""
        if previous is not None:
            again = await self._reopen(hello, previous)
            if again is not None:
                return again
        params = {"cwd": self._cwd, "mcpServers": self._mcp_servers}
        return "new", await self._logged_in(hello, SESSION_NEW, params)

    async def adopt(self, hello: InitializeResponse, session_id: str, *, known: bool) -> tuple[How, Opened]:
        """Open a session that somebody else began, or fail. By load, whose replay is news to us, else by resume; where its
        history is ``known``, by resume first, and a replay is no news."""
        ways = _ways_back(hello) if known else _ways_back(hello)[::-1]
        if not ways:
            raise Unsupported(f"{self._spec.display_name} can neither load nor resume a session that it did not begin here")
        refused: AgentError | None = None
        for how, method in ways:
            self._inbox.session_id, self._inbox.replaying = session_id, known
            try:
                return how, await self._logged_in(hello, method, self._params_for(session_id))
            except AgentError as error:
                refused = refused or error
                self._inbox.session_id = None
            finally:
                self._inbox.replaying = False
        assert refused is not None, "a way back was refused or led back"
        raise refused

    async def fork(self, hello: InitializeResponse, source: str) -> tuple[How, Opened]:
        """Branch a session off one that the agent has. Its history is news to us, so it is loaded where the agent can."""
        if hello.capabilities.session.fork is None:
            raise Unsupported(f"{self._spec.display_name} cannot fork a session")
        forked = await self._logged_in(hello, SESSION_FORK, self._params_for(source))
        if hello.capabilities.load_session:
            assert self._inbox.session_id is not None, "an answer without an id is an error"
            with suppress(AgentError):  # it is open all the same; only its history is missing
                await self._open_by(SESSION_LOAD, self._params_for(self._inbox.session_id))
        return "forked", forked

    async def _reopen(self, hello: InitializeResponse, previous: str) -> tuple[How, Opened] | None:
        """The session as it was, by resume, else by load; None where the agent can do neither or has lost it."""
        for how, method in _ways_back(hello):
            self._inbox.session_id, self._inbox.replaying = previous, True
            try:
                return how, await self._open_by(method, self._params_for(previous))
            except AgentError:
                self._inbox.session_id = None
            finally:
                self._inbox.replaying = False
        return None

    def _params_for(self, session_id: str) -> dict[str, Any]:
        return {"sessionId": session_id, "cwd": self._cwd, "mcpServers": self._mcp_servers}

    async def _logged_in(self, hello: InitializeResponse, method: str, params: dict[str, Any]) -> Opened:
        """Open a session; where the agent wants a login first, log in and try once more."""
        try:
            return await self._open_by(method, params)
        except AgentError as error:
            if error.agent_code != str(int(ErrorCode.AUTH_REQUIRED)):
                raise
            await self._authenticate(hello, error)
            return await self._open_by(method, params)

    async def _open_by(self, method: str, params: dict[str, Any]) -> Opened:
        """Open a session; its id is known to us before the next message of the same read is looked at."""

        def learn_id(result: bytes) -> None:
            if self._inbox.session_id is None:
                self._inbox.session_id = _read(result).session_id

        result = await self._call(method, params, at_once=learn_id)
        if self._inbox.session_id is None:
            raise AgentError(f"{self._spec.display_name} answered {method} without a sessionId")
        if len(self._inbox.session_id) > SESSION_ID_CHARS:
            raise AgentError(f"{self._spec.display_name} answered {method} with a sessionId that is too long")
        return _read(bytes(result) if result is not None else b"{}")

    async def _authenticate(self, hello: InitializeResponse, refused: AgentError) -> None:
        """Log in where the agent offers exactly one way that needs no terminal; else say what the person has to do."""
        methods = [method for method in hello.auth_methods or [] if isinstance(method, AuthMethodAgent)]
        if len(methods) == 1:
            try:
                await self._call(AUTHENTICATE, {"methodId": methods[0].id})
                return
            except AgentError as error:
                refused = error
        names = ", ".join(f"{method.name} ({method.id})" for method in hello.auth_methods or [])
        offers = f" It offers: {names}." if names else ""
        advice = self._spec.login_hint or "Log in with the agent's own command, then try again."
        raise AgentAuthRequired(
            f"{self._spec.display_name} wants a login first: {refused.message}.{offers} {advice}",
            details={"command": list(self._spec.command), "agentMessage": refused.message, "docsUrl": self._spec.docs_url})


def unreadable(method: str, params: msgspec.Raw | None, why: str) -> Malformed:
    """Params that make no sense, as a signal."""
    raw = memoryview(params if params is not None else b"")
    return Malformed(bytes(raw[:4096]), f"{method}: {why}", len(raw))


def noted(params: msgspec.Raw | None) -> Any:
    """Params for a note; long ones by their size alone: they would be copied into the entry and to everybody who reads it."""
    if params is None:
        return None
    size = len(memoryview(params))
    return params if size <= NOTED_BYTES else {"truncated": {"bytes": size}}


def raw_or_none(value: Any) -> msgspec.Raw | None:
    """A value as encoded JSON; None for what is absent or null."""
    if value is None or value is msgspec.UNSET:
        return None
    raw = value if isinstance(value, msgspec.Raw) else msgspec.Raw(_encode(value))
    return None if bytes(raw) == b"null" else raw
