"""A session's file of Copilot CLI (``events.jsonl``), line by line, as the signals that the fold takes.

Rule 1: what it calls a turn is one answer of the model. Ours is over when an answer that asks for no tool has ended.
Rule 2: the file has the terminal's permission prompts. Nobody can answer them here, so they are told as notes, not as asks; one
that still waits when all is read is a notice. Where a hook decided, prompt and answer are written at once, and nobody waited. A
tool that asks the person itself waits as long as it runs.
Rule 3: nothing raises. A line that is no JSON is ``Malformed``; kinds of lines that say nothing to a reader are left out.
"""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.dialects.elsewhere.transcripts import (
    OpenCalls,
    Timed,
    begun,
    count_of,
    ended,
    instant,
    malformed,
    object_of,
    objects_of,
    plan,
    prompted,
    read_object,
    said,
    spent,
    text_of,
    update,
)
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, TurnEnd

KINDS: Final[dict[str, str]] = {
    "bash": "execute", "powershell": "execute", "read_bash": "execute", "write_bash": "execute", "stop_bash": "execute",
    "view": "read", "create": "edit", "edit": "edit", "str_replace_editor": "edit", "apply_patch": "edit", "grep": "search",
    "rg": "search", "glob": "search", "web_fetch": "fetch", "web_search": "fetch", "task": "think", "update_todo": "think",
}
TODOS: Final = "update_todo"
ASKING: Final = ("ask_user", "exit_plan_mode")
"""Tools that ask the person: no hook is called for them."""
_TEXT_MOST: Final = 4096
NOTICE_MOST: Final = 1000
PROMPTS_MOST: Final = 100

_encode = msgspec.json.Encoder().encode


def prompt_of(line: Json) -> str:
    """What a person typed in this line; "" for anything else."""
    return text_of(object_of(line, "data"), "content") if line.get("type") == "user.message" else ""


def answer_of(line: Json) -> str:
    """What the agent said in this line; "" for anything else."""
    return text_of(object_of(line, "data"), "content").strip() if line.get("type") == "assistant.message" else ""


def model_of(line: Json) -> str:
    """The model that this line says is used from now on; "" for anything else."""
    if line.get("type") not in ("session.start", "session.model_change"):
        return ""
    return text_of(object_of(line, "data"), "newModel", "selectedModel")


def tokens_of(line: Json) -> int:
    """What the answer took that this line counts."""
    usage = object_of(object_of(line, "data"), "usage") if line.get("type") == "session.usage_record" else {}
    return count_of(usage, "inputTokens") + count_of(usage, "outputTokens")


class CopilotEvents:
    """Reads one session's lines, from the first one on."""

    def __init__(self) -> None:
        self._at = 0
        self._cwd = ""
        self._model = ""
        self._calls = OpenCalls()
        self._is_last = False
        """Whether the newest answer asks for no tool."""
        self._prompts: dict[str, Json] = {}
        """The terminal's prompts that nobody was told of yet, by their ids."""

    def line(self, raw: bytes) -> list[Timed]:
        """What a line means, and when."""
        line = read_object(raw)
        if line is None:
            return [(self._at, malformed(raw))]
        self._at = instant(line.get("timestamp")) or self._at
        return [(self._at, signal) for signal in self._signals_of(line, object_of(line, "data"))]

    def settle(self) -> list[Timed]:
        """Tell of prompts that nobody has answered by now."""
        waiting, self._prompts = list(self._prompts.values()), {}
        return [(self._at, _waits(ask)) for ask in waiting]

    def _signals_of(self, line: Json, data: Json) -> list[Signal]:
        match line.get("type"):
            case "session.start" | "session.model_change":
                self._cwd = text_of(object_of(data, "context"), "cwd") or self._cwd
                return self._model_note(model_of(line))
            case "user.message" if prompt_of(line):
                self._is_last = False
                message_id = text_of(data, "messageId") or text_of(line, "id") or "user"
                return prompted([{"type": "text", "text": prompt_of(line)}], message_id)
            case "assistant.message":
                return self._said(line, data)
            case "assistant.turn_end" | "abort" as kind:
                return self._turn_end(aborted=kind == "abort")
            case "tool.execution_start":
                return self._call(text_of(data, "toolCallId"), text_of(data, "toolName"), object_of(data, "arguments"))
            case "tool.execution_complete":
                return self._result(text_of(data, "toolCallId"), data)
            case "session.usage_record":
                return _spent(object_of(data, "usage"))
            case "permission.requested" | "permission.completed" as kind:
                return self._permission(kind, data)
            case "session.error":
                return [CustomNote("agent_error", _encode({"message": text_of(data, "message")[:_TEXT_MOST]}))]
            case "session.compaction_complete":
                return [CustomNote("compacted", b"{}")]
        return []

    def _said(self, line: Json, data: Json) -> list[Signal]:
        message_id = text_of(data, "messageId") or text_of(line, "id") or "answer"
        thought, text = text_of(data, "reasoningText"), text_of(data, "content")
        self._is_last = not objects_of(data, "toolRequests")
        signals: list[Signal] = [said(thought, message_id, "agent_thought_chunk")] if thought else []
        return [*signals, said(text, message_id)] if text else signals

    def _turn_end(self, *, aborted: bool) -> list[Signal]:
        is_last, self._is_last = self._is_last or aborted, False
        return [TurnEnd(stop="cancelled" if aborted else "end_turn")] if is_last else []

    def _call(self, call_id: str, name: str, given: Json) -> list[Signal]:
        if not call_id or not name:
            return []
        self._calls.begin(call_id, name, given)
        if name in ASKING and len(self._prompts) < PROMPTS_MOST:
            self._prompts[call_id] = {"intention": text_of(given, "question", "message", "summary") or name}
        if name == TODOS:
            return [plan(objects_of(given, "todos"), "content", "title")]
        return [begun(call_id, name, KINDS.get(name, "other"), given, cwd=self._cwd)]

    def _result(self, call_id: str, data: Json) -> list[Signal]:
        name, _ = self._calls.end(call_id) or ("", {})
        if name in ASKING:
            self._prompts.pop(call_id, None)
        if not call_id or name == TODOS:
            return []
        code = object_of(data, "shellExecution").get("exitCode")
        known = code if type(code) is int and abs(code) < 1 << 31 else None
        text = text_of(object_of(data, "error"), "message") or text_of(object_of(data, "result"), "content")
        return [ended(call_id, text, failed=data.get("success") is False or bool(known), exit_code=known)]

    def _permission(self, kind: str, data: Json) -> list[Signal]:
        """That the terminal asks, or was answered."""
        request_id, ask = text_of(data, "requestId"), object_of(data, "permissionRequest")
        if kind == "permission.requested" and len(self._prompts) < PROMPTS_MOST:
            self._prompts[request_id] = ask
        else:
            self._prompts.pop(request_id, None)
        told = {"requestId": request_id, "toolCallId": text_of(ask, "toolCallId"), "kind": text_of(ask, "kind"),
                "command": text_of(ask, "fullCommandText")[:_TEXT_MOST], "outcome": text_of(object_of(data, "result"), "kind")}
        return [CustomNote(kind.replace(".", "_"), _encode({name: text for name, text in told.items() if text}))]

    def _model_note(self, model: str) -> list[Signal]:
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model))]


def _spent(usage: Json) -> list[Signal]:
    read, written = count_of(usage, "cacheReadTokens"), count_of(usage, "cacheWriteTokens")
    return spent(text_of(usage, "apiCallId") or None, taken=max(0, count_of(usage, "inputTokens") - read - written),
                 given=count_of(usage, "outputTokens"), read=read, written=written)


def _waits(ask: Json) -> Signal:
    about = text_of(ask, "fullCommandText", "fileName", "path", "url", "toolName", "intention", "kind")
    return update({"sessionUpdate": "notice", "severity": "warning", "title": "Copilot CLI waits for you in its terminal",
                   "description": about[:NOTICE_MOST]})
