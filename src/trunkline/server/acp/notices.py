"""Entries of the journal that carry no update, as far as they mean something to an editor."""

from __future__ import annotations

import msgspec

from trunkline.dialects.context.filters import encoded_type
from trunkline.journal.base import Entry

HEARD = frozenset({"custom", "approval:requested", "approval:resolved", "interaction:question", "session:status_changed",
                   "session:error", "session:resumed", "tool:error"})

TOLD_OTHERWISE = frozenset({"approval:requested", "interaction:question", "session:resumed", "tool:error"})
"""What a replay tells by itself, or who follows after it is asked."""


class Meta(msgspec.Struct, rename="camel"):
    """Of a turn."""

    turn_id: str = ""
    stop_reason: str = ""
    forgets: bool = False
    """The agent that came back does not know what was said."""


class Error(msgspec.Struct, rename="camel"):
    """Why a turn failed."""

    code: str = "internal"
    message: str = ""
    details: msgspec.Raw = msgspec.Raw(b"null")
    agent_code: str | None = None


class Data(msgspec.Struct, rename="camel"):
    """Of an event of our own."""

    turn_id: str = ""
    question_id: str = ""


class Told(msgspec.Struct, rename="camel"):
    """The parts of an event that mean something to an editor."""

    event_name: str = ""
    namespace: str = ""
    request_id: str = ""
    question_id: str = ""
    tool_call_id: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")
    error: Error | None = None
    meta: Meta = msgspec.field(name="_meta", default_factory=Meta)

    def about(self) -> Data:
        """What an event of our own is about."""
        return _data.decode(self.data)


_told = msgspec.json.Decoder(Told)
_data = msgspec.json.Decoder(Data)


def told_by(entry: Entry) -> Told:
    """What an entry tells."""
    return _told.decode(entry.event)


def ends_turn(entry: Entry, turn_id: str) -> bool:
    """Whether an entry is the end of this turn, or of the prompt that would have been one."""
    kind = encoded_type(entry.event)
    if kind not in ("session:status_changed", "session:error", "custom"):
        return False
    told = told_by(entry)
    if kind == "custom" and told.event_name == "prompt_dropped":
        return told.about().turn_id == turn_id
    return told.meta.turn_id == turn_id and (kind == "session:error" or bool(told.meta.stop_reason))
