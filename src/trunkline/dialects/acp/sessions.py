"""What the agent serves about sessions: new, load, resume, list, close, delete, prompt, cancel, mode and options."""

from __future__ import annotations

from typing import Annotated, Literal

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.options import SessionConfigOption, SessionModeState
from trunkline.dialects.acp.shape import SKIP, STRICT, Shape
from trunkline.dialects.signals import StopReason


class EnvVariable(Shape, frozen=True, kw_only=True):
    """One environment variable."""

    name: str
    value: str


class HttpHeader(Shape, frozen=True, kw_only=True):
    """One HTTP header."""

    name: str
    value: str


class McpServerStdio(Shape, frozen=True, kw_only=True):
    """An MCP server that the agent starts; the one kind every agent must support, and the one without a ``type``."""

    name: str
    command: str
    args: list[str]
    env: list[EnvVariable]


class McpServerHttp(Shape, frozen=True, kw_only=True, tag_field="type", tag="http"):
    """An MCP server over streamable HTTP."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerSse(Shape, frozen=True, kw_only=True, tag_field="type", tag="sse"):
    """An MCP server over server-sent events."""

    name: str
    url: str
    headers: list[HttpHeader]


McpServer = McpServerStdio | McpServerHttp | McpServerSse


class NewSessionRequest(Shape, frozen=True, kw_only=True):
    """Begin a session. ``cwd`` is absolute; ``mcp_servers`` must be there, empty or not."""

    cwd: str
    mcp_servers: list[McpServer]
    additional_directories: Annotated[list[str] | None, STRICT] = None


class NewSessionResponse(Shape, frozen=True, kw_only=True):
    """The session's id and what can be set on it."""

    session_id: str
    modes: SessionModeState | None = None
    config_options: Annotated[list[SessionConfigOption] | None, SKIP] = None


class LoadSessionRequest(Shape, frozen=True, kw_only=True):
    """Open an old session again; the agent replays its history before it answers."""

    session_id: str
    cwd: str
    mcp_servers: list[McpServer]
    additional_directories: Annotated[list[str] | None, STRICT] = None


class LoadSessionResponse(Shape, frozen=True, kw_only=True):
    """What can be set on the session."""

    modes: SessionModeState | None = None
    config_options: Annotated[list[SessionConfigOption] | None, SKIP] = None


class ResumeSessionRequest(Shape, frozen=True, kw_only=True):
    """Open an old session again without a replay."""

    session_id: str
    cwd: str
    mcp_servers: Annotated[list[McpServer] | None, STRICT] = None
    additional_directories: Annotated[list[str] | None, STRICT] = None


class ResumeSessionResponse(Shape, frozen=True, kw_only=True):
    """What can be set on the session."""

    modes: SessionModeState | None = None
    config_options: Annotated[list[SessionConfigOption] | None, SKIP] = None


class ListSessionsRequest(Shape, frozen=True, kw_only=True):
    """Which sessions are there, in a folder, from a cursor on."""

    cwd: Annotated[str | None, STRICT] = None
    cursor: Annotated[str | None, STRICT] = None


class SessionInfo(Shape, frozen=True, kw_only=True):
    """One session of the agent's own store."""

    session_id: str
    cwd: str
    additional_directories: Annotated[list[str] | None, SKIP] = None
    title: str | None = None
    updated_at: str | None = None


class ListSessionsResponse(Shape, frozen=True, kw_only=True):
    """A page of sessions; ``next_cursor`` asks for the next."""

    sessions: Annotated[list[SessionInfo], SKIP]
    next_cursor: str | None = None


class CloseSessionRequest(Shape, frozen=True, kw_only=True):
    """Stop work on a session and free what it holds."""

    session_id: str


class CloseSessionResponse(Shape, frozen=True, kw_only=True):
    """Closed."""


class DeleteSessionRequest(Shape, frozen=True, kw_only=True):
    """Forget a session."""

    session_id: str


class DeleteSessionResponse(Shape, frozen=True, kw_only=True):
    """Deleted."""


class PromptRequest(Shape, frozen=True, kw_only=True):
    """Say something to the agent; the answer comes when the turn is over."""

    session_id: str
    prompt: list[ContentBlock]


class PromptResponse(Shape, frozen=True, kw_only=True):
    """Why the turn ended."""

    stop_reason: StopReason


class CancelNotification(Shape, frozen=True, kw_only=True):
    """``session/cancel``: end the running turn; it still answers, with ``cancelled``."""

    session_id: str


class SetSessionModeRequest(Shape, frozen=True, kw_only=True):
    """Change the mode."""

    session_id: str
    mode_id: str


class SetSessionModeResponse(Shape, frozen=True, kw_only=True):
    """Changed."""


class SetSessionConfigOptionRequest(Shape, frozen=True, kw_only=True):
    """Set an option to a choice's value, or, with ``type`` "boolean", on or off."""

    session_id: str
    config_id: str
    value: str | bool
    type: Annotated[Literal["boolean"] | None, STRICT] = None

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) != (self.type == "boolean"):
            raise ValueError('value is a bool exactly when type is "boolean"')


class SetSessionConfigOptionResponse(Shape, frozen=True, kw_only=True):
    """All options as they are now."""

    config_options: Annotated[list[SessionConfigOption], SKIP]
