"""Claude Code's tools as the Agent Client Protocol describes tool calls: kind, title, places, what is about to change.

    results.py   how a call ended      patches.py   what it changed

Rule 1: a tool that nobody knows yet is described too: by its name, as kind ``other``.
Rule 2: nothing here fails on an input of another shape than expected; what is not there is left out.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.claude.calls.patches import diff_of
from trunkline.dialects.outside import Json

TODOS: Final = "TodoWrite"
"""The call that writes the whole plan."""

KINDS: Final[dict[str, str]] = {
    "Read": "read", "NotebookRead": "read", "LS": "read", "ReadMcpResource": "read", "ListMcpResources": "read",
    "Write": "edit", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "Bash": "execute", "BashOutput": "execute",
    "KillShell": "execute", "KillBash": "execute", "PowerShell": "execute", "Monitor": "execute", "TaskOutput": "execute",
    "TaskStop": "execute", "Glob": "search", "Grep": "search", "ToolSearch": "search", "LSP": "search", "WebFetch": "fetch",
    "WebSearch": "fetch", "web_search": "fetch", "web_fetch": "fetch", "Task": "think", "Agent": "think", TODOS: "think",
    "TaskCreate": "think", "TaskUpdate": "think", "TaskList": "think", "TaskGet": "think", "ExitPlanMode": "switch_mode",
    "EnterPlanMode": "switch_mode",
}

_MCP: Final = "mcp__"


def described(call_id: str, name: str, given: Json) -> Json:
    """A call by its input: what it is about, as far as that is known before it runs."""
    call: Json = {"toolCallId": call_id, "title": title_of(name, given), "name": name, "kind": KINDS.get(name, "other"),
                  "rawInput": given, "_meta": {"claudeCode": {"toolName": name}}}
    path = text_in(given, "file_path") or text_in(given, "notebook_path")
    if path:
        line = given.get("offset")
        call["locations"] = [{"path": path, "line": line} if type(line) is int and line >= 0 else {"path": path}]
    elif name in ("Glob", "Grep", "LS") and text_in(given, "path"):
        call["locations"] = [{"path": text_in(given, "path")}]
    shown = _shown(name, given)
    if shown is not None:
        call["content"] = [shown]
    return call


def announced(call_id: str, name: str, given: Json) -> Json:
    """A ``tool_call`` update for a call whose input is known."""
    return {"sessionUpdate": "tool_call", "status": "in_progress", **described(call_id, name, given)}


def begun(call_id: str, name: str) -> Json:
    """A ``tool_call`` update for a call whose input the model still writes."""
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, "status": "pending", "title": title_of(name, {}), "name": name,
            "kind": KINDS.get(name, "other"), "_meta": {"claudeCode": {"toolName": name}}}


def completed(call_id: str, name: str, given: Json) -> Json:
    """A ``tool_call_update`` for a call that has begun: here is its input."""
    return {"sessionUpdate": "tool_call_update", "status": "in_progress", **described(call_id, name, given)}


def plan(given: Json) -> Json | None:
    """A ``plan`` update for the todo list that a call wrote; None where there is none."""
    todos = given.get("todos")
    if not isinstance(todos, list):
        return None
    entries = [{"content": text_in(todo, "content"), "priority": "medium", "status": plan_status(todo)}
               for todo in todos if isinstance(todo, dict)]
    return {"sessionUpdate": "plan", "entries": entries}


def plan_status(todo: Json) -> str:
    """The status of a step, in the protocol's words."""
    status = text_in(todo, "status")
    return status if status in ("pending", "in_progress", "completed") else "pending"


def title_of(name: str, given: Json) -> str:
    """What people read of a call in one line."""
    match name:
        case "Bash" | "PowerShell":
            return text_in(given, "command") or name
        case "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit":
            return _of_file(name, given)
        case "Glob" | "Grep":
            return f"{'Find' if name == 'Glob' else 'Grep'} {text_in(given, 'pattern')}".strip()
        case "WebFetch":
            return f"Fetch {text_in(given, 'url')}".strip()
        case "WebSearch" | "web_search":
            return f'"{text_in(given, "query")}"' if text_in(given, "query") else "Search the web"
        case "Task" | "Agent":
            return text_in(given, "description") or "Task"
    return _of_other(name, given)


def _of_file(name: str, given: Json) -> str:
    verb = name if name in ("Read", "Write") else "Edit"
    where = text_in(given, "file_path") or text_in(given, "notebook_path")
    first, count = given.get("offset"), given.get("limit")
    if name == "Read" and type(first) is int and type(count) is int and count > 0:
        where += f" ({first} - {first + count - 1})"
    return f"{verb} {where}".strip()


def _of_other(name: str, given: Json) -> str:
    match name:
        case "TodoWrite":
            return "Update the plan"
        case "TaskCreate":
            return f"Create task: {text_in(given, 'subject')}".rstrip(": ")
        case "TaskUpdate":
            return " ".join(["Update task", text_in(given, "taskId"), text_in(given, "status")]).strip()
        case "TaskList":
            return "List tasks"
        case "Skill":
            return f"Load skill: {text_in(given, 'skill') or text_in(given, 'command')}".rstrip(": ")
        case "ExitPlanMode":
            return "Ready to carry out the plan?"
        case "EnterPlanMode":
            return "Plan first"
        case "AskUserQuestion":
            return _first_question(given) or "Ask a question"
    if name.startswith(_MCP):
        server, _, tool = name.removeprefix(_MCP).partition("__")
        return f"{tool} ({server})" if tool else server
    return name


def _first_question(given: Json) -> str:
    questions = given.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    return text_in(first, "question") if isinstance(first, dict) else ""


def _shown(name: str, given: Json) -> Json | None:
    """What a call shows before it runs: the change that it is about to make, the plan, the task."""
    if name in ("Task", "Agent") and text_in(given, "prompt"):
        return _as_content(text_in(given, "prompt"))
    if name == "ExitPlanMode" and text_in(given, "plan"):
        return _as_content(text_in(given, "plan"))
    return planned_change(name, given)


def planned_change(name: str, given: Json) -> Json | None:
    """What a call is about to change, as far as its input says."""
    path = text_in(given, "file_path")
    if not path:
        return None
    if name == "Write" and isinstance(given.get("content"), str):
        return diff_of(path, None, given["content"])
    if name == "Edit" and isinstance(given.get("old_string"), str) and isinstance(given.get("new_string"), str):
        return diff_of(path, given["old_string"], given["new_string"])
    return None


def text_in(fields: Json, name: str) -> str:
    """A member that is a text, else ""."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _as_content(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
