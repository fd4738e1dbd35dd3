"""What a driver yields, whatever the agent speaks: a closed union that ``session/interpret`` folds into entries.

Rule 1: every dialect that comes in ends here; nothing after this module knows which agent it was.
Rule 2: a signal is a value. Junk is ``Malformed``, never an exception.
What the Agent Client Protocol has no word for is a note (``dialects/notes.py``).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.outside import Whole

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class Update(msgspec.Struct, frozen=True, gc=False):
    """One ``session/update``: the ``params.update`` object as the agent wrote it."""

    raw: bytes


class LargeUpdate(msgspec.Struct, frozen=True, gc=False):
    """An update of over ``LARGE_UPDATE`` bytes (``acp/reading/large.py``): it is emitted in pieces, or by its beginning. Until
    then it is where the line has it: to copy it is work of its own."""

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
    """The hub itself is to do it for the agent: this is what will be done, whatever was reported of it before."""
    rules_allow: bool = True
    """Whether a rule may allow it; where none may, rules can still deny it."""
    answer_there: bool = False
    """It is asked in a terminal, and takes no answer from here: neither a person's nor a rule's."""
    only_rules: bool = False
    """No person is asked here: what no rule decides is left to whoever is asked elsewhere, and not even written down."""


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
    """The agent took a permission ask or question back, or somebody decided it where the agent asked, too."""

    request_id: str
    by: str = "agent"
    reason: str = "the agent withdrew it"
    approved: bool | None = None
    """How it was decided elsewhere; None where nothing was."""


class TurnEnd(msgspec.Struct, frozen=True):
    """The agent answered the prompt, by a stop reason or by an error (exactly one of them is set)."""

    stop: StopReason | None = None
    error: AgentFault | None = None
    agent_stop: str | None = None
    """The agent's own word for it, where packets have that word and the Agent Client Protocol has not (``stop_sequence``)."""
    usage: bytes | None = None
    """Tokens, as JSON: ``inputTokens``, ``outputTokens``, ``cachedReadTokens``, ``cachedWriteTokens``, ``thoughtTokens``."""
    usage_of_session: bool = False
    """The agent counts from the session's beginning, not from the turn's."""


class AgentFault(msgspec.Struct, frozen=True):
    """An error as the agent reported it: JSON-RPC code, text and data."""

    code: Whole
    message: str
    data: bytes | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A line that is not a message; ``line`` is at most 4 KiB of it, ``size`` its true length."""

    line: bytes
    why: str
    size: int


Signal = Update | LargeUpdate | PermissionAsk | QuestionAsk | AskWithdrawn | TurnEnd | AgentNote | CustomNote | Malformed
