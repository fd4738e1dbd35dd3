"""Frames as the CLI writes them, for tests that need one of a kind; and signals as they are looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.tooling.claude_runs import encoded, translator
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.signals import Signal, TurnEnd, Update

SESSION = "11111111-2222-4333-8444-555555555555"

Json = dict[str, Any]


def frame(kind: str, **fields: Any) -> bytes:
    """Any frame."""
    return encoded({"type": kind, "session_id": SESSION, "uuid": "u", **fields})


def system(subtype: str, **fields: Any) -> bytes:
    return frame("system", subtype=subtype, **fields)


def init(**fields: Any) -> bytes:
    return system("init", **{"model": "claude-x", "permissionMode": "default", **fields})


def event(kind: str, parent: str | None = None, **fields: Any) -> bytes:
    return frame("stream_event", event={"type": kind, **fields}, parent_tool_use_id=parent)


def begin(message_id: str, parent: str | None = None) -> bytes:
    return event("message_start", parent, message={"id": message_id, "model": "claude-x", "content": []})


def block(index: int, kind: str = "text", parent: str | None = None, **fields: Any) -> bytes:
    return event("content_block_start", parent, index=index, content_block={"type": kind, **fields})


def say(index: int, text: str, parent: str | None = None) -> bytes:
    return event("content_block_delta", parent, index=index, delta={"type": "text_delta", "text": text})


def think(index: int, text: str) -> bytes:
    return event("content_block_delta", index=index, delta={"type": "thinking_delta", "thinking": text})


def write(index: int, piece: str) -> bytes:
    return event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})


def stop(parent: str | None = None, **usage: int) -> list[bytes]:
    return [event("message_delta", parent, delta={}, usage=usage), event("message_stop", parent)]


def whole(message_id: str, *blocks: Json, parent: str | None = None, model: str = "claude-x", **more: Any) -> bytes:
    message = {"id": message_id, "model": model, "content": list(blocks)}
    return frame("assistant", message=message, parent_tool_use_id=parent, **more)


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def use(call_id: str, name: str, **given: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def answer(call_id: str, content: Any, record: Any = None, *, failed: bool = False, parent: str | None = None) -> bytes:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}
    more = {} if record is None else {"tool_use_result": record}
    return frame("user", message={"role": "user", "content": [result]}, parent_tool_use_id=parent, **more)


def spoken(content: Any, **more: Any) -> bytes:
    return frame("user", message={"role": "user", "content": content}, parent_tool_use_id=None, **more)


def result(**fields: Any) -> bytes:
    return frame("result", **{"subtype": "success", "is_error": False, **fields})


def ask(cli_id: str, tool: str, call_id: str = "c1", **more: Any) -> bytes:
    given = more.pop("input", {})
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": call_id, **more}
    return frame("control_request", request_id=cli_id, request=request)


def answered(line: bytes | None) -> Json:
    """What a line answers to the ask ``q1``."""
    assert line is not None and line.endswith(b"\n")
    response = json.loads(line)["response"]
    assert (json.loads(line)["type"], response["subtype"], response["request_id"]) == ("control_response", "success", "q1")
    body: Json = response["response"]
    return body


def hear(translate: Translator, *lines: bytes | Sequence[bytes]) -> list[Signal]:
    """What these lines mean, in their order."""
    flat = [each for line in lines for each in ([line] if isinstance(line, bytes) else line)]
    return [signal for line in flat for signal in translate.receive(line)]


def updates(signals: Sequence[Signal], kind: str = "") -> list[Json]:
    found = [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]
    return [update for update in found if update["sessionUpdate"].startswith(kind)]


def notes(signals: Sequence[Signal], kind: str) -> list[Json]:
    return [json.loads(signal.to_json()) for signal in signals
            if isinstance(signal, AgentNote | CustomNote) and signal.kind == kind]


def said(signals: Sequence[Signal]) -> str:
    """All that the agent said to people."""
    return "".join(update["content"]["text"] for update in updates(signals, "agent_message_chunk"))


def prompted(uuid: str | None = None) -> Translator:
    """A translator that has sent a prompt."""
    translate = translator()
    translate.prompted(uuid)
    return translate


def ends(signals: Sequence[Signal]) -> list[str | None]:
    """How turns ended."""
    return [signal.stop for signal in signals if isinstance(signal, TurnEnd)]
