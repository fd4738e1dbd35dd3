"""The named types that events and commands are made of.

Rule 1: an optional field is absent (``UNSET``), never null, unless its type says null.
Rule 2: JSON that belongs to somebody else (tool inputs, error details, custom data) stays as its own bytes, ``msgspec.Raw``.
Rule 3: the protocol's own names that begin with "ACP" lose that prefix here, because in this code ``acp`` is the
Agent *Client* Protocol: ``ACPError`` is ``ErrorInfo``, ``ACPCapabilities`` is ``Capabilities``. The package has both names.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

Number = int | float
"""A JSON number; an integer stays one on the way out."""

RawObject = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
"""A JSON object as bytes, spliced as it is. Made from anything by ``as_object``."""

SessionStatus = Literal[
    "starting", "running", "thinking", "waiting_for_input", "waiting_for_approval", "paused", "idle", "completed", "error"
]
MessageRole = Literal["user", "assistant", "system"]
ToolCategory = Literal["file_read", "file_write", "file_edit", "terminal", "search", "web", "git", "mcp", "agent", "other"]
RiskLevel = Literal["low", "medium", "high", "critical"]
IntegrationMethod = Literal["sdk", "http", "pty", "file-watch", "mcp"]
ChangeType = Literal["created", "modified", "deleted"]
TodoStatus = Literal["pending", "in_progress", "completed"]
Resolver = Literal["user", "policy", "timeout"]
PASSED_ON: Final = "passed on to the agent, and only that knows what it means"
"""The beginning of the reason of an approval that was answered with an option of the agent's own: neither a yes nor a no."""
ASKED_ANEW: Final = "what it would do changed while it waited, so it is asked anew"
"""The reason of a resolution that decided nothing: the ask was taken back, and another one stands for it."""


class Plain(Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """Base of the types without a discriminator: camelCase on the wire, absent when unset."""


class ErrorInfo(Plain, kw_only=True, frozen=True):
    """What went wrong, for programs (``code``) and for people (``message``)."""

    code: str
    message: str
    recoverable: bool
    details: Raw | UnsetType = UNSET
    agent_code: str | UnsetType = UNSET


class TokenUsage(Plain, kw_only=True, frozen=True):
    """Tokens of one message or of a whole session."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | UnsetType = UNSET
    cache_write_tokens: int | UnsetType = UNSET


class CostBreakdown(Plain, kw_only=True, frozen=True):
    """Money spent, in ``currency`` (ISO 4217). What it is made of is absent where nobody reported it."""

    total: Number
    input: Number | UnsetType = UNSET
    output: Number | UnsetType = UNSET
    currency: str


class FileChangeSummary(Plain, kw_only=True, frozen=True):
    """One file of a finished session."""

    path: str
    change_type: ChangeType
    lines_added: int
    lines_removed: int


class SessionSummary(Plain, kw_only=True, frozen=True):
    """What a finished session did. ``duration`` is milliseconds."""

    files_changed: list[FileChangeSummary]
    token_usage: TokenUsage
    cost: CostBreakdown | UnsetType = UNSET
    duration: Number
    tool_calls_count: int
    messages_count: int
    error_count: int


class EnvironmentAgent(Plain, kw_only=True, frozen=True):
    """The agent program."""

    name: str
    version: str
    display_name: str


class EnvironmentModel(Plain, kw_only=True, frozen=True):
    """The model behind the agent."""

    id: str
    display_name: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET


class EnvironmentProject(Plain, kw_only=True, frozen=True):
    """What is being worked on."""

    path: str
    name: str
    language: str | UnsetType = UNSET
    framework: str | UnsetType = UNSET


class EnvironmentRuntime(Plain, kw_only=True, frozen=True):
    """Where it runs."""

    os: str
    arch: str
    node_version: str | UnsetType = UNSET


class EnvironmentContext(Plain, kw_only=True, frozen=True):
    """Agent, model, project and machine of a session."""

    agent: EnvironmentAgent
    model: EnvironmentModel
    project: EnvironmentProject
    runtime: EnvironmentRuntime


class AutoApprove(Plain, kw_only=True, frozen=True):
    """What needs no person: yes, no, or a list of glob patterns."""

    reads: bool
    writes: bool | list[str]
    commands: bool | list[str]
    searches: bool


class PermissionPolicy(Plain, kw_only=True, frozen=True):
    """A client's standing answer to approvals."""

    auto_approve: AutoApprove


class AgentDataPaths(Plain, kw_only=True, frozen=True):
    """Where an agent keeps its files."""

    sessions: str | UnsetType = UNSET
    config: str | UnsetType = UNSET
    logs: str | UnsetType = UNSET


class DiscoveredSession(Plain, kw_only=True, frozen=True):
    """A session that somebody else started; dates are ISO 8601."""

    id: str
    agent: str
    project_path: str
    project_name: str
    created_at: str
    last_activity: str
    last_message: str | UnsetType | None = UNSET
    session_name: str | UnsetType | None = UNSET


class SessionDiscoveryEvent(Plain, kw_only=True, frozen=True):
    """A session appeared, changed or went away outside the hub."""

    type: Literal["session_created", "session_removed", "session_updated"]
    session_id: str
    agent: str


class StartSessionOptions(Plain, kw_only=True, frozen=True):
    """What a client gives to start a session."""

    project_path: str
    prompt: str
    model: str | UnsetType = UNSET
    agent_options: RawObject | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_object(self.agent_options)


class FileBatchChange(Plain, kw_only=True, frozen=True):
    """One file of a ``file:batch``."""

    path: str
    change_type: ChangeType
    diff: str | UnsetType = UNSET
    lines_added: int | UnsetType = UNSET
    lines_removed: int | UnsetType = UNSET


class Todo(Plain, kw_only=True, frozen=True):
    """One line of the todo list."""

    content: str
    status: TodoStatus


class SearchResult(Plain, kw_only=True, frozen=True):
    """One hit of a code search."""

    file: str
    line: int
    content: str


class WebSearchResult(Plain, kw_only=True, frozen=True):
    """One hit of a web search."""

    title: str
    url: str
    snippet: str


def require_object(raw: Raw | UnsetType) -> None:
    """Refuse JSON that is no object, where the protocol wants one; a decoder reports it as a validation error."""
    if raw is not UNSET and memoryview(raw).tobytes()[:1] != b"{":
        raise ValueError("expected a JSON object")


def as_object(value: bytes | Raw | None) -> Raw:
    """A JSON object for a field that must be one: an object as it is, nothing as ``{}``, anything else as ``{"value": …}``."""
    if value is None:
        return Raw(b"{}")
    body = bytes(value).strip()
    if body.startswith(b"{"):
        return value if isinstance(value, Raw) else Raw(body)
    return Raw(b'{"value":' + body + b"}") if body else Raw(b"{}")


def to_raw(value: object) -> Raw:
    """Any value that msgspec can encode, as JSON bytes for a ``Raw`` field."""
    return Raw(msgspec.json.encode(value))
