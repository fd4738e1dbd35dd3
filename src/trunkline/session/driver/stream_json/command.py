"""How the Claude Code CLI is launched: which conversation it opens, with which flags, for which version.

Rule 1: flags that a version does not know end it at once: what is newer than the oldest version we take is passed only to
versions that have it.
Rule 2: the id of a conversation is ours: it is known before the first prompt, and the CLI names no other.
Rule 3: an id is passed in the ``=`` form, since the CLI would read a separate word as the next flag.
Rule 4: MCP servers carry secrets, which a command line would show to everybody on the machine: they go into a private file.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import McpServer, McpServerHttp, McpServerStdio

Version = tuple[int, ...]

LEAST: Final[Version] = (2, 0, 77)
"""The oldest version that takes all that we pass to every version."""

HOOK_EVENTS: Final[Version] = (2, 1, 112)
"""From here on hooks of the user's settings can be reported."""

ASKS_FOR_HOOKS: Final[Version] = (2, 1, 112)
"""From here on a hook can have a tool asked about; before, it can only keep it from running."""

LOOKS_FIRST: Final[Version] = (2, 1, 112)
"""From here on a conversation that is not there is reported instead of a greeting."""

_ALWAYS: Final = (
    "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json", "--include-partial-messages",
    "--permission-prompt-tool", "stdio",
)

_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")

_encode = msgspec.json.Encoder().encode


class Way(msgspec.Struct, frozen=True):
    """Which conversation to open: a new one, one that is there, or a branch off one that is there."""

    kind: Literal["new", "resume", "fork"]
    session_id: str
    """The conversation's id once it is open."""
    source: str = ""
    """The one that a fork begins with."""


def read_version(text: str | None) -> Version | None:
    """A version as numbers; None where the CLI gave none."""
    found = _NUMBERS.search(text or "")
    return tuple(map(int, found.groups())) if found else None


def may_bypass(env: Mapping[str, str], uid: int) -> bool:
    """Whether the CLI lets somebody choose to be asked nothing: never as superuser, except in a sandbox."""
    return uid != 0 or env.get("IS_SANDBOX") == "1"


def flags(way: Way, *, version: Version | None, bypass: bool, mcp_config: str | None) -> list[str]:
    """What follows the program's name."""
    words = [*_ALWAYS]
    if version is not None and version >= HOOK_EVENTS:
        words.append("--include-hook-events")
    if bypass:
        words.append("--allow-dangerously-skip-permissions")
    if mcp_config is not None:
        words += ["--mcp-config", mcp_config]
    return [*words, *_opening(way)]


def _opening(way: Way) -> list[str]:
    match way.kind:
        case "new":
            return [f"--session-id={way.session_id}"]
        case "resume":
            return [f"--resume={way.session_id}"]
        case "fork":
            return [f"--resume={way.source}", "--fork-session", f"--session-id={way.session_id}"]


def write_mcp_config(servers: Sequence[msgspec.Raw]) -> str | None:
    """A file with the MCP servers as the CLI reads them, for the one who asks to remove; None without servers."""
    if not servers:
        return None
    handle, path = tempfile.mkstemp(prefix="trunkline-mcp-", suffix=".json")
    with os.fdopen(handle, "wb") as file:
        file.write(_encode(mcp_config(servers)))
    return path


def mcp_config(servers: Sequence[msgspec.Raw]) -> dict[str, Any]:
    """MCP servers of the Agent Client Protocol in the CLI's own words."""
    read = [read_lenient(bytes(raw), McpServer) for raw in servers]
    return {"mcpServers": {server.name: _server(server) for server in read}}


def _server(server: McpServer) -> dict[str, Any]:
    if isinstance(server, McpServerStdio):
        env = {variable.name: variable.value for variable in server.env}
        return {"type": "stdio", "command": server.command, "args": server.args, "env": env}
    kind = "http" if isinstance(server, McpServerHttp) else "sse"
    return {"type": kind, "url": server.url, "headers": {header.name: header.value for header in server.headers}}
