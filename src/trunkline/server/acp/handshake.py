"""Who is connected, and what is offered to it: the handshake of one editor's connection."""

from __future__ import annotations

from typing import Any

from trunkline import __version__
from trunkline.agents.catalog import AgentSpec
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
from trunkline.dialects.acp.methods import AUTHENTICATE, INITIALIZE
from trunkline.dialects.acp.reading.decode import decode_params
from trunkline.errors import Invalid, NotFound
from trunkline.hub import Hub
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.acp.offers import default_agent, logins, ours_of
from trunkline.server.auth.credentials import Caller


class Handshake:
    """What is known of one editor, and of the agent that its sessions get."""

    def __init__(self, hub: Hub, caller: Caller, line: EditorLine, agent: str | None) -> None:
        self.caller = caller
        self.by = caller.name
        """Whom the journal names: the token, and the editor where it names itself."""
        self.greeted = False
        """Whether the handshake was made."""
        self.hello = b"{}"
        """What the editor said first."""
        self.takes_lines = False
        """Whether several messages may share a frame."""
        self._hub = hub
        self._line = line
        self._agent = agent

    async def initialize(self, request: EditorRequest) -> None:
        """The first request."""
        hello: InitializeRequest = decode_params(INITIALIZE, request.params)
        self.hello = request.params or b"{}"
        if hello.client_capabilities is not None:
            self._line.offers = hello.client_capabilities
        if hello.client_info is not None and hello.client_info.name.strip():
            self.by = f"{self.caller.name} ({' '.join(hello.client_info.name.split())[:60]})"
        wants = ours_of(self._line.offers.meta)
        self._line.wants_cursor = wants.cursor
        spec = await self.spec(None)
        answer = InitializeResponse(
            protocol_version=PROTOCOL_VERSION, agent_capabilities=await self._capabilities(spec), auth_methods=logins(spec),
            agent_info=Implementation(name="trunkline", title=f"Trunkline ({spec.display_name})", version=__version__),
            meta={"trunkline": {"agent": spec.name, "envAllow": list(spec.env_allow)}})
        self.greeted = True
        await self._line.reply(request, answer)
        self.takes_lines = wants.lines

    async def authenticate(self, request: EditorRequest) -> None:
        """The person has logged in, by the agent's own means: the next session/new shows whether that is so."""
        method_id = decode_params(AUTHENTICATE, request.params).method_id
        known = [method.id for method in logins(await self.spec(None))]
        if method_id not in known:
            raise Invalid(f"no way to log in is called {method_id!r}; there is: {', '.join(known) or 'none'}")
        await self._line.reply(request, {})

    async def spec(self, wanted: str | None) -> AgentSpec:
        """The agent that is wanted, or the connection's own, or the first that is installed."""
        name = wanted or self._agent
        if name is None:
            name = self._agent = await default_agent(self._hub)
        if name not in self._hub.agents:
            raise NotFound(f"no agent {name!r}; known are: {', '.join(sorted(self._hub.agents))}", details={"agent": name})
        return self._hub.agents[name]

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
