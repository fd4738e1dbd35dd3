"""Calls and results as Gemini CLI stores them; programs that came from it store them the same way.

Rule: nothing here fails on a value of another shape than expected.
"""

from __future__ import annotations

from typing import Any, Final

from trunkline.dialects.elsewhere.transcripts import begun, ended, object_of, objects_of, plan, text_of
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal

KINDS: Final[dict[str, str]] = {
    "run_shell_command": "execute", "read_file": "read", "read_many_files": "read", "list_directory": "read",
    "write_file": "edit", "replace": "edit", "edit": "edit", "notebook_edit": "edit", "glob": "search", "grep_search": "search",
    "search_file_content": "search", "web_fetch": "fetch", "google_web_search": "fetch", "web_search": "fetch",
    "agent": "think", "task": "think", "write_todos": "think", "todo_write": "think",
}
TODOS: Final = ("write_todos", "todo_write")
FAILED: Final = ("error", "cancelled", "canceled", "failed")


def texts_of(parts: Any, *, thoughts: bool = False) -> str:
    """The texts among the parts of a message: what is said, or what is thought. A plain text is one part."""
    if isinstance(parts, str):
        return "" if thoughts else parts
    found = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(text for part in found if (part.get("thought") is True) is thoughts and (text := text_of(part, "text")))


def call_begun(call_id: str, name: str, given: Json, cwd: str) -> list[Signal]:
    """A call of a tool; the list of todos is a plan."""
    if name in TODOS:
        return [plan(objects_of(given, "todos"), "content", "description")]
    return [begun(call_id, name, KINDS.get(name, "other"), given, cwd=cwd)]


def call_ended(call_id: str, name: str, status: str, results: list[Json], display: Any) -> list[Signal]:
    """How a call ended: by its status, by what the model was answered, and by what people were shown."""
    if name in TODOS:
        return []
    response = next((object_of(object_of(part, "functionResponse"), "response") for part in results
                     if "functionResponse" in part), {})
    error = text_of(response, "error")
    code = display.get("exitCode") if isinstance(display, dict) else None
    known = code if type(code) is int and abs(code) < 1 << 31 else None
    failed = status in FAILED or bool(error) or bool(known)
    return [ended(call_id, error or text_of(response, "output"), failed=failed, exit_code=known,
                  diffs=[] if failed else _diffs(display))]


def _diffs(display: Any) -> list[Json]:
    """The change that people were shown, where the record has both sides of it."""
    path, new = text_of(display, "filePath", "fileName"), display.get("newContent") if isinstance(display, dict) else None
    if not path or not isinstance(new, str):
        return []
    old = display.get("originalContent")
    diff: Json = {"type": "diff", "path": path, "newText": new}
    return [{**diff, "oldText": old} if isinstance(old, str) else diff]
