"""What a driver yields, whatever the agent speaks: a closed union that ``session/interpret`` folds into entries.

Rule 1: every dialect that comes in ends here; nothing after this module knows which agent it was.
Rule 2: a signal is a value. Junk is ``Malformed``, never an exception.
Rule 3: a note of a kind in ``NOTES`` has that body; ``read_note`` reads it. A note of any other kind, or with any other body,
is kept as it is.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.dialects.outside import BROKEN, Whole

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class Update(msgspec.Struct, frozen=True, gc=False):
    """One ``session/update``: the ``params.update`` object as the agent wrote it."""

    raw: bytes


class LargeUpdate(msgspec.Struct, frozen=True, gc=False):
    """An update of over ``acp.LARGE_UPDATE`` bytes: it is told in pieces, or by its beginning. Until then it is where the line
    has it: to copy it is work of its own."""

    raw: msgspec.Raw | bytes


class PermissionOption(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One answer the agent offers; chosen by ``option_id``, never by position."""

    option_id: str
    name: str
    kind: str


class PermissionAsk(msgspec.Struct, frozen=True):
    """The agent waits for a decision. ``request_id`` is the driver's handle; ``tool_call`` an ACP ToolCallUpdate object."""

    request_id: str
    tool_call: bytes
    options: tuple[PermissionOption, ...]
    editable: bool = False
    """Whether the agent takes another input than the one it asked for."""
    beyond_turn: bool = False
    """Something in the background asks: between turns too, and it still waits when a turn has ended."""
    is_act: bool = False
    """The hub itself is to do it for the agent: this is what will be done, whatever was said of it before."""


OTHER_WORDS = "_other"
"""Ends the name of a form's field for an answer in other words than the choices of the field beside it."""


class QuestionAsk(msgspec.Struct, frozen=True):
    """The agent asks a person something. ``schema`` is the form's JSON Schema object, where it sent one."""

    request_id: str
    message: str
    schema: bytes | None = None
    url: str | None = None
    tool_call_id: str | None = None
    beyond_turn: bool = False
    """As for a permission."""


class AskWithdrawn(msgspec.Struct, frozen=True):
    """The agent took a permission ask or question back."""

    request_id: str


class TurnEnd(msgspec.Struct, frozen=True):
    """The agent answered the prompt, by a stop reason or by an error (exactly one of them is set)."""

    stop: StopReason | None = None
    error: AgentFault | None = None
    said: str | None = None
    """The agent's own word for it, where packets have that word and the Agent Client Protocol has not (``stop_sequence``)."""
    usage: bytes | None = None
    """Tokens, as JSON: ``inputTokens``, ``outputTokens``, ``cachedReadTokens``, ``cachedWriteTokens``, ``thoughtTokens``."""
    usage_of_session: bool = False
    """The agent counts from the session's beginning, not from the turn's."""


class AgentFault(msgspec.Struct, frozen=True):
    """An error as the agent told it: JSON-RPC code, text and data."""

    code: Whole
    message: str
    data: bytes | None = None


class Note(msgspec.Struct, frozen=True):
    """What the Agent Client Protocol has no word for (rate limit, retry, hook, extension notification …)."""

    kind: str
    data: bytes


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


class SubAgentTold(msgspec.Struct, frozen=True, rename="camel"):
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


NoteBody = (
    ArgsDelta | RateLimited | Retried | HookRan | TokensSpent | CostSpent | ModelUsed | Progressed | SubAgentTold
    | SessionIdChanged | OwnTurn | RuledOut
)

NOTES: dict[str, type[NoteBody]] = {
    "args_delta": ArgsDelta, "rate_limit": RateLimited, "retry": Retried, "hook": HookRan, "tokens": TokensSpent,
    "cost": CostSpent, "model": ModelUsed, "progress": Progressed, "subagent": SubAgentTold, "session_id": SessionIdChanged,
    "background_turn": OwnTurn, "ruled_out": RuledOut,
}

NOTE_METHOD = "_trunkline/note"
"""The extension notification by which any agent can send a note: ``{kind, data}``."""


class _NoteParams(msgspec.Struct):
    kind: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


def read_note(note: Note) -> NoteBody | None:
    """A note's body, typed; None for a kind or a body that we do not know."""
    body = NOTES.get(note.kind)
    if body is None:
        return None
    try:
        return msgspec.json.decode(note.data, type=body)
    except BROKEN:
        return None


def sent_note(params: bytes) -> Note | None:
    """The note that the params of a ``NOTE_METHOD`` notification are; None where they are none."""
    try:
        sent = msgspec.json.decode(params, type=_NoteParams)
    except BROKEN:
        return None
    return Note(sent.kind, bytes(sent.data))


class Malformed(msgspec.Struct, frozen=True):
    """A line that is not a message; ``line`` is at most 4 KiB of it, ``size`` its true length."""

    line: bytes
    why: str
    size: int


Signal = Update | LargeUpdate | PermissionAsk | QuestionAsk | AskWithdrawn | TurnEnd | Note | Malformed
