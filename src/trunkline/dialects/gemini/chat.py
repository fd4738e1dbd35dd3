"""A session's file of Gemini CLI (``session-<minute>-<id>.jsonl``), line by line, as the signals that the fold takes.

Rule 1: a record is written again when its calls have ended, under the same id: what was told of it is not told again.
Rule 2: nothing says that a turn is over. An answer without a call is taken for the last of its turn once nothing follows it; its
call may still come, while the terminal asks whether it may run.
Rule 3: nothing raises. A line that is no JSON is ``Malformed``; patches of the header say nothing to a reader.
"""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.dialects.elsewhere.transcripts import (
    Timed,
    count_of,
    instant,
    malformed,
    object_of,
    objects_of,
    prompted,
    read_object,
    said,
    spent,
    text_of,
)
from trunkline.dialects.gemini.parts import call_begun, call_ended, texts_of
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, TurnEnd

HIDDEN: Final = ("<session_context>", "<system-reminder>", "<state_snapshot>", "This is the Gemini CLI. We are setting up")
REMEMBERED: Final = 2_000
"""Records and calls of which it is kept that they were told."""

_encode = msgspec.json.Encoder().encode


def prompt_of(record: Json) -> str:
    """What a person typed in this record; "" for anything else."""
    text = texts_of(record.get("content")) if record.get("type") == "user" else ""
    return "" if text.lstrip().startswith(HIDDEN) else text


def answer_of(record: Json) -> str:
    """What the agent said in this record; "" for anything else."""
    return texts_of(record.get("content")).strip() if record.get("type") == "gemini" else ""


class GeminiChat:
    """Reads one session's lines, from the first one on."""

    def __init__(self) -> None:
        self._at = 0
        self._model = ""
        self._told: dict[str, None] = {}
        self._end_at = 0
        """When the answer came that may be the last of its turn; 0 without one."""

    def line(self, raw: bytes) -> list[Timed]:
        """What a line means, and when."""
        line = read_object(raw)
        if line is None:
            return [(self._at, malformed(raw))]
        if "$rewindTo" in line:
            return [(self._at, CustomNote("rewound", _encode({"to": text_of(line, "$rewindTo")})))]
        patch = object_of(line, "$set")
        records = objects_of(patch, "messages") if patch else [line]
        return [timed for record in records for timed in self._record(record)]

    def settle(self) -> list[Timed]:
        """Nothing follows for now: an answer without a call was the last of its turn."""
        at, self._end_at = self._end_at, 0
        return [(at, TurnEnd(stop="end_turn"))] if at else []

    def _record(self, record: Json) -> list[Timed]:
        record_id = text_of(record, "id")
        if not record_id:
            return []
        at = self._at = instant(record.get("timestamp")) or self._at
        match record.get("type"):
            case "user":
                text = prompt_of(record)
                if not text or not self._is_news(record_id):
                    return []
                self._end_at = 0
                return [(at, signal) for signal in prompted([{"type": "text", "text": text}], record_id)]
            case "gemini":
                return self._answer(at, record_id, record)
            case "error" if self._is_news(record_id):
                return [(at, CustomNote("agent_error", _encode({"message": texts_of(record.get("content"))[:4096]})))]
        return []

    def _answer(self, at: int, record_id: str, record: Json) -> list[Timed]:
        told: list[Signal] = []
        if self._is_news(record_id):
            told += self._model_note(text_of(record, "model"))
            told += [said(thought, record_id, "agent_thought_chunk") for each in objects_of(record, "thoughts")
                     if (thought := "\n".join(filter(None, (text_of(each, "subject"), text_of(each, "description")))))]
            text = texts_of(record.get("content"))
            told += [said(text, record_id)] if text else []
            told += _spent(record_id, object_of(record, "tokens"))
        calls = objects_of(record, "toolCalls")
        self._end_at = 0 if calls else at
        return [(at, signal) for signal in told] + [timed for call in calls for timed in self._call(call)]

    def _call(self, call: Json) -> list[Timed]:
        call_id, name = text_of(call, "id"), text_of(call, "name")
        if not call_id or not name or not self._is_news(call_id):
            return []
        at = instant(call.get("timestamp")) or self._at
        signals = call_begun(call_id, name, object_of(call, "args"), "")
        signals += call_ended(call_id, name, text_of(call, "status"), objects_of(call, "result"), call.get("resultDisplay"))
        return [(at, signal) for signal in signals]

    def _is_news(self, item_id: str) -> bool:
        if item_id in self._told:
            return False
        if len(self._told) >= REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[item_id] = None
        return True

    def _model_note(self, model: str) -> list[Signal]:
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model, provider="google"))]


def _spent(record_id: str, tokens: Json) -> list[Signal]:
    read = count_of(tokens, "cached")
    return spent(record_id, taken=max(0, count_of(tokens, "input") - read), read=read,
                 given=count_of(tokens, "output") + count_of(tokens, "thoughts"))
