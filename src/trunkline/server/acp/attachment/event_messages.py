"""Entries of the journal that carry no update, as far as they mean something to an editor.

Rule: everything that an editor gets of a turn comes from the journal, in its order: updates, asks, the answer to the prompt. So
the answer is never before the last update, and two editors never disagree.
"""

from __future__ import annotations

import msgspec

from trunkline import decoders
from trunkline.dialects.context.filters import encoded_type
from trunkline.journal.base import Entry
from trunkline.server.acp.attachment.asks import EditorAsks
from trunkline.server.acp.attachment.prompts import OpenPrompts
from trunkline.server.acp.attachment.updates import UpdateView
from trunkline.server.acp.attachment.usage import TOKENS, TurnTokens
from trunkline.server.acp.faults import written_fault

MEANINGFUL = frozenset({"custom", "approval:requested", "approval:resolved", "interaction:question", "session:status_changed",
                        "session:error", "session:resumed", "tool:error"})

NOT_OWED = frozenset({"approval:requested", "interaction:question", "session:resumed", "tool:error"})
"""What a replay shows by itself, or who follows after it is asked."""

_encode = msgspec.json.Encoder().encode


class TurnMeta(msgspec.Struct, rename="camel"):
    """Of a turn."""

    turn_id: str = ""
    stop_reason: str = ""
    forgets: bool = False
    """The agent that came back does not know what was before."""


class TurnError(msgspec.Struct, rename="camel"):
    """Why a turn failed."""

    code: str = "internal"
    message: str = ""
    details: msgspec.Raw = msgspec.Raw(b"null")
    agent_code: str | None = None


class OwnData(msgspec.Struct, rename="camel"):
    """Of an event of our own."""

    turn_id: str = ""
    question_id: str = ""


class EditorEvent(msgspec.Struct, rename="camel"):
    """The parts of an event that mean something to an editor."""

    event_name: str = ""
    namespace: str = ""
    request_id: str = ""
    question_id: str = ""
    tool_call_id: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")
    error: TurnError | None = None
    meta: TurnMeta = msgspec.field(name="_meta", default_factory=TurnMeta)

    def about(self) -> OwnData:
        """What an event of our own is about."""
        return _data.decode(self.data)


_event = decoders.of(EditorEvent)
_data = decoders.of(OwnData)


def ends_turn(entry: Entry, turn_id: str) -> bool:
    """Whether an entry is the end of this turn, or of the prompt that would have been one."""
    kind = encoded_type(entry.event)
    if kind not in ("session:status_changed", "session:error", "custom"):
        return False
    event = _event.decode(entry.event)
    if kind == "custom" and event.event_name == "prompt_dropped":
        return event.about().turn_id == turn_id
    return event.meta.turn_id == turn_id and (kind == "session:error" or bool(event.meta.stop_reason))


def puts_ask(entry: Entry) -> bool:
    """Whether an entry asks people something. An editor is asked only when no rule has answered, and the session looks that up
    next."""
    return entry.update is None and encoded_type(entry.event) in ("approval:requested", "interaction:question")


class EventMessages:
    """The messages that entries become, for one editor in one session."""

    def __init__(self, view: UpdateView, asks: EditorAsks, prompts: OpenPrompts) -> None:
        self._view = view
        self._asks = asks
        self._prompts = prompts
        self._tokens = TurnTokens()

    def live(self, entry: Entry) -> list[bytes]:
        """Of an entry that comes now."""
        if entry.update is not None and (line := self._view.text_line(entry.update)) is not None:
            return [line]
        if encoded_type(entry.event) == TOKENS:
            self._tokens.add(entry)
        return self._view.lines(entry, live=True) if entry.update is not None else self.event(entry)

    def history(self, entry: Entry) -> list[bytes]:
        """Of an entry that the editor is shown as what was."""
        if entry.update is not None:
            return self._view.lines(entry, live=False)
        if encoded_type(entry.event) == "tool:error":
            return self._view.failed(_event.decode(entry.event).tool_call_id)
        return []

    def owed(self, entry: Entry) -> list[bytes]:
        """What an entry of history means to an editor that waits: ends of its prompts, and of what it was asked."""
        if entry.update is not None or encoded_type(entry.event) in NOT_OWED:
            return []
        return self.event(entry)

    def event(self, entry: Entry) -> list[bytes]:
        """Of an entry without an update."""
        kind = encoded_type(entry.event)
        if kind not in MEANINGFUL:
            return []
        event = _event.decode(entry.event)
        match kind:
            case "custom":
                return self._custom(event, entry.seq) if event.namespace == "trunkline" else []
            case "approval:requested":
                return self._asks.permission(event.request_id)
            case "approval:resolved":
                return self._asks.settled(event.request_id)
            case "interaction:question":
                return self._asks.question(event.question_id)
            case "tool:error":
                return self._view.failed(event.tool_call_id)
            case "session:resumed":
                return self._view.started_over() if event.meta.forgets else []
            case "session:error":
                return self._turn_failed(event, entry.seq)
            case _:
                return self._turn_ended(event.meta, entry.seq)

    def _custom(self, event: EditorEvent, seq: int) -> list[bytes]:
        match event.event_name:
            case "turn_started":
                self._tokens.begin()
                self._view.own_turn = self._prompts.has_turn(event.meta.turn_id)
            case "turn_ended":  # of a session that is held: its status does not change
                return self._turn_ended(event.meta, seq)
            case "prompt_dropped":
                return self._prompts.on_drop(event.about().turn_id, seq)
            case "question_resolved":
                return self._asks.settled(event.about().question_id)
        return []

    def _turn_ended(self, meta: TurnMeta, seq: int) -> list[bytes]:
        if not meta.stop_reason:
            return []
        self._view.own_turn = False
        usage = self._tokens.usage()
        answer = _encode({"stopReason": meta.stop_reason, **({"usage": usage} if usage is not None else {})})
        return self._prompts.on_turn_end(meta.turn_id, seq, answer)

    def _turn_failed(self, event: EditorEvent, seq: int) -> list[bytes]:
        error = event.error
        if not event.meta.turn_id or error is None:
            return []
        self._view.own_turn = False
        fault = written_fault(error.code, error.message, msgspec.json.decode(error.details), error.agent_code)
        return self._prompts.on_turn_failure(event.meta.turn_id, seq, fault)
