"""What an editor's requests may hold beyond the protocol, and what of the hub it learns in answer to its handshake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trunkline import decoders
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.acp.initialize import AgentCapabilities, AuthMethod, AuthMethodAgent, McpCapabilities
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import McpServer, McpServerHttp, McpServerStdio
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.outside import BROKEN
from trunkline.errors import AgentNotInstalled, Invalid
from trunkline.hub import Hub

DEMO = "demo"


class OurMeta(msgspec.Struct, rename="camel"):
    """``_meta.trunkline`` of a request."""

    agent: str | None = None
    """session/new: which agent."""
    title: str | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """new, load, resume: the editor's variables; the agent's own list says which of them it sees."""
    key: str | None = None
    """prompt: the same key twice is one prompt."""
    after: int | None = None
    """load, resume: the position up to which the editor knows the session."""
    cursor: bool = False
    """In the client's capabilities: tell me my position."""
    lines: bool = False
    """In the client's capabilities: several messages may share a frame, one a line."""


async def default_agent(hub: Hub) -> str:
    """The first agent of the catalog that is installed; the demo agent where none is."""
    return await hub.lane.run(_first_installed, hub.agents, hub.environ)


def _first_installed(agents: Mapping[str, AgentSpec], environ: Mapping[str, str]) -> str:
    others = ((name, spec) for name, spec in agents.items() if name != DEMO)
    return next((name for name, spec in others if _is_installed(spec, environ)), DEMO)


def _is_installed(spec: AgentSpec, environ: Mapping[str, str]) -> bool:
    try:
        catalog.launch_command(spec, environ)
    except AgentNotInstalled:
        return False
    return True


def logins(spec: AgentSpec) -> list[AuthMethod]:
    """How to log in: by the agent's own command, then tell us."""
    if not spec.login_hint:
        return []
    return [AuthMethodAgent(id=spec.name, name=f"Logged in to {spec.display_name}", description=spec.login_hint)]


def usable(servers: list[McpServer], capabilities: msgspec.Raw) -> list[McpServer]:
    """The MCP servers that an agent takes: with one that it does not take it could not be started any more."""
    try:
        takes = read_lenient(bytes(capabilities), AgentCapabilities).mcp
    except Invalid:
        takes = McpCapabilities()
    return [server for server in servers if isinstance(server, McpServerStdio)
            or (takes.http if isinstance(server, McpServerHttp) else takes.sse)]


def encoded_servers(servers: list[McpServer]) -> list[msgspec.Raw]:
    """MCP servers as they are kept."""
    return [msgspec.Raw(encode_acp(server)) for server in servers]


def ours_of(meta: dict[str, Any] | None) -> OurMeta:
    """What a request has in ``_meta.trunkline``."""
    try:
        return decoders.convert((meta or {}).get("trunkline") or {}, OurMeta)
    except BROKEN as error:
        raise Invalid(f"_meta.trunkline: {error}") from error
