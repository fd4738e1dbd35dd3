"""A session's file of Qwen Code (``chats/<id>.jsonl``), line by line, as the signals that the fold takes.

Rule 1: lines are told in the order in which they were written; two processes on one session branch the file, and both are told.
Rule 2: an answer without a call is the last of its turn: the line with a call is there before the terminal asks about it.
A call that was not allowed ends it as well, where no other of that answer ran: the program says no more then.
Rule 3: nothing raises. A line that is no JSON is ``Malformed``; what the program writes for itself (snapshots, telemetry) is left
out, and so is what it writes in a person's name.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects.elsewhere.transcripts import (
    OpenCalls,
    Timed,
    count_of,
    instant,
    malformed,
    object_of,
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

PERSON: Final = "real_user"
CANCELLED: Final = ("cancelled", "canceled")
HIDDEN: Final = ("<system-reminder>", "<session_context>", "This is the Qwen Code. We are setting up")

_encode = msgspec.json.Encoder().encode


def prompt_of(line: Json) -> str:
    """What a person typed in this line; "" for anything else."""
    if line.get("type") != "user" or line.get("provenance", PERSON) != PERSON:
        return ""
    text = texts_of(_parts(line))
    return "" if text.lstrip().startswith(HIDDEN) else text


def answer_of(line: Json) -> str:
    """What the agent said in this line; "" for anything else."""
    return texts_of(_parts(line)).strip() if line.get("type") == "assistant" else ""


def tokens_of(line: Json) -> int:
    """What this line's answer took."""
    return count_of(object_of(line, "usageMetadata"), "totalTokenCount") if line.get("type") == "assistant" else 0


class QwenChat:
    """Reads one session's lines, from the first one on."""

    def __init__(self) -> None:
        self._at = 0
        self._cwd = ""
        self._model = ""
        self._calls = OpenCalls()
        self._waits: set[str] = set()
        """Calls of the newest answer that have not ended."""
        self._ran = False
        """Whether one of them ended otherwise than by a no."""

    def line(self, raw: bytes) -> list[Timed]:
        """What a line means, and when."""
        line = read_object(raw)
        if line is None:
            return [(self._at, malformed(raw))]
        self._at = instant(line.get("timestamp")) or self._at
        self._cwd = text_of(line, "cwd") or self._cwd
        return [(self._at, signal) for signal in self._signals_of(line)]

    def settle(self) -> list[Timed]:
        """Nothing is held back."""
        return []

    def _signals_of(self, line: Json) -> list[Signal]:
        match line.get("type"):
            case "user":
                text = prompt_of(line)
                return prompted([{"type": "text", "text": text}], text_of(line, "uuid") or "user") if text else []
            case "assistant":
                return self._answer(line)
            case "tool_result":
                return self._result(line)
            case "system" if line.get("subtype") == "chat_compression":
                return [CustomNote("compacted", b"{}")]
            case "system" if line.get("subtype") in ("api_error", "error"):
                why = text_of(object_of(line, "systemPayload"), "message")[:4096]
                return [CustomNote("agent_error", _encode({"message": why}))]
        return []

    def _answer(self, line: Json) -> list[Signal]:
        message_id, parts = text_of(line, "uuid") or "answer", _parts(line)
        thought, text = texts_of(parts, thoughts=True), texts_of(parts)
        signals = self._model_note(text_of(line, "model"))
        signals += [said(thought, message_id, "agent_thought_chunk")] if thought else []
        signals += [said(text, message_id)] if text else []
        calls = [call for part in parts if isinstance(part, dict) and (call := object_of(part, "functionCall"))]
        self._waits, self._ran = {text_of(call, "id") for call in calls}, False
        for call in calls:
            signals += self._call(call)
        signals += _spent(message_id, object_of(line, "usageMetadata"))
        return signals if calls else [*signals, TurnEnd(stop="end_turn")]

    def _call(self, call: Json) -> list[Signal]:
        call_id, name, given = text_of(call, "id"), text_of(call, "name"), object_of(call, "args")
        if not call_id or not name:
            return []
        self._calls.begin(call_id, name, given)
        return call_begun(call_id, name, given, self._cwd)

    def _result(self, line: Json) -> list[Signal]:
        parts = [part for part in _parts(line) if isinstance(part, dict)]
        record = object_of(line, "toolCallResult")
        response = next((object_of(part, "functionResponse") for part in parts if "functionResponse" in part), {})
        call_id = text_of(record, "callId") or text_of(response, "id")
        name, _ = self._calls.end(call_id) or (text_of(response, "name"), {})
        if not call_id:
            return []
        status, is_known = text_of(record, "status"), call_id in self._waits
        self._waits.discard(call_id)
        self._ran = self._ran or status not in CANCELLED
        is_over = is_known and not self._waits and not self._ran
        ended = call_ended(call_id, name, status, parts, record.get("resultDisplay"))
        return [*ended, TurnEnd(stop="cancelled")] if is_over else ended

    def _model_note(self, model: str) -> list[Signal]:
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model))]


def _parts(line: Json) -> list[Any]:
    parts = object_of(line, "message").get("parts")
    return parts if isinstance(parts, list) else []


def _spent(message_id: str, usage: Json) -> list[Signal]:
    read = count_of(usage, "cachedContentTokenCount")
    return spent(message_id, taken=max(0, count_of(usage, "promptTokenCount") - read), read=read,
                 given=count_of(usage, "candidatesTokenCount") + count_of(usage, "thoughtsTokenCount"))
