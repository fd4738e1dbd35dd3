"""How a call ended: what the model was sent and the CLI's record of it, as an update of the Agent Client Protocol.

Rule 1: ``answer`` is the text or the blocks of the tool's result; ``record`` is what the CLI kept beside it
(``tool_use_result``): an object that differs from tool to tool, a text after a failure, nothing in old builds and for sub-agents.
Rule 2: an exit code is given where the CLI reported it. A command that went to the background has none yet.
Rule 3: a text goes over the wire once where it is long: it is shown, and not in ``rawOutput`` again.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trunkline.dialects.claude.calls.patches import changed_lines, done_changes
from trunkline.dialects.claude.calls.tools import planned_change
from trunkline.dialects.outside import Json

COMMANDS: Final = ("Bash", "PowerShell")
SUB_AGENTS: Final = ("Task", "Agent")
RAW_CHARS: Final = 64 << 10
"""Characters of a text up to which it is in ``rawOutput`` too."""

REMINDER: Final = "<system-reminder>"
IN_BACKGROUND: Final = "The task runs in the background."
_HARNESS: Final = "<tools-used-before-summary>"
_EXIT = re.compile(r"\A(?:Error: )?Exit code (\d{1,5})\b")
_TOOL_ERROR = re.compile(r"\A<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)


def ended(call_id: str, name: str, given: Json, answer: Any, record: Any, failed: bool) -> Json:
    """A ``tool_call_update`` for a call that ended."""
    text = result_text(answer)
    update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed" if failed else "completed"}
    kept = record if isinstance(record, dict) else {}
    diffs = [] if failed else _changes(name, given, kept)
    update["content"] = diffs or _reported(name, kept) or _blocks(answer)
    output = _command_output(text, kept, failed) if name in COMMANDS else _output(text, kept, shown=not diffs)
    if output is not None:
        update["rawOutput"] = output
    lines = changed_lines(kept) if diffs else []
    if lines:
        update["locations"] = [{"path": diffs[0]["path"], "line": line} for line in lines]
    return {**update, "_meta": {"claudeCode": {"toolName": name}}} if name else update


def is_sent_off(name: str, record: Any) -> bool:
    """Whether a call sent a sub-agent off into the background, where it has only begun."""
    return name in SUB_AGENTS and isinstance(record, dict) and record.get("status") == "async_launched"


def result_text(answer: Any) -> str:
    """The text of a tool's answer: itself, or its text blocks."""
    if isinstance(answer, str):
        wrapped = _TOOL_ERROR.match(answer)
        return _unreminded(wrapped.group(1) if wrapped else answer)
    return "\n".join(_unreminded(_text(block, "text")) for block in _listed(answer) if block.get("type") == "text")


def _changes(name: str, given: Json, record: Json) -> list[Json]:
    if not record:
        return []
    planned = planned_change(name, given)
    return done_changes(name, given, record) or ([planned] if planned is not None else [])


def _blocks(answer: Any) -> list[Json]:
    """What a tool answered, as content to be shown: texts and images, in their order."""
    if not isinstance(answer, list):
        text = result_text(answer)
        return [_content({"type": "text", "text": text})] if text else []
    found = [block for each in _listed(answer) if (block := _block(each)) is not None]
    texts = [block for block in found if block["type"] == "text"]
    if len(texts) == len(found) > 1:
        return [_content({"type": "text", "text": result_text(answer)})]
    return [_content(block) for block in found]


def _reported(name: str, record: Json) -> list[Json]:
    """What a sub-agent reported, without what the CLI sends to the model about it."""
    if name not in SUB_AGENTS:
        return []
    if is_sent_off(name, record):
        return [_content({"type": "text", "text": IN_BACKGROUND})]
    texts = [_text(block, "text") for block in _listed(record.get("content"))]
    report = "\n".join(text for text in texts if text.strip() and not text.startswith(_HARNESS))
    return [_content({"type": "text", "text": report})] if report else []


def _block(block: Json) -> Json | None:
    source = block.get("source")
    match block.get("type"):
        case "text" if text := _unreminded(_text(block, "text")):
            return {"type": "text", "text": text}
        case "image" if isinstance(source, dict) and _text(source, "data"):
            return {"type": "image", "data": _text(source, "data"), "mimeType": _text(source, "media_type") or "image/png"}
        case "image" if _text(block, "data"):
            return {"type": "image", "data": _text(block, "data"), "mimeType": _text(block, "mimeType") or "image/png"}
        case "resource_link" if _text(block, "uri"):
            return {"type": "resource_link", "uri": _text(block, "uri"), "name": _text(block, "name") or _text(block, "uri")}
        case "web_search_result" if _text(block, "url"):
            return {"type": "resource_link", "uri": _text(block, "url"), "name": _text(block, "title") or _text(block, "url")}
        case "tool_reference" if _text(block, "tool_name"):
            return {"type": "text", "text": _text(block, "tool_name")}
    return None


def _command_output(text: str, record: Json, failed: bool) -> Any:
    """The record of a command, with the code that it ended by where that is known."""
    code = _EXIT.match(text) if failed else None
    if code is not None:
        return {"exitCode": int(code.group(1)), "output": _short(text[code.end():].lstrip("\n"))}
    kept = {key: value for key, value in record.items() if not isinstance(value, str) or len(value) <= RAW_CHARS}
    if record.get("backgroundTaskId") or record.get("interrupted") is True:
        return {key: value for key, value in kept.items() if key not in ("stdout", "stderr")}
    if record.get("returnCodeInterpretation"):
        # Said only of commands that mean something by 1: nothing found, files differ.
        return {"exitCode": 1, **kept}
    return kept or (_short(text) or None)


def _output(text: str, record: Json, *, shown: bool) -> Any:
    """The record without the texts that are shown beside it; the text where there is no record, or where it is not shown."""
    if not record:
        return text if len(text) <= RAW_CHARS else None
    kept = {key: value for key, value in record.items() if not _is_bulk(key, value)}
    return kept if shown else {"output": _short(text), **kept}


def _is_bulk(key: str, value: Any) -> bool:
    """Whether a member repeats a file: its text before and after, or what was read of it."""
    if key in ("originalFile", "original_file", "updated_file", "structuredPatch"):
        return True
    if key == "file" and isinstance(value, dict):
        return True
    return isinstance(value, str) and len(value) > RAW_CHARS


def _short(text: str) -> str:
    return text if len(text) <= RAW_CHARS else ""


def _unreminded(text: str) -> str:
    """A text without what the CLI puts behind it for the model only."""
    found = text.rfind(REMINDER) if text.rstrip().endswith("</system-reminder>") else -1
    return text[:found].rstrip() if found >= 0 else text


def _listed(answer: Any) -> list[Json]:
    return [block for block in answer if isinstance(block, dict)] if isinstance(answer, list) else []


def _content(block: Json) -> Json:
    return {"type": "content", "content": block}


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
