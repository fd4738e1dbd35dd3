"""A session's file of Codex (``rollout-<time>-<id>.jsonl``), line by line, as the signals that the fold takes.

Rule 1: the file says most things twice, for the model (``response_item``) and for people (``event_msg``). Texts, thoughts and
calls are taken from the first, ends of turns from the second; a prompt from whichever has it first.
Rule 2: nothing raises. A line that is no JSON is ``Malformed``; kinds of lines that say nothing to a reader are left out.
Rule 3: what the harness writes in a person's name (its environment, instructions) is no prompt.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from trunkline.dialects.codex.patch import diffs_of_patch
from trunkline.dialects.elsewhere.transcripts import (
    OPEN_MOST,
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
    "exec_command": "execute", "shell": "execute", "shell_command": "execute", "local_shell": "execute",
    "container.exec": "execute", "write_stdin": "execute", "apply_patch": "edit", "view_image": "read", "web_search": "fetch",
    "spawn_agent": "think", "update_plan": "think",
}
PLAN: Final = "update_plan"
PATCH: Final = "apply_patch"
TYPED: Final = "user.text"
"""What the newer files call the part of a message that a person typed."""

_HIDDEN: Final = ("# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<permissions instructions>",
                  "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>")
_TAGGED: Final = re.compile(r"<([a-z_]{3,40})(?: [^>\n]{0,200})?>")
_EXITED: Final = re.compile(r"(?:Process exited with code|Exit code:?) (-?\d{1,9})\b")
_OUTPUT: Final = re.compile(r"^(?:Output:|Final output:)\n", re.MULTILINE)

_encode = msgspec.json.Encoder().encode


def prompt_of(kind: str, payload: Json) -> str:
    """What a person typed in a line of this type; "" for anything else."""
    inner = payload.get("type")
    if kind == "event_msg" and inner == "user_message":
        text = text_of(payload, "message")
    elif kind == "event_msg" and inner == "item_completed":
        item = object_of(payload, "item")
        text = _texts(item) if item.get("type") == "UserMessage" else ""
    elif kind == "response_item" and inner == "message" and payload.get("role") == "user":
        kinds = object_of(payload, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
        text = "" if isinstance(kinds, list) and TYPED not in kinds else _texts(payload)
    else:
        return ""
    return "" if _is_hidden(text) else text


def answer_of(kind: str, payload: Json) -> str:
    """What the agent said in a line of this type; "" for anything else."""
    is_answer = kind == "response_item" and payload.get("type") == "message" and payload.get("role") == "assistant"
    return _texts(payload).strip() if is_answer else ""


class CodexRollout:
    """Reads one session's lines, from the first one on."""

    def __init__(self) -> None:
        self._at = 0
        self._lines = 0
        self._cwd = ""
        self._model = ""
        self._prompt = ""
        """The prompt that was emitted last, until the agent answers: it comes again in the other form."""
        self._calls = OpenCalls()
        self._told: set[str] = set()
        """Calls that have ended by the record for people; the model's copy, which may be cut, comes behind it."""
        self._has_records = False
        """Whether the file has a line of its own for what each answer took."""
        self._total = 0
        self._used = 0

    def line(self, raw: bytes) -> list[Timed]:
        """What a line means, and when."""
        self._lines += 1
        line = read_object(raw)
        if line is None:
            return [(self._at, malformed(raw))]
        self._at = instant(line.get("timestamp")) or self._at
        kind, payload = text_of(line, "type"), object_of(line, "payload")
        return [(self._at, signal) for signal in self._signals_of(kind, payload)]

    def settle(self) -> list[Timed]:
        """Nothing is held back."""
        return []

    def _signals_of(self, kind: str, payload: Json) -> list[Signal]:
        text = prompt_of(kind, payload)
        if text:
            return self._prompted(text, payload)
        match kind:
            case "response_item":
                return self._item(payload)
            case "event_msg":
                return self._event(payload)
            case "session_meta" | "turn_context":
                self._cwd = text_of(payload, "cwd") or self._cwd
                return self._model_note(text_of(payload, "model"))
            case "token_usage_record":
                self._has_records = True
                return self._spent(object_of(payload, "usage"), text_of(payload, "response_id"))
            case "compacted":
                return [CustomNote("compacted", b"{}")]
        return []

    def _prompted(self, text: str, payload: Json) -> list[Signal]:
        if text == self._prompt:
            return []
        self._prompt = text
        message_id = text_of(payload, "id") or text_of(object_of(payload, "item"), "id") or f"line-{self._lines}"
        return prompted([{"type": "text", "text": text}], message_id)

    def _item(self, payload: Json) -> list[Signal]:
        match payload.get("type"):
            case "message":
                return self._said(payload)
            case "reasoning":
                thought = _joined(objects_of(payload, "summary")) or _joined(objects_of(payload, "content"))
                self._prompt = ""
                return [said(thought, self._id_of(payload), "agent_thought_chunk")] if thought else []
            case "function_call" | "custom_tool_call":
                return self._call(text_of(payload, "call_id"), text_of(payload, "name"), _given(payload))
            case "local_shell_call":
                given = object_of(payload, "action")
                return self._call(text_of(payload, "call_id", "id"), "local_shell", given)
            case "web_search_call":
                return self._searched(payload)
            case "function_call_output" | "custom_tool_call_output":
                return self._answered(text_of(payload, "call_id"), payload.get("output"))
        return []

    def _said(self, payload: Json) -> list[Signal]:
        text = _texts(payload)
        if payload.get("role") != "assistant" or not text:
            return []
        self._prompt = ""
        return [said(text, self._id_of(payload))]

    def _id_of(self, payload: Json) -> str:
        return text_of(payload, "id") or f"line-{self._lines}"

    def _call(self, call_id: str, name: str, given: Json) -> list[Signal]:
        self._prompt = ""
        if not call_id or not name:
            return []
        self._calls.begin(call_id, name, given)
        if name == PLAN:
            return [plan(objects_of(given, "plan"), "step")]
        if name == PATCH:
            return [update(self._patch(call_id, text_of(given, "input", "patch")))]
        return [begun(call_id, name, KINDS.get(name, "other"), given, cwd=self._cwd)]

    def _patch(self, call_id: str, patch: str) -> Json:
        diffs = diffs_of_patch(patch, self._cwd)
        places = list(dict.fromkeys(diff["path"] for diff in diffs))
        return {"sessionUpdate": "tool_call", "toolCallId": call_id, "status": "in_progress", "name": PATCH, "kind": "edit",
                "title": f"Edit {', '.join(places)}"[:200] if places else "Apply a patch", "rawInput": {"input": patch},
                "locations": [{"path": path} for path in places], "content": diffs}

    def _searched(self, payload: Json) -> list[Signal]:
        query = text_of(object_of(payload, "action"), "query", "url")
        call_id = self._id_of(payload)
        return [begun(call_id, "web_search", "fetch", {"query": query}, title=query or "Search the web"), ended(call_id, "")]

    def _answered(self, call_id: str, output: Any) -> list[Signal]:
        call = self._calls.end(call_id)
        if not call_id or call_id in self._told or (call is not None and call[0] == PLAN):
            self._told.discard(call_id)
            return []
        return [self._end(call, call_id, *_outcome(output))]

    def _end(self, call: tuple[str, Json] | None, call_id: str, text: str, failed: bool, code: int | None) -> Signal:
        patch = text_of(call[1], "input", "patch") if call is not None and call[0] == PATCH and not failed else ""
        return ended(call_id, text, failed=failed, exit_code=code, diffs=diffs_of_patch(patch, self._cwd))

    def _event(self, payload: Json) -> list[Signal]:
        match payload.get("type"):
            case "task_complete" | "turn_complete":
                self._prompt = ""
                return [TurnEnd(stop="end_turn")]
            case "turn_aborted":
                self._prompt = ""
                return [TurnEnd(stop="cancelled")]
            case "error" | "stream_error":
                return [CustomNote("agent_error", _encode({"message": text_of(payload, "message")[:4096]}))]
            case "token_count":
                return self._counted(object_of(payload, "info"))
            case "item_completed":
                return self._item_ended(object_of(payload, "item"))
            case "thread_settings_applied":
                return self._model_note(text_of(object_of(payload, "thread_settings"), "model"))
            case "thread_name_updated":
                title = text_of(payload, "thread_name")
                return [update({"sessionUpdate": "session_info_update", "title": title})] if title else []
        return []

    def _item_ended(self, item: Json) -> list[Signal]:
        """A command that ran to its end: what it printed, as people saw it, before the model's copy comes."""
        call_id, code = text_of(item, "id"), item.get("exit_code")
        if item.get("type") != "CommandExecution" or call_id not in self._calls or type(code) is not int:
            return []
        call = self._calls.end(call_id)
        if len(self._told) >= OPEN_MOST:
            self._told.clear()
        self._told.add(call_id)
        return [self._end(call, call_id, text_of(item, "aggregated_output"), code != 0, max(-(1 << 31), min(code, 1 << 31)))]

    def _counted(self, info: Json) -> list[Signal]:
        total = count_of(object_of(info, "total_token_usage"), "total_tokens")
        last = object_of(info, "last_token_usage")
        signals: list[Signal] = []
        if not self._has_records and total != self._total:
            signals += self._spent(last, "")
        self._total = total
        used, size = count_of(last, "total_tokens"), count_of(info, "model_context_window")
        if used and size and used != self._used:
            self._used = used
            signals.append(update({"sessionUpdate": "usage_update", "used": used, "size": size}))
        return signals

    def _spent(self, usage: Json, response_id: str) -> list[Signal]:
        read, written = count_of(usage, "cached_input_tokens"), count_of(usage, "cache_write_input_tokens")
        taken = max(0, count_of(usage, "input_tokens") - read - written)  # the count of the input has those of the cache in it
        return spent(response_id or None, taken=taken, given=count_of(usage, "output_tokens"), read=read, written=written)

    def _model_note(self, model: str) -> list[Signal]:
        if not model or model == self._model:
            return []
        self._model = model
        return [AgentNote(ModelUsed(model, provider="openai"))]


def _is_hidden(text: str) -> bool:
    """Whether nobody typed this: what the harness adds is in tags of its own, from the first character to the last."""
    begin = text[:512].lstrip()
    tag = _TAGGED.match(begin)
    return begin.startswith(_HIDDEN) or (tag is not None and text.rstrip().endswith(f"</{tag[1]}>"))


def _texts(message: Json) -> str:
    return _joined(objects_of(message, "content"))


def _joined(parts: list[Json]) -> str:
    return "\n".join(text for part in parts if (text := text_of(part, "text")))


def _given(payload: Json) -> Json:
    """The input of a call: an object as text, or a text that is no object."""
    written = payload.get("arguments")
    if isinstance(written, str):
        return read_object(written.encode("utf-8", "replace")) or ({"arguments": written} if written else {})
    return {"input": text_of(payload, "input")}


def _outcome(output: Any) -> tuple[str, bool, int | None]:
    """What a call answered, whether it failed, and by which code its program ended; as texts of several ages have it."""
    if isinstance(output, list):
        output = _joined([part for part in output if isinstance(part, dict)])
    if isinstance(output, dict):
        return text_of(output, "content"), output.get("success") is False, None
    text = output if isinstance(output, str) else ""
    record = read_object(text.encode("utf-8", "replace")) if text.startswith("{") else None
    if record is not None and isinstance(record.get("output"), str):
        code = object_of(record, "metadata").get("exit_code")
        known = code if type(code) is int and abs(code) < 1 << 31 else None
        return record["output"], bool(known), known
    exited, shown = _EXITED.search(text[:4096]), _OUTPUT.search(text[:4096])
    code = int(exited[1]) if exited else None
    return text[shown.end():] if shown and exited else text, bool(code), code
