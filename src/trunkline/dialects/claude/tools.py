"""Claude Code's tools, told as the Agent Client Protocol tells tool calls: kind, title, places, changes of files.

Rule 1: a tool that nobody knows yet is told too: by its name, as kind ``other``.
Rule 2: nothing here fails on an input of another shape than expected; what is not there is not told.
"""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

TODOS: Final = "TodoWrite"
"""The one call that is told as a plan instead of a call."""

WHOLE_FILE: Final = 128 << 10
"""Characters of a file up to which a change is shown within the whole of it."""

KINDS: Final[dict[str, str]] = {
    "Read": "read", "NotebookRead": "read", "LS": "read", "Write": "edit", "Edit": "edit", "MultiEdit": "edit",
    "NotebookEdit": "edit", "Bash": "execute", "BashOutput": "execute", "KillShell": "execute", "KillBash": "execute",
    "PowerShell": "execute", "Glob": "search", "Grep": "search", "ToolSearch": "search", "WebFetch": "fetch",
    "WebSearch": "fetch", "Task": "think", "Agent": "think", "ExitPlanMode": "switch_mode", "EnterPlanMode": "switch_mode",
}


def announced(call_id: str, name: str, given: Json) -> Json:
    """A ``tool_call`` update for a call that begins."""
    update: Json = {
        "sessionUpdate": "tool_call", "toolCallId": call_id, "title": _title(name, given), "name": name,
        "kind": KINDS.get(name, "other"), "status": "in_progress", "rawInput": given, "_meta": {"claudeCode": {"toolName": name}},
    }
    path = _text(given, "file_path") or _text(given, "notebook_path")
    if path:
        line = given.get("offset")
        update["locations"] = [{"path": path, "line": line} if type(line) is int and line >= 0 else {"path": path}]
    diff = _planned_change(name, given)
    if diff is not None:
        update["content"] = [diff]
    return update


def ended(call_id: str, name: str, given: Json, answer: Any, record: Any, failed: bool) -> Json:
    """A ``tool_call_update`` for a call that ended: ``answer`` is what the model was told, ``record`` what was kept beside it."""
    text = answer_text(answer)
    content: list[Json] = [{"type": "content", "content": {"type": "text", "text": text}}] if text else []
    if not failed and isinstance(record, dict):
        diff = _done_change(name, given, record)
        if diff is not None:
            content = [diff]
    output: Any = record if isinstance(record, dict) and "stdout" in record else text
    update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed" if failed else "completed",
                    "content": content, "rawOutput": output}
    return {**update, "_meta": {"claudeCode": {"toolName": name}}} if name else update


def plan(given: Json) -> Json | None:
    """A ``plan`` update for the todo list that a call wrote; None where there is none."""
    todos = given.get("todos")
    if not isinstance(todos, list):
        return None
    entries = [{"content": _text(todo, "content"), "priority": "medium", "status": _status(todo)}
               for todo in todos if isinstance(todo, dict)]
    return {"sessionUpdate": "plan", "entries": entries}


def answer_text(answer: Any) -> str:
    """The text of a tool's answer: itself, or its text blocks."""
    if isinstance(answer, str):
        return answer
    blocks = answer if isinstance(answer, list) else []
    return "\n".join(_text(block, "text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def _title(name: str, given: Json) -> str:
    match name:
        case "Bash" | "PowerShell":
            return _text(given, "command") or name
        case "Read" | "Write" | "Edit" | "MultiEdit":
            return f"{'Edit' if name == 'MultiEdit' else name} {_text(given, 'file_path')}".strip()
        case "NotebookEdit":
            return f"Edit {_text(given, 'notebook_path')}".strip()
        case "Glob" | "Grep":
            return f"{'Find' if name == 'Glob' else 'Grep'} {_text(given, 'pattern')}".strip()
        case "WebFetch":
            return f"Fetch {_text(given, 'url')}".strip()
        case "WebSearch":
            return f'"{_text(given, "query")}"'
        case "Task" | "Agent":
            return _text(given, "description") or "Task"
    return name


def _planned_change(name: str, given: Json) -> Json | None:
    """What a call is about to change, as far as its input says."""
    path = _text(given, "file_path")
    if not path:
        return None
    if name == "Write" and isinstance(given.get("content"), str):
        return _diff(path, None, given["content"])
    if name == "Edit" and isinstance(given.get("old_string"), str) and isinstance(given.get("new_string"), str):
        return _diff(path, given["old_string"], given["new_string"])
    return None


def _done_change(name: str, given: Json, record: Json) -> Json | None:
    """What a call changed, within the whole file where that was kept and is not too long."""
    path = _text(record, "filePath") or _text(given, "file_path")
    before = record.get("originalFile")
    if not path:
        return None
    if name == "Write" and isinstance(given.get("content"), str):
        return _diff(path, before if isinstance(before, str) else None, given["content"])
    if name not in ("Edit", "MultiEdit") or not isinstance(before, str) or len(before) > WHOLE_FILE:
        return _planned_change(name, given)
    after = before
    for edit in given["edits"] if isinstance(given.get("edits"), list) else [given]:
        after = _edited(after, edit)
    return _diff(path, before, after) if after != before else _planned_change(name, given)


def _edited(text: str, edit: Any) -> str:
    if not isinstance(edit, dict):
        return text
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        return text
    return text.replace(old, new) if edit.get("replace_all") is True else text.replace(old, new, 1)


def _diff(path: str, old: str | None, new: str) -> Json:
    diff: Json = {"type": "diff", "path": path, "newText": new}
    if old is not None:
        diff["oldText"] = old
    return diff


def _status(todo: Json) -> str:
    status = _text(todo, "status")
    return status if status in ("pending", "in_progress", "completed") else "pending"


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
