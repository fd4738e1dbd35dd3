"""A session of OpenCode's, row by row (``message``, ``part``), as the signals that the fold takes.

Rule 1: rows are written anew as their part goes on. Each is told as far as it has come and was not told yet: a text when it is
whole, a call when it begins and when it ends, a turn when its last message is complete.
Rule 2: nothing raises. A row whose data is no JSON says nothing; it may be whole the next time.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects.elsewhere.transcripts import (
    Timed,
    begun,
    count_of,
    ended,
    instant,
    object_of,
    objects_of,
    plan,
    prompted,
    read_object,
    said,
    spent,
    text_of,
)
from trunkline.dialects.notes import AgentNote, CostSpent, CustomNote, ModelUsed
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, StopReason, TurnEnd

KINDS: Final[dict[str, str]] = {
    "bash": "execute", "read": "read", "write": "edit", "edit": "edit", "multiedit": "edit", "apply_patch": "edit",
    "patch": "edit", "glob": "search", "grep": "search", "list": "search", "webfetch": "fetch", "websearch": "fetch",
    "codesearch": "fetch", "task": "think", "todowrite": "think", "todoread": "think",
}
TODOS: Final = ("todowrite", "todoread")
ENDS: Final[dict[str, StopReason]] = {"stop": "end_turn", "length": "max_tokens", "content-filter": "refusal"}
REMEMBERED: Final = 4_000
"""Rows of which it is kept how far they were told; older ones do not change any more."""

NOTHING, BEGUN, TOLD = 0, 1, 2

_encode = msgspec.json.Encoder().encode


class Row(msgspec.Struct, frozen=True):
    """A row as the database has it: times in milliseconds, ``data`` as JSON."""

    id: str
    created: int
    updated: int
    data: bytes


class OpencodeRows:
    """Reads one session's rows."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}
        self._model = ""

    def message(self, row: Row, parts: list[Row], *, may_end: bool = True) -> list[Timed]:
        """What a message and these of its parts say that was not told yet, in order."""
        data = read_object(row.data)
        if data is None:
            return []
        at = instant(row.created)
        told = [(at, signal) for signal in self._model_note(data)]
        blocks: list[Json] = []
        for part in parts:
            fields = read_object(part.data)
            if fields is None:
                continue
            if data.get("role") == "user":
                blocks += self._sent(part, fields)
            else:
                told += self._part(part, fields, is_over=_is_over(data))
        told += [(at, signal) for signal in prompted(blocks, row.id)]
        return told + self._end(row, data) if may_end else told

    def _sent(self, part: Row, fields: Json) -> list[Json]:
        """What a person sent, as a content block."""
        block = _block(fields)
        if block is None or not self._goes_on(part.id, TOLD):
            return []
        return [block]

    def _part(self, part: Row, fields: Json, is_over: bool) -> list[Timed]:
        time = object_of(fields, "time")
        at = instant(time.get("start")) or instant(part.created)
        match fields.get("type"):
            case "text" | "reasoning" as kind:
                return self._text(part.id, at, kind, text_of(fields, "text"), is_over or bool(time.get("end")))
            case "tool":
                return self._call(part, fields)
            case "step-finish" if self._goes_on(part.id, TOLD):
                return [(instant(part.created), signal) for signal in _spent(part.id, fields)]
            case "compaction" | "retry" as kind if self._goes_on(part.id, TOLD):
                return [(at, CustomNote(kind, _encode({"id": part.id})))]
        return []

    def _text(self, part_id: str, at: int, kind: str, text: str, whole: bool) -> list[Timed]:
        if not text or not whole or not self._goes_on(part_id, TOLD):
            return []
        return [(at, said(text, part_id, "agent_message_chunk" if kind == "text" else "agent_thought_chunk"))]

    def _call(self, part: Row, fields: Json) -> list[Timed]:
        state, name = object_of(fields, "state"), text_of(fields, "tool") or "tool"
        call_id, given, status = text_of(fields, "callID") or part.id, object_of(state, "input"), state.get("status")
        time = object_of(state, "time")
        told: list[Timed] = []
        if status in ("running", "completed", "error") and self._goes_on(part.id, BEGUN):
            begin = plan(objects_of(given, "todos"), "content") if name in TODOS else begun(
                call_id, name, KINDS.get(name, "other"), given, title=text_of(state, "title") if name != "bash" else "")
            if name not in TODOS or given.get("todos"):
                told.append((instant(time.get("start")) or instant(part.created), begin))
        if status in ("completed", "error") and self._goes_on(part.id, TOLD) and name not in TODOS:
            told.append((instant(time.get("end")) or instant(part.updated), _ended(call_id, name, given, state)))
        return told

    def _end(self, row: Row, data: Json) -> list[Timed]:
        completed = instant(object_of(data, "time").get("completed"))
        error = object_of(data, "error")
        if data.get("role") != "assistant" or not (completed or error):
            return []
        finish = text_of(data, "finish")
        if (finish in ("tool-calls", "") and not error) or not self._goes_on(row.id, TOLD):
            return []
        at = completed or instant(row.updated)
        if not error:
            return [(at, TurnEnd(stop=ENDS.get(finish, "end_turn")))]
        if text_of(error, "name") == "MessageAbortedError":
            return [(at, TurnEnd(stop="cancelled"))]
        why = text_of(object_of(error, "data"), "message") or text_of(error, "name")
        return [(at, CustomNote("agent_error", _encode({"message": why[:4096]}))), (at, TurnEnd(stop="end_turn"))]

    def _goes_on(self, row_id: str, to: int) -> bool:
        """Whether a row was not told so far yet; from here on it was."""
        if self._told.get(row_id, NOTHING) >= to:
            return False
        if len(self._told) >= REMEMBERED:
            self._told.pop(next(iter(self._told)))
        self._told[row_id] = to
        return True

    def _model_note(self, data: Json) -> list[Signal]:
        model, provider = text_of(data, "modelID"), text_of(data, "providerID")
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model, provider=provider or None))]


def answer_of(fields: Json) -> str:
    """The text of a part that is one."""
    return text_of(fields, "text").strip() if fields.get("type") == "text" else ""


def _is_over(data: Json) -> bool:
    return bool(object_of(data, "time").get("completed")) or bool(data.get("error"))


def _block(fields: Json) -> Json | None:
    """What a person sent; what the program added to it for the model is nothing."""
    if fields.get("synthetic") is True or fields.get("ignored") is True:
        return None
    match fields.get("type"):
        case "text" if text_of(fields, "text"):
            return {"type": "text", "text": text_of(fields, "text")}
        case "file":
            return _file(text_of(fields, "mime"), text_of(fields, "url"), text_of(fields, "filename"))
    return None


def _file(mime: str, url: str, name: str) -> Json | None:
    head, comma, data = url.partition(",")
    if comma and mime.startswith("image/") and head.startswith("data:") and head.endswith(";base64"):
        return {"type": "image", "data": data, "mimeType": mime}
    if not url or url.startswith("data:"):
        return {"type": "text", "text": f"[{name}]"} if name else None
    return {"type": "resource_link", "uri": url, "name": name or url}


def _spent(part_id: str, fields: Json) -> list[Signal]:
    tokens = object_of(fields, "tokens")
    cache = object_of(tokens, "cache")
    signals = spent(part_id, taken=count_of(tokens, "input"), given=count_of(tokens, "output") + count_of(tokens, "reasoning"),
                    read=count_of(cache, "read"), written=count_of(cache, "write"))
    cost: Any = fields.get("cost")
    if type(cost) in (int, float) and 0 < cost < 1e9:
        signals.append(AgentNote(CostSpent(total=float(cost))))
    return signals


def _ended(call_id: str, name: str, given: Json, state: Json) -> Signal:
    failed = state.get("status") == "error"
    code = object_of(state, "metadata").get("exit") if name == "bash" else None
    known = code if type(code) is int and abs(code) < 1 << 31 else None
    text = text_of(state, "error") if failed else text_of(state, "output")
    return ended(call_id, text, failed=failed or bool(known), exit_code=known)
