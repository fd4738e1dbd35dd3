"""What an agent does that the Agent Client Protocol has no word for: tokens, limits, retries, hooks, sub-agents …

Rule 1: a note that we understand is a struct of this module from the dialect that read it to the interpreter that emits it.
Rule 2: any agent can send one of these by its kind in ``NOTES`` (``NOTE_METHOD``). What it sent is kept beside the struct.
Rule 3: a kind or a body that we do not know is a ``CustomNote``, kept as it is.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN, Whole


class ArgsDelta(msgspec.Struct, frozen=True, rename="camel"):
    """``args_delta``: the next piece of a call's input, as the model writes it."""

    tool_call_id: str
    delta: str


class RateLimited(msgspec.Struct, frozen=True, rename="camel"):
    """``rate_limit``: the provider asks to wait; seconds, and what the limit is on (requests, tokens, a plan's window)."""

    retry_after: float
    limit: str
    message: str | None = None


class Retried(msgspec.Struct, frozen=True, rename="camel"):
    """``retry``: the agent asks its model again."""

    attempt: Whole
    most: Whole | None = None
    delay: float | None = None
    message: str | None = None


class HookRan(msgspec.Struct, frozen=True, rename="camel"):
    """``hook``: a hook of the agent's own settings ran. One that has something to say to people has a ``message``."""

    name: str
    level: Literal["info", "warning", "error", "success"] = "info"
    message: str | None = None


class TokensSpent(msgspec.Struct, frozen=True, rename="camel"):
    """``tokens``: what one answer of the model took, not counted before. ``message_id`` is the agent's own."""

    input: Whole
    output: Whole
    cache_read: Whole | None = None
    cache_write: Whole | None = None
    message_id: str | None = None


class CostSpent(msgspec.Struct, frozen=True, rename="camel"):
    """``cost``: money spent just now, or since the session began where ``is_total``."""

    total: float
    currency: str = "USD"
    input: float = 0
    output: float = 0
    is_total: bool = False


class ModelUsed(msgspec.Struct, frozen=True, rename="camel"):
    """``model``: the agent works with this model from now on."""

    id: str
    display_name: str | None = None
    provider: str | None = None


class Progressed(msgspec.Struct, frozen=True, rename="camel"):
    """``progress``: something moves on."""

    label: str
    current: float | None = None
    total: float | None = None


class SubAgentReport(msgspec.Struct, frozen=True, rename="camel"):
    """``subagent``: a sub-agent began (``task``), moves on (``message``, ``progress`` 0 to 100) or ended (``result``,
    ``failed``). ``background``: the call that started it is about to end, and it goes on."""

    sub_agent_id: str
    state: Literal["spawned", "progress", "background", "completed"]
    parent_tool_call_id: str = ""
    task: str = ""
    model: str | None = None
    message: str = ""
    progress: float | None = None
    result: str = ""
    failed: bool = False
    tokens: TokensSpent | None = None


class SessionIdChanged(msgspec.Struct, frozen=True, rename="camel"):
    """``session_id``: the agent goes on under another id of its own (it forgot the conversation, at the person's word)."""

    session_id: str
    previous: str | None = None


class OwnTurn(msgspec.Struct, frozen=True, rename="camel"):
    """``background_turn``: the agent works though nobody asked it to (a task of its own woke it), or has done so."""

    state: Literal["started", "ended"]
    stop_reason: str | None = None
    error: str | None = None
    origin: str | None = None


class RuledOut(msgspec.Struct, frozen=True, rename="camel"):
    """``ruled_out``: a tool that the agent would have run without asking did not run, since a rule says so."""

    tool_call_id: str
    tool: str
    reason: str


class RedactedThinking(msgspec.Struct, frozen=True):
    """``redacted_thinking``: a thought that the provider does not show."""


NoteBody = (
    ArgsDelta | RateLimited | Retried | HookRan | TokensSpent | CostSpent | ModelUsed | Progressed | SubAgentReport
    | SessionIdChanged | OwnTurn | RuledOut | RedactedThinking
)

NOTES: dict[str, type[NoteBody]] = {
    "args_delta": ArgsDelta, "rate_limit": RateLimited, "retry": Retried, "hook": HookRan, "tokens": TokensSpent,
    "cost": CostSpent, "model": ModelUsed, "progress": Progressed, "subagent": SubAgentReport, "session_id": SessionIdChanged,
    "background_turn": OwnTurn, "ruled_out": RuledOut, "redacted_thinking": RedactedThinking,
}

KINDS: dict[type[NoteBody], str] = {body: kind for kind, body in NOTES.items()}

NOTE_METHOD = "_trunkline/note"
"""The extension notification by which any agent can send a note: ``{kind, data}``."""


class AgentNote(msgspec.Struct, frozen=True):
    """A note that we understand."""

    body: NoteBody
    frame: bytes | None = None
    """The agent's own line, where people may want to see it beside."""
    sent: bytes | None = None
    """The JSON of the note as the agent sent it, which may hold more than the body."""

    @property
    def kind(self) -> str:
        """The name of it on the wire and in events."""
        return KINDS[type(self.body)]

    def to_json(self) -> bytes:
        """All of it, for an event that repeats it."""
        if self.sent is not None:
            return self.sent
        members = {name: value for name, value in msgspec.to_builtins(self.body).items() if value is not None}
        return _encode(members if self.frame is None else {**members, "frame": msgspec.Raw(self.frame)})


class CustomNote(msgspec.Struct, frozen=True):
    """A note that means nothing to us: a kind and JSON, emitted as a ``custom`` event."""

    kind: str
    data: bytes

    def to_json(self) -> bytes:
        """As for a note that we understand."""
        return self.data


class _NoteParams(msgspec.Struct):
    kind: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


_encode = msgspec.json.Encoder().encode


def read_note(kind: str, data: bytes) -> AgentNote | CustomNote:
    """A note by its kind and its JSON."""
    body = NOTES.get(kind)
    if body is None:
        return CustomNote(kind, data)
    try:
        return AgentNote(decoders.decode(data, body), sent=data)
    except BROKEN:
        return CustomNote(kind, data)


def read_note_params(params: bytes) -> AgentNote | CustomNote | None:
    """The note that the params of a ``NOTE_METHOD`` notification are; None where they are none."""
    try:
        sent = decoders.decode(params, _NoteParams)
    except BROKEN:
        return None
    return read_note(sent.kind, bytes(sent.data))
