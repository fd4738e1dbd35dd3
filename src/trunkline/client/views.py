"""What the hub answers, as a client reads it.

Rule 1: a client and a hub may be of different versions: fields we do not know are skipped, fields that are missing have a
default. Only what identifies a thing is required.
Rule 2: names are those of the hub's own views; a test holds them together.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.client.records import ContextEvent


class View(msgspec.Struct, rename="camel", kw_only=True):
    """Base of all answers: camelCase on the wire."""


class SandboxView(View):
    """What an agent and its commands run in."""

    kind: str = "bwrap"
    network: bool = True

    def __str__(self) -> str:
        return f"{self.kind}, network {'on' if self.network else 'off'}"


class ResourcesView(View):
    """What an agent may take of the machine; None: no limit."""

    memory_mb: int | None = None
    processes: int | None = None
    files: int | None = None


class AgentView(View):
    """An agent that the hub can run."""

    name: str
    display_name: str = ""
    icon: str = ""
    command: list[str] = []
    docs_url: str = ""
    install_hint: str = ""
    login_hint: str = ""
    pick: str = ""
    """When to pick it, where others do the same."""
    env_allow: list[str] = []
    installed: bool = False
    path: str | None = None
    version: str | None = None
    capabilities: Any = None
    asks_permission: bool = False
    """Whether the agent was seen to ask before it acts; where not, it may act without asking."""
    sandbox: SandboxView | None = None
    """What every session with it runs in; None where a session may choose."""
    resources: ResourcesView = msgspec.field(default_factory=ResourcesView)
    daemons: list[str] = []
    """Programs that it starts for all its users, which are left running when it ends."""


class TurnView(View):
    """The running turn; attach after ``seq`` to see all of it."""

    turn_id: str
    started_at: str = ""
    by: str = ""
    seq: int = 0


class OptionView(View):
    """One answer that an agent offers."""

    option_id: str
    name: str = ""
    kind: str = ""


class AskedCall(View):
    """One of the calls that an ask is about which says nothing of its own."""

    tool_call_id: str = ""
    tool_name: str = ""
    description: str = ""
    command: str | None = None
    paths: list[str] = []
    risk_level: str = ""
    risk_reason: str = ""
    doubts: list[str] = []


class ApprovalView(View):
    """A permission that waits for a decision."""

    request_id: str
    tool_call_id: str = ""
    tool_name: str = ""
    title: str = ""
    description: str = ""
    risk_level: str = ""
    risk_reason: str = ""
    sure: bool = True
    doubts: list[str] = []
    calls: list[AskedCall] = []
    options: list[OptionView] = []
    tool_input: Any = None
    preview: Any = None
    acts: list[Any] = []
    """What it does beside its preview."""
    in_words: bool = False
    parts: list[dict[str, Any]] = []
    about: dict[str, Any] | None = None
    disk: dict[str, Any] | None = None
    always: dict[str, Any] | None = None
    no_rule: str = ""
    """Why there is no rule that "always" would write."""
    rules_allow: bool = True
    """Whether rules may allow it: not so of asks in terminals, unless the person wants that."""
    answer_there: bool = False
    """It can only be answered in the terminal that asks it."""
    editable: bool = False
    beyond_turn: bool = False
    requested_at: str = ""
    expires_at: str = ""


class QuestionView(View):
    """A question that waits for an answer; ``schema`` is the form's JSON Schema."""

    question_id: str
    question: str = ""
    options: list[str] | None = None
    schema: dict[str, Any] | None = None
    url: str | None = None
    tool_call_id: str | None = None
    cap: str | None = None
    beyond_turn: bool = False
    asked_at: str = ""
    expires_at: str = ""


class QueuedPrompt(View):
    """A prompt that waits for its turn."""

    turn_id: str
    content: list[Any] = []
    queued_at: str = ""
    by: str = ""


class Todo(View):
    """One line of the agent's plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class Usage(View):
    """Context tokens in use and the window's size."""

    used: int = 0
    size: int = 0


class Cost(View):
    """What the session has cost so far."""

    amount: float = 0.0
    currency: str = ""
    input: float = 0
    output: float = 0


class Changes(View):
    """What the session has changed so far, all its files together."""

    files: int = 0
    lines_added: int = 0
    lines_removed: int = 0


class Failure(View):
    """How a session's last turn broke off."""

    code: str = ""
    message: str = ""
    at: str = ""


class FoundView(View):
    """A session that another program wrote: not the hub's until somebody joins it. ``id`` is its agent's own."""

    id: str
    agent: str = ""
    cwd: str = ""
    project: str = ""
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    last_text: str = ""
    running: bool = False
    pid: int | None = None
    model: str | None = None
    tokens: int | None = None
    resume_command: str | None = None
    where: str = "elsewhere"
    node: str | None = None
    """The node of the cluster whose files it is in."""


class SessionView(View):
    """The state of one session."""

    id: str
    status: str = ""
    agent: str = ""
    cwd: str = ""
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    last_seq: int = 0
    turn: TurnView | None = None
    pending_approvals: list[ApprovalView] = []
    pending_questions: list[QuestionView] = []
    queue: list[QueuedPrompt] = []
    todos: list[Todo] = []
    usage: Usage | None = None
    cost: Cost | None = None
    mode: str | None = None
    modes: Any = None
    config_options: Any = None
    commands: list[dict[str, Any]] | None = None
    artifacts: int = 0
    paused: dict[str, Any] | None = None
    caps: dict[str, Any] | None = None
    waits: dict[str, Any] = {}
    rules: list[dict[str, Any]] = []
    permission_policy: dict[str, Any] | None = None
    tokens: dict[str, Any] | None = None
    agent_info: Any = None
    agent_start: str | None = None
    agent_session_id: str | None = None
    sandbox: SandboxView | None = None
    resources: ResourcesView = msgspec.field(default_factory=ResourcesView)
    watch_only: bool = False
    line: bool = False
    resume_command: str | None = None
    """What goes on with it in the agent's own program, in a terminal."""
    last_text: str = ""
    changes: Changes = msgspec.field(default_factory=Changes)
    failed: Failure | None = None
    missed: str | None = None
    node: str | None = None
    """The node of the cluster that it runs on."""
    node_away: str | None = None
    """Why that node cannot be written to; None while it is there."""
    lag: float | None = None
    """For how many seconds that node has been ahead of what others can show of it; None where it is not."""


class RemovedView(View):
    """What became of a deleted session in its cluster: messages that were erased, and whether others stay: in the servers' files
    for a while (purged), or in the streams until somebody sweeps (unswept)."""

    erased: int = 0
    purged: bool = False
    unswept: bool = False
    why: str = ""


class WayView(View):
    """One way to go on with a session here: resume, fork or summary."""

    how: str
    possible: bool = False
    words: str = ""


class HandoverView(View):
    """Who has a session, and how it changes hands."""

    session_id: str
    here: bool = True
    running: bool = False
    pid: int | None = None
    ways: list[WayView] = []
    resume_command: str | None = None
    can_give_back: bool = False


class Accepted(View):
    """A prompt that the hub has taken; attach after ``seq`` to see its turn."""

    turn_id: str
    seq: int
    queued: bool = False


class Artifact(View):
    """A file or app folder that the agent made. ``preview_url`` is spelled so on the wire."""

    id: str
    session_id: str = ""
    type: str = ""
    name: str = ""
    path: str = ""
    preview_url: str | None = msgspec.field(default=None, name="preview_url")
    version: int = 1
    created_at: str = ""
    updated_at: str = ""


class PreviewAddress(View):
    """Where an artifact can be seen; None for an app without static output."""

    preview_url: str | None = msgspec.field(default=None, name="preview_url")


class FileEntry(View):
    """A file or folder; ``path`` is relative to the session's folder."""

    name: str
    path: str
    is_directory: bool = False
    size: int | None = None
    mime_type: str | None = None
    modified_at: str = ""
    is_symlink: bool = False


class FileList(View):
    """A folder; ``truncated`` when it holds more than is listed."""

    path: str
    entries: list[FileEntry] = []
    truncated: bool = False


class FilesFound(View):
    """Files whose path matches, the best first."""

    query: str
    files: list[FileEntry] = []
    truncated: bool = False


class Uploaded(View):
    """A file as it was stored."""

    name: str
    path: str
    size: int = 0


class Uploads(View):
    """The files of one upload."""

    files: list[Uploaded]


class Code(View):
    """A one-time code; ``path`` logs a browser in with it."""

    code: str
    path: str
    expires_in_s: float = 0.0


class WayIn(View):
    """How somebody whom the hub does not know gets in."""

    command: str


class EventPage(View):
    """Stored events in order; ``next_after`` pages on, None at the end, ``next_before`` back, None at the beginning."""

    events: list[msgspec.Raw]
    last_seq: int = 0
    next_after: int | None = None
    next_before: int | None = None

    def records(self) -> list[ContextEvent]:
        """The events, to be read."""
        return [ContextEvent(bytes(event)) for event in self.events]


class SessionState(SessionView):
    """A session's state with what works in it: the Agent Context Protocol's capabilities."""

    capabilities: dict[str, Any] = {}

    @property
    def asks_permission(self) -> bool:
        """Whether the agent was seen to ask before it acts; where not, it may act without asking."""
        approval = (self.capabilities.get("features") or {}).get("approval") or {}
        return approval.get("toolCalls") is True


class Snapshot(View):
    """The state of a session after the entry ``seq``."""

    session_id: str
    seq: int
    state: SessionState


class CommandDone(View):
    """What came of a command."""

    id: str | None = None
    result: dict[str, Any] = {}


class PendingAsk(View):
    """An approval or a question that waits for somebody, and the session it waits in."""

    session_id: str
    agent: str = ""
    title: str = ""
    cwd: str = ""
    approval: ApprovalView | None = None
    question: QuestionView | None = None


class Fault(View):
    """An error body."""

    code: str
    message: str = ""
    recoverable: bool = False
    details: dict[str, Any] | None = None
    agent_code: str | None = None


class HubState(View):
    """What a snapshot of the whole hub carries."""

    pending: list[PendingAsk] = []
    sessions: list[SessionView] = []


class ServerFrame(View):
    """Any frame of the hub's WebSocket; what it does not have stays empty."""

    type: str
    id: str | None = None
    ok: bool = False
    error: Fault | None = None
    result: dict[str, Any] = {}
    subscription: str | None = None
    session_id: str = ""
    seq: int = 0
    pos: int = 0
    state: msgspec.Raw = msgspec.Raw(b"{}")
    event: msgspec.Raw = msgspec.Raw(b"{}")
    pending: list[PendingAsk] = []
