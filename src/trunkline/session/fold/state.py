"""The state of one session: one serialisable struct, and its checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.agents.resources import Resources
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import ToolCallLocation
from trunkline.dialects.context.types import EnvironmentContext, EnvironmentModel, PermissionPolicy, TokenUsage
from trunkline.dialects.outside import BROKEN
from trunkline.errors import SessionUnreadable
from trunkline.session.audit.chain import Chain
from trunkline.session.fold.asks import ApprovalView, Decided, QuestionView
from trunkline.session.fold.caps import Caps
from trunkline.session.fold.kept import (
    Account,
    Ahead,
    Artifact,
    Changes,
    CommandAnswer,
    Cost,
    Failure,
    FileTally,
    Pause,
    QueuedPrompt,
    Sandboxed,
    Sent,
    Todo,
    TokenReports,
    Turn,
    Usage,
    Waits,
)
from trunkline.session.fold.open_parts import OpenCall, OpenText, OpenUserMessage
from trunkline.session.fold.tables import Calls, Table
from trunkline.session.policy.decide import Rule

LIGHT_LOCATIONS = 200
"""Places of an open call that go into a checkpoint; rules look at no more of them."""

LIGHT_PLACES = 16 << 10
"""Characters of these together."""

LIGHT_BODY = 4096
"""Bodies of open calls above this many bytes stay out of a checkpoint."""

IS_OPEN: Final = frozenset({"starting", "running", "thinking", "waiting_for_approval", "waiting_for_input", "paused"})
"""Statuses in which something is left to be done after a crash."""

NULL = msgspec.Raw(b"null")
"""JSON that the agent did not send. (``Raw | None`` cannot be decoded: msgspec takes it for "null only".)"""


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
    """What the agent says that the person said; never beside ``text``."""
    calls: dict[str, OpenCall] = msgspec.field(default_factory=dict)
    calls_untracked: bool = False
    """More calls were open in this turn than are followed: what it asks for cannot be kept apart from what nobody looked at."""
    sub_agents: dict[str, str] = msgspec.field(default_factory=dict)
    """Those that go on though the calls which started them are done: their ids, and those calls'."""
    approvals: dict[str, ApprovalView] = msgspec.field(default_factory=dict)
    decided: dict[str, Decided] = msgspec.field(default_factory=dict)
    questions: dict[str, QuestionView] = msgspec.field(default_factory=dict)
    queue: list[QueuedPrompt] = msgspec.field(default_factory=list)
    sent: dict[str, Sent] = msgspec.field(default_factory=dict)
    todos: list[Todo] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    cost: Cost | None = None
    cost_reported: float = 0
    """The agent's own last total, which is subtracted from the next one."""
    other_costs: dict[str, Account] = msgspec.field(default_factory=dict)
    """What was spent in other currencies than the one that is reported now."""
    tokens: TokenUsage | None = None
    token_reports: TokenReports | None = None
    mode: str | None = None
    modes: msgspec.Raw = NULL
    config_options: msgspec.Raw = NULL
    commands_seq: int = 0
    """The entry whose update lists the agent's commands (too large, in some agents, to be carried in every checkpoint)."""
    artifacts: dict[str, Artifact] = msgspec.field(default_factory=dict)
    rules: list[Rule] = msgspec.field(default_factory=list)
    """What people decided for this session or turn; what they decided for good is in the policy file."""
    permission_policy: PermissionPolicy | None = None
    commands: dict[str, CommandAnswer] = msgspec.field(default_factory=dict)
    paused: Pause | None = None
    waits: Waits = msgspec.field(default_factory=Waits)
    caps: Caps | None = None
    resources: Resources = Resources()
    """What the agent may take of the machine, as its session was started; its catalog's own are beneath."""
    worked_us: int = 0
    """Time spent in turns that are over."""
    chain: Chain = msgspec.field(default_factory=Chain)
    """The end of the hash chain over all approvals."""
    agent_info: msgspec.Raw = NULL
    agent_capabilities: msgspec.Raw = NULL
    agent_session_id: str | None = None
    chosen_options: dict[str, str | bool] = msgspec.field(default_factory=dict)
    """The agent's options that somebody set, to be set again when it comes back."""
    start_key: str | None = None
    """The key under which somebody started it, so that the same key again starts no other."""
    start_digest: str | None = None
    """The digest of what was asked for under that key."""
    agent_start: str | None = None
    """How the agent came to its session last: new, resumed, loaded or forked."""
    fork_of: str | None = None
    """The agent's session that this one branched off: while it is still ``agent_session_id``, the branch is not made yet."""
    sandbox: Sandboxed | None = None
    watches: str | None = None
    """The file that this session follows, where somebody else runs the agent: there is nobody here to say anything to."""
    watch_position: int = 0
    """The bytes of that file that are in the journal."""
    line: bool = False
    """Whether a live line to the program is open that runs the agent elsewhere: it takes prompts, and can be interrupted."""
    ahead: Ahead | None = None
    watch_parts: dict[str, int] = msgspec.field(default_factory=dict)
    """The same for the files beside it, by their names: those of sub-agents."""
    mcp_servers: list[msgspec.Raw] = msgspec.field(default_factory=list)
    last_text: str = ""
    failed: Failure | None = None
    """How the last turn broke off, until the next one begins."""
    missed: str | None = None
    """When nobody answered in time what the last turn asked, until the next one begins."""
    thinking_changes: list[int] = msgspec.field(default_factory=list)
    """When the status last changed to or from thinking, to keep such changes to a few a second."""
    messages: int = 0
    """Messages of both sides that were completed."""
    tool_calls: int = 0
    errors: int = 0
    files: dict[str, FileTally] = msgspec.field(default_factory=dict)
    changes: Changes = msgspec.field(default_factory=Changes)
    environment: EnvironmentContext | None = None
    """Where the session runs, as it was last emitted."""
    model: EnvironmentModel | None = None
    last_message: tuple[str, str | None] = ("", None)
    """The newest message of the agent: our id of it and the agent's own."""
    shown: list[str] = msgspec.field(default_factory=list)
    """Capability flags that this very session has shown (``interpret/capability_flags.py``)."""
    asides: list[int] = msgspec.field(default_factory=list)
    """The epochs for which it was said that an owner before has put something aside."""
    plan_mode: bool = False
    plan_call: str | None = None
    """The call whose plan was emitted last."""

    def __post_init__(self) -> None:
        for name in TABLES:
            table = getattr(self, name)
            if not isinstance(table, Table):
                setattr(self, name, Calls(table) if name == "calls" else Table(table))

    def dearest(self) -> Cost | None:
        """The largest of the sums in each currency: a cap is not lifted by reporting the cost in another one."""
        sums = [account.cost for account in self.other_costs.values()] + ([self.cost] if self.cost is not None else [])
        return max(sums, key=lambda cost: cost.amount, default=None)

    def waits_for_person(self) -> bool:
        """Whether somebody has to decide, answer or let it go on before it can."""
        return bool(self.approvals or self.questions or self.paused)

    def agent_questions(self) -> list[str]:
        """The open questions that the agent asked, not the hub itself."""
        return [question_id for question_id, view in self.questions.items() if view.cap is None]

    def asks_of_turn(self) -> tuple[list[str], list[str]]:
        """The open approvals and questions that end with the turn."""
        if not self.approvals and not self.questions:
            return [], []
        asks = [request_id for request_id, view in self.approvals.items() if not view.beyond_turn]
        return asks, [question_id for question_id in self.agent_questions() if not self.questions[question_id].beyond_turn]


TABLES: Final = frozenset({"calls", "sub_agents", "approvals", "decided", "questions", "sent", "other_costs", "artifacts",
                           "commands", "chosen_options", "files", "watch_parts"})
"""The fields that are tables, so that a change in one costs what changed and not what is there."""

_encoder = msgspec.json.Encoder()
_members = decoders.of(dict[str, msgspec.Raw]).decode
_TABLE_KEYS: Final = frozenset(key for name, key in zip(Fold.__struct_fields__, Fold.__struct_encode_fields__, strict=True)
                               if name in TABLES)


def checkpoint(fold: Fold) -> bytes:
    """The fold, light enough to be stored a few times a second."""
    calls = Calls((key, light_call(call)) for key, call in fold.calls.items() if not call.finished)
    return _encoder.encode(msgspec.structs.replace(fold, text=light_text(fold.text), calls=calls))


def restore(raw: bytes, steps: Sequence[bytes] = ()) -> Fold:
    """The fold as it was after these steps behind a checkpoint; the open text's parts are empty (they are in the journal)."""
    try:
        return decoders.decode(with_steps(raw, steps) if steps else raw, Fold)
    except BROKEN as error:
        raise SessionUnreadable(f"a session's stored state cannot be read: {error}") from error


def light_text(text: OpenText | None) -> OpenText | None:
    """The open text without its words, which the journal has, nor their size, which is counted again when they are read."""
    if text is None:
        return None
    return OpenText(text.thinking, text.message_id, text.start_seq, text.agent_message_id, parent=text.parent)


def light_call(call: OpenCall) -> OpenCall:
    """An open call without what it shows and printed."""
    state = call.state
    light = CallState(
        tool_call_id=state.tool_call_id, title=state.title, name=state.name, kind=state.kind, status=state.status,
        locations=_light_places(state.locations), raw_input=_small(state.raw_input), raw_output=None,
        first_title=state.first_title, tool=state.tool, named_by=state.named_by,
    )
    return msgspec.structs.replace(call, state=light, evidence=None)


def _light_places(places: list[ToolCallLocation] | None) -> list[ToolCallLocation] | None:
    """The first places of a call, as many as are light together."""
    if places is None:
        return None
    light: list[ToolCallLocation] = []
    size = 0
    for place in places[:LIGHT_LOCATIONS]:
        size += len(place.path)
        if size > LIGHT_PLACES:
            break
        light.append(place)
    return light


def with_steps(raw: bytes, steps: Sequence[bytes]) -> bytes:
    """A checkpoint, brought up to date by the steps behind it."""
    members = _members(raw)
    tables: dict[str, dict[str, msgspec.Raw]] = {}
    for step in steps:
        for key, value in _members(step).items():
            if key not in _TABLE_KEYS:
                members[key] = value
                continue
            if key not in tables:
                tables[key] = _members(members.get(key, b"{}"))
            _change(tables[key], _members(value))
    return _encoder.encode({**members, **tables})


def _change(table: dict[str, msgspec.Raw], touched: dict[str, msgspec.Raw]) -> None:
    for key, value in touched.items():
        if bytes(value) == b"null":
            table.pop(key, None)
        else:
            table[key] = value


def _small(body: bytes | None) -> bytes | None:
    return body if body is not None and len(body) <= LIGHT_BODY else None
