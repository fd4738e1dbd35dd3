"""A session of goose's, message by message (rows of ``messages``), as the signals that the fold takes.

Rule 1: a row is written once. A conversation that goose has shortened is written anew with the messages that are left: what was
told is not told again.
Rule 2: nothing says that a turn is over. An answer without a call, with nothing behind it, is taken for the last of its turn.
Rule 3: nothing raises. A row whose content is no JSON says nothing.
"""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.dialects.elsewhere.transcripts import (
    Timed,
    begun,
    count_of,
    ended,
    instant,
    object_of,
    objects_of,
    prompted,
    read_object,
    said,
    spent,
    text_of,
)
from trunkline.dialects.notes import AgentNote, ModelUsed
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import Signal, TurnEnd

KINDS: Final[dict[str, str]] = {
    "shell": "execute", "read": "read", "write": "edit", "edit": "edit", "text_editor": "edit", "tree": "search",
    "analyze": "search", "delegate": "think", "todo_write": "think",
}
REMEMBERED: Final = 4_000
"""Messages of which it is kept that they were told."""


class Row(msgspec.Struct, frozen=True):
    """A row as the database has it: its number, when it was made (seconds), both columns of JSON."""

    number: int
    id: str
    role: str
    created: int
    content: bytes
    metadata: bytes = b""


class GooseMessages:
    """Reads one session's rows, in order."""

    def __init__(self) -> None:
        self._told: dict[str, None] = {}
        self._model = ""
        self._end_at = 0
        """When the answer came that may be the last of its turn; 0 without one."""

    def message(self, row: Row) -> list[Timed]:
        """What a row says, and when."""
        metadata = read_object(row.metadata) or {}
        if metadata.get("userVisible") is False or not self._is_news(row.id or str(row.number)):
            return []
        at, parts = instant(row.created * 1000), _parts(row.content)
        if row.role == "user":
            return [(at, signal) for signal in self._sent(row, parts)]
        calls = any(part.get("type") == "toolRequest" for part in parts)
        self._end_at = 0 if calls else at
        told = [signal for part in parts for signal in _answered(row.id, part)]
        return [(at, signal) for signal in (*self._model_note(metadata), *told, *_spent(row.id, metadata))]

    def settle(self) -> list[Timed]:
        """Nothing follows for now: an answer without a call was the last of its turn."""
        at, self._end_at = self._end_at, 0
        return [(at, TurnEnd(stop="end_turn"))] if at else []

    def _sent(self, row: Row, parts: list[Json]) -> list[Signal]:
        results = [_result(part) for part in parts if part.get("type") == "toolResponse"]
        blocks = [{"type": "text", "text": text} for text in _texts(parts)]
        self._end_at = 0
        return [*results, *prompted(blocks, row.id)]

    def _is_news(self, message_id: str) -> bool:
        if message_id in self._told:
            return False
        if len(self._told) >= REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[message_id] = None
        return True

    def _model_note(self, metadata: Json) -> list[Signal]:
        inference = object_of(metadata, "inference")
        model = text_of(inference, "requestedModel")
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model, provider=text_of(inference, "provider") or None))]


def prompt_of(row: Row) -> str:
    """What a person typed in this row; "" for anything else."""
    if row.role != "user" or (read_object(row.metadata) or {}).get("userVisible") is False:
        return ""
    return _text(row)


def answer_of(row: Row) -> str:
    """What the agent said in this row; "" for anything else."""
    return _text(row) if row.role == "assistant" else ""


def _text(row: Row) -> str:
    return "\n".join(_texts(_parts(row.content))).strip()


def _texts(parts: list[Json]) -> list[str]:
    return [text for part in parts if part.get("type") == "text" and (text := text_of(part, "text"))]


def _parts(content: bytes) -> list[Json]:
    try:
        return objects_of({"parts": msgspec.json.decode(content)}, "parts")
    except BROKEN:
        return []


def _answered(message_id: str, part: Json) -> list[Signal]:
    match part.get("type"):
        case "text" if text_of(part, "text"):
            return [said(text_of(part, "text"), message_id)]
        case "thinking" if text_of(part, "thinking"):
            return [said(text_of(part, "thinking"), message_id, "agent_thought_chunk")]
        case "toolRequest" if text_of(part, "id"):
            call = object_of(object_of(part, "toolCall"), "value")
            name = text_of(call, "name") or "tool"
            return [begun(text_of(part, "id"), name, KINDS.get(name, "other"), object_of(call, "arguments"))]
    return []


def _result(part: Json) -> Signal:
    result = object_of(part, "toolResult")
    value = object_of(result, "value")
    text = "\n".join(text for each in objects_of(value, "content") if (text := text_of(each, "text"))) or text_of(result, "error")
    code = object_of(value, "structuredContent").get("exit_code")
    known = code if type(code) is int and abs(code) < 1 << 31 else None
    failed = result.get("status") == "error" or value.get("isError") is True or bool(known)
    return ended(text_of(part, "id"), text, failed=failed, exit_code=known)


def _spent(message_id: str, metadata: Json) -> list[Signal]:
    usage = object_of(metadata, "usage")
    read, taken = count_of(usage, "cacheReadTokens"), count_of(usage, "inputTokens")
    return spent(message_id, taken=max(0, taken - read), read=read, given=count_of(usage, "outputTokens"))
