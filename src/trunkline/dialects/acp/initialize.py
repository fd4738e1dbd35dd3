"""The handshake: who speaks, what each side can do, how to log in.

A capability that is a marker is an object, ``Offered()``, or absent; one that is a switch is a boolean. Both read well
as conditions: ``if capabilities.session.resume``.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from trunkline.dialects.acp.shape import SKIP, STRICT, Shape

PROTOCOL_VERSION = 1

ProtocolVersion = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Implementation(Shape, frozen=True, kw_only=True):
    """Name and version of a program."""

    name: str
    version: str
    title: str | None = None


class Offered(Shape, frozen=True, kw_only=True):
    """A capability marker: that it is there is all it says."""


class FileSystemCapabilities(Shape, frozen=True, kw_only=True):
    """Which ``fs/*`` requests the client serves."""

    read_text_file: bool = False
    write_text_file: bool = False


class SessionConfigOptionsCapabilities(Shape, frozen=True, kw_only=True):
    """Which configuration options the client can show beyond selects."""

    boolean: Offered | None = None


class ClientSessionCapabilities(Shape, frozen=True, kw_only=True):
    """Which newer updates the client understands."""

    config_options: SessionConfigOptionsCapabilities | None = None
    notices: Offered | None = None
    compaction: Offered | None = None


class AuthCapabilities(Shape, frozen=True, kw_only=True):
    """Which ways to log in the client can run."""

    terminal: bool = False


class ElicitationCapabilities(Shape, frozen=True, kw_only=True):
    """Which questions the client can put to a person."""

    form: Offered | None = None
    url: Offered | None = None


class ClientCapabilities(Shape, frozen=True, kw_only=True):
    """What the client serves and understands; absent is unsupported."""

    fs: FileSystemCapabilities | None = None
    terminal: bool = False
    session: ClientSessionCapabilities | None = None
    auth: AuthCapabilities | None = None
    elicitation: ElicitationCapabilities | None = None


class PromptCapabilities(Shape, frozen=True, kw_only=True):
    """Which content blocks a prompt may have, besides text and resource links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class McpCapabilities(Shape, frozen=True, kw_only=True):
    """Which MCP transports the agent speaks, besides stdio."""

    http: bool = False
    sse: bool = False


class SessionCapabilities(Shape, frozen=True, kw_only=True):
    """Which session methods the agent serves, besides new, prompt and cancel."""

    list: Offered | None = None
    delete: Offered | None = None
    additional_directories: Offered | None = None
    resume: Offered | None = None
    close: Offered | None = None
    fork: Offered | None = None
    """Unstable in the schema."""


class AgentAuthCapabilities(Shape, frozen=True, kw_only=True):
    """Which authentication methods the agent serves, besides authenticate."""

    logout: Offered | None = None


class AgentCapabilities(Shape, frozen=True, kw_only=True):
    """What the agent serves; absent is unsupported."""

    load_session: bool = False
    prompt_capabilities: PromptCapabilities | None = None
    mcp_capabilities: McpCapabilities | None = None
    session_capabilities: SessionCapabilities | None = None
    auth: AgentAuthCapabilities | None = None

    @property
    def prompt(self) -> PromptCapabilities:
        """The prompt capabilities, all off where the agent declared nothing."""
        return self.prompt_capabilities or PromptCapabilities()

    @property
    def mcp(self) -> McpCapabilities:
        """The MCP capabilities, all off where the agent declared nothing."""
        return self.mcp_capabilities or McpCapabilities()

    @property
    def session(self) -> SessionCapabilities:
        """The session capabilities, none where the agent declared nothing."""
        return self.session_capabilities or SessionCapabilities()


class AuthMethodTerminal(Shape, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """A login that the person does in a terminal: the agent's program, run with these arguments and variables."""

    id: str
    name: str
    description: str | None = None
    args: Annotated[list[str] | None, STRICT] = None
    env: Annotated[dict[str, str] | None, STRICT] = None


class AuthMethodAgent(Shape, frozen=True, kw_only=True):
    """A login that the agent does itself when asked to ``authenticate``. ``type`` is no field of the stable schema."""

    id: str
    name: str
    description: str | None = None


AuthMethod = AuthMethodTerminal | AuthMethodAgent


class InitializeRequest(Shape, frozen=True, kw_only=True):
    """The client's half of the handshake."""

    protocol_version: ProtocolVersion
    client_capabilities: ClientCapabilities | None = None
    client_info: Implementation | None = None


class InitializeResponse(Shape, frozen=True, kw_only=True):
    """The agent's half: the version asked for, or the newest it speaks."""

    protocol_version: ProtocolVersion
    agent_capabilities: AgentCapabilities | None = None
    auth_methods: Annotated[list[AuthMethod] | None, SKIP] = None
    agent_info: Implementation | None = None

    @property
    def capabilities(self) -> AgentCapabilities:
        """The agent's capabilities, none where it declared nothing."""
        return self.agent_capabilities or AgentCapabilities()


class AuthenticateRequest(Shape, frozen=True, kw_only=True):
    """Log in by one of the agent's methods."""

    method_id: str


class AuthenticateResponse(Shape, frozen=True, kw_only=True):
    """Logged in."""


class LogoutRequest(Shape, frozen=True, kw_only=True):
    """Log out."""


class LogoutResponse(Shape, frozen=True, kw_only=True):
    """Logged out."""


class CancelRequestNotification(Shape, frozen=True, kw_only=True):
    """``$/cancel_request``, from whoever sent the request ``request_id``; the id is that side's own bytes."""

    request_id: msgspec.Raw
