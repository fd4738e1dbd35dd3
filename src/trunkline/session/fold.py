"""What is known of a session: one serialisable struct, changed only by ``interpret``.

Rule 1: no I/O and no clock; time, ids and randomness arrive with the input.
Rule 2: everything that must outlive a crash is in ``Fold`` and in its checkpoint. What is left out of the checkpoint is
either in the journal (the text of the open message) or worthless after a restart (bodies of running calls).
Rule 3: a checkpoint is small. Its size depends on what is open and on what the session is, never on how much was said.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.context import (
    ApprovalPreview,
    ChangeType,
    EnvironmentContext,
    EnvironmentModel,
    MessageContent,
    PermissionPolicy,
    RiskLevel,
    TokenUsage,
)
from trunkline.dialects.risk import CommandPart
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import SessionUnreadable
from trunkline.session.caps import Caps
from trunkline.session.chain import Chain
from trunkline.session.policy import PolicyAsk, Rule

KEPT_DECISIONS = 256
"""Resolved approvals that can still be told "already resolved, by whom"; older ones are in the journal."""

KEPT_COMMANDS = 256
"""Commands whose answers are remembered by id; the same reasoning as for keys."""
KEPT_FILES = 2000
"""Changed files counted per session; a summary of more would be no summary."""

KEPT_KEYS = 256
"""Idempotency keys remembered per session; a client retries within seconds, not after 256 prompts."""

LIGHT_BODY = 4096
"""Bodies of open calls above this many bytes stay out of a checkpoint."""

NULL = msgspec.Raw(b"null")
"""JSON that the agent did not send. (``Raw | None`` cannot be decoded: msgspec takes it for "null only".)"""


class OpenText(msgspec.Struct):
    """A message or thought that is still growing.

    ``parts`` are JSON string tokens without their quotes, as many as its completion may carry; ``size`` counts all its
    bytes, ``newest`` is the last token."""

    thinking: bool
    message_id: str
    start_seq: int
    agent_message_id: str | None = None
    size: int = 0
    parts: list[bytes] = msgspec.field(default_factory=list)
    newest: bytes = b'""'
    parent: str | None = None
    """The call whose sub-agent says it."""


class OpenUserMessage(msgspec.Struct):
    """What a person once said, being told again piece by piece. ``size`` counts all its bytes, those of cut parts too."""

    message_id: str
    agent_message_id: str | None = None
    parts: list[MessageContent] = msgspec.field(default_factory=list)
    size: int = 0


class Evidence(msgspec.Struct):
    """What was said of a call beside its fields, or was there and replaced: diffs, terminals, a record in ``_meta``."""

    diffs: list[Diff] = msgspec.field(default_factory=list)
    terminals: list[str] = msgspec.field(default_factory=list)
    printed: str = ""
    exit_code: int | None = None
    response: dict[str, Any] = msgspec.field(default_factory=dict)


class OpenCall(msgspec.Struct):
    """A tool call of the current turn and how far its story has been told."""

    state: CallState
    since: int
    executing: bool = False
    finished: bool = False
    denied: bool = False
    approved: bool = False
    """A person or a rule let it run."""
    asked: bool = False
    """Somebody was, or is, asked to allow it."""
    counted: bool = False
    """The agent itself spoke of it; a permission alone is no call yet."""
    spawned: bool = False
    """It started a sub-agent."""
    shows_ask: bool = False
    """What it shows came with a permission: words for whoever decides, no output."""
    questioned: bool = False
    """What it asks a person was told."""
    parent: str | None = None
    """The call whose sub-agent makes this one."""
    in_background: bool = False
    """That sub-agent goes on though its own call is done: this one does not end with the turn."""
    risk_level: RiskLevel | None = None
    risk_reason: str = ""
    progress_at: int = 0
    evidence: Evidence | None = None


class ApprovalView(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A permission that waits for a decision."""

    request_id: str
    tool_call_id: str
    tool_name: str
    title: str
    description: str
    risk_level: RiskLevel
    risk_reason: str = ""
    options: list[PermissionOption]
    tool_input: msgspec.Raw
    preview: ApprovalPreview | None = None
    parts: list[CommandPart] = []
    """The command that is shown, in its parts."""
    about: PolicyAsk | None = None
    """What the rules look at."""
    always: Rule | None = None
    """The rule that "always allow" would write."""
    editable: bool = False
    """Whether the input may be changed before it is approved."""
    beyond_turn: bool = False
    """Something in the background asks: it still waits when the turn has ended."""
    requested_at: str
    expires_at: str


class QuestionView(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A question that waits for an answer; ``schema`` is the form's JSON Schema."""

    question_id: str
    question: str
    options: list[str] | None = None
    schema: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    url: str | None = None
    tool_call_id: str | None = None
    cap: str | None = None
    """The hub asks, not the agent: this cap was reached."""
    beyond_turn: bool = False
    """Something in the background asks."""
    asked_at: str
    expires_at: str = ""
    """Absent where it waits until somebody answers."""


class Decided(msgspec.Struct, rename="camel"):
    """Who resolved an approval, how and when, so that a late answer can be told."""

    approved: bool
    by: str
    at: str
    resolved_by: str = "user"


class QueuedPrompt(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A prompt that waits for its turn. ``content`` are ACP content blocks."""

    turn_id: str
    content: list[msgspec.Raw]
    queued_at: str
    by: str


class Turn(msgspec.Struct, rename="camel", kw_only=True):
    """The prompt being worked on."""

    turn_id: str
    started_at: str
    by: str
    seq: int
    """The entry before the turn's first: a reader that attaches after it sees the whole turn."""
    cancelled: bool = False
    said_something: bool = False
    tokens: TokenUsage | None = None
    """What the agent told of while the turn ran; its end may tell all of it again."""


class Sent(msgspec.Struct, rename="camel"):
    """What an idempotency key was answered with."""

    turn_id: str
    seq: int
    queued: bool


class Usage(msgspec.Struct, rename="camel", omit_defaults=True):
    """Context tokens in use and the window's size, as the agent reports them."""

    used: int = 0
    size: int = 0


class Cost(msgspec.Struct, rename="camel", omit_defaults=True):
    """Money spent in all; ``input`` and ``output`` are what is known of its parts."""

    amount: float
    currency: str
    input: float = 0
    output: float = 0


class FileTally(msgspec.Struct, rename="camel"):
    """What became of one file so far, for the summary of the session."""

    change_type: ChangeType
    lines_added: int = 0
    lines_removed: int = 0


class Todo(msgspec.Struct, rename="camel"):
    """One line of the agent's plan."""

    content: str
    status: str
    priority: str = "medium"


class Artifact(msgspec.Struct, rename="camel", kw_only=True):
    """A file or app folder that the agent made. ``path`` is absolute; ``version`` rises when it changes."""

    id: str
    type: str
    name: str
    path: str
    relative_path: str
    version: int = 1
    created_at: str
    updated_at: str
    fingerprint: str = ""


class CommandDone(msgspec.Struct):
    """What a command was answered with: ``{"ok": true, "result"}`` or ``{"ok": false, "error"}``."""

    digest: str
    """Of the command: the same id with another command is a mistake."""
    outcome: msgspec.Raw


class Pause(msgspec.Struct, rename="camel"):
    """Somebody holds the session. ``held`` says what waits: the next permission, the queue, the turn."""

    since: str
    by: str
    reason: str | None
    held: list[str]


class Waits(msgspec.Struct, rename="camel", omit_defaults=True):
    """How long this session's approvals wait, and what the agent is told when nobody answered."""

    approval_s: float | None = None
    """None: as long as the hub's setting says."""
    on_timeout: Literal["reject", "cancel"] = "reject"


class Fold(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """The state of one session."""

    session_id: str
    agent: str
    cwd: str
    created_at: int
    updated_at: int
    title: str = ""
    titled_by_user: bool = False
    status: str = "starting"
    seq: int = 0
    turns: int = 0
    turn: Turn | None = None
    text: OpenText | None = None
    user_message: OpenUserMessage | None = None
    """Only while an agent tells its history again; never beside ``text``."""
    calls: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    approvals: dict[str, ApprovalView] = msgspec.field(default_factory=dict)
    decided: dict[str, Decided] = msgspec.field(default_factory=dict)
    questions: dict[str, QuestionView] = msgspec.field(default_factory=dict)
    queue: list[QueuedPrompt] = msgspec.field(default_factory=list)
    sent: dict[str, Sent] = msgspec.field(default_factory=dict)
    todos: list[Todo] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    cost: Cost | None = None
    cost_reported: float = 0
    """The agent's own last total, from which the next one is told apart."""
    tokens: TokenUsage | None = None
    tokens_reported: TokenUsage | None = None
    mode: str | None = None
    modes: msgspec.Raw = NULL
    config_options: msgspec.Raw = NULL
    commands_seq: int = 0
    """The entry whose update lists the agent's commands (too large, in some agents, to be carried in every checkpoint)."""
    artifacts: dict[str, Artifact] = msgspec.field(default_factory=dict)
    rules: list[Rule] = msgspec.field(default_factory=list)
    """What people decided for this session or turn; what they decided for good is in the policy file."""
    permission_policy: PermissionPolicy | None = None
    commands: dict[str, CommandDone] = msgspec.field(default_factory=dict)
    paused: Pause | None = None
    waits: Waits = msgspec.field(default_factory=Waits)
    caps: Caps | None = None
    worked_us: int = 0
    """Time spent in turns that are over."""
    chain: Chain = msgspec.field(default_factory=Chain)
    """The end of the hash chain over all approvals."""
    agent_info: msgspec.Raw = NULL
    agent_capabilities: msgspec.Raw = NULL
    agent_session_id: str | None = None
    chosen_options: dict[str, str | bool] = msgspec.field(default_factory=dict)
    """The agent's options that somebody set, to be set again when it comes back."""
    agent_start: str | None = None
    """How the agent came to its session last: new, resumed, loaded or forked."""
    fork_of: str | None = None
    """The agent's session that this one branched off: while it is still ``agent_session_id``, the branch is not made yet."""
    watches: str | None = None
    """The file that this session follows, where somebody else runs the agent: there is nobody here to say anything to."""
    watch_position: int = 0
    """The bytes of that file that are in the journal."""
    mcp_servers: list[msgspec.Raw] = msgspec.field(default_factory=list)
    last_text: str = ""
    thinking_changes: list[int] = msgspec.field(default_factory=list)
    """When the status last changed to or from thinking, to keep such changes to a few a second."""
    messages: int = 0
    """Messages of both sides that were completed."""
    tool_calls: int = 0
    errors: int = 0
    files: dict[str, FileTally] = msgspec.field(default_factory=dict)
    environment: EnvironmentContext | None = None
    """Where the session runs, as it was last told."""
    model: EnvironmentModel | None = None
    last_message: tuple[str, str | None] = ("", None)
    """The newest message of the agent: our id of it and the agent's own."""
    plan_mode: bool = False
    plan_call: str | None = None
    """The call whose plan was told last."""

    def agent_questions(self) -> list[str]:
        """The open questions that the agent asked, not the hub itself."""
        return [question_id for question_id, view in self.questions.items() if view.cap is None]

    def asks_of_turn(self) -> tuple[list[str], list[str]]:
        """The open approvals and questions that end with the turn."""
        asks = [request_id for request_id, view in self.approvals.items() if not view.beyond_turn]
        return asks, [question_id for question_id in self.agent_questions() if not self.questions[question_id].beyond_turn]


class Changes(msgspec.Struct, rename="camel"):
    """What the session has changed so far, all its files together."""

    files: int = 0
    lines_added: int = 0
    lines_removed: int = 0


class TurnView(msgspec.Struct, rename="camel"):
    """The running turn, as clients see it."""

    turn_id: str
    started_at: str
    by: str
    seq: int


class SessionView(msgspec.Struct, kw_only=True, rename="camel"):
    """The fold as the HTTP API shows it."""

    id: str
    status: str
    agent: str
    cwd: str
    title: str
    created_at: str
    updated_at: str
    last_seq: int
    turn: TurnView | None
    pending_approvals: list[ApprovalView]
    pending_questions: list[QuestionView]
    queue: list[QueuedPrompt]
    todos: list[Todo]
    usage: Usage | None
    cost: Cost | None
    mode: str | None
    modes: msgspec.Raw
    config_options: msgspec.Raw
    artifacts: int
    paused: Pause | None
    caps: Caps | None
    waits: Waits
    rules: list[Rule]
    permission_policy: PermissionPolicy | None
    tokens: TokenUsage | None
    agent_info: msgspec.Raw
    agent_start: str | None
    """How the agent came to this session last: ``new``, ``resumed`` (it remembers) or ``loaded`` (it was told again)."""
    last_text: str
    agent_session_id: str | None = None
    """What the agent itself calls this session."""
    watch_only: bool = False
    """Whether somebody else runs the agent, so that this session can only be watched."""
    commands: list[dict[str, Any]] | None = None
    """Only in the view of a single session."""
    changes: Changes = msgspec.field(default_factory=Changes)


def shown(view: ApprovalView) -> ApprovalView:
    """An approval as clients see it: where the hub keeps its own files is for the rules alone."""
    if view.about is None:
        return view
    return msgspec.structs.replace(view, about=msgspec.structs.replace(view.about, guarded=(), home=None))


def view_of(fold: Fold, *, created_at: str, updated_at: str) -> SessionView:
    """The fold as clients see it."""
    turn = fold.turn
    return SessionView(
        id=fold.session_id, status=fold.status, agent=fold.agent, cwd=fold.cwd, title=fold.title,
        created_at=created_at, updated_at=updated_at, last_seq=fold.seq,
        turn=TurnView(turn.turn_id, turn.started_at, turn.by, turn.seq) if turn else None,
        pending_approvals=[shown(view) for view in fold.approvals.values()], pending_questions=list(fold.questions.values()),
        queue=list(fold.queue), todos=list(fold.todos), usage=fold.usage, cost=fold.cost, mode=fold.mode,
        modes=fold.modes, config_options=fold.config_options, artifacts=len(fold.artifacts),
        paused=fold.paused, caps=fold.caps, waits=fold.waits, rules=list(fold.rules), permission_policy=fold.permission_policy,
        tokens=fold.tokens,
        agent_info=fold.agent_info, agent_start=fold.agent_start, last_text=fold.last_text,
        agent_session_id=fold.agent_session_id, watch_only=fold.watches is not None, changes=_changes(fold),
    )


def _changes(fold: Fold) -> Changes:
    files = fold.files.values()
    return Changes(len(files), sum(each.lines_added for each in files), sum(each.lines_removed for each in files))


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Fold)


def checkpoint(fold: Fold) -> bytes:
    """The fold, light enough to be stored with every change that matters."""
    text = fold.text
    if text is not None:
        text = OpenText(text.thinking, text.message_id, text.start_seq, text.agent_message_id, text.size, parent=text.parent)
    calls = {key: _light(call) for key, call in fold.calls.items() if not call.finished}
    return _encoder.encode(msgspec.structs.replace(fold, text=text, calls=calls))


def restore(raw: bytes) -> Fold:
    """The fold as it was at a checkpoint; the open text's parts are empty (they are in the journal)."""
    try:
        return _decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SessionUnreadable(f"a session's stored state cannot be read: {error}") from error


def _light(call: OpenCall) -> OpenCall:
    state = call.state
    light = CallState(
        tool_call_id=state.tool_call_id, title=state.title, name=state.name, kind=state.kind, status=state.status,
        locations=state.locations, raw_input=_small(state.raw_input), raw_output=None, first_title=state.first_title,
        tool=state.tool,
    )
    return msgspec.structs.replace(call, state=light, evidence=None)


def _small(body: bytes | None) -> bytes | None:
    return body if body is not None and len(body) <= LIGHT_BODY else None


def remember(table: dict[str, Any], key: str, value: Any, limit: int) -> None:
    """Put a value into an insertion-ordered table and forget the oldest beyond ``limit``."""
    table[key] = value
    while len(table) > limit:
        del table[next(iter(table))]
