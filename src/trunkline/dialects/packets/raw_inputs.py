"""What a packet's ``rawInput`` says: the agent's own input under the documents' names, whichever agent sent it.

Rule 1: members are renamed, never invented. What the documents have no name for stays beside, as it came.
Rule 2: a value goes from the agent's line into the packet unread; only a command that is a list of words is looked into.
Rule 3: an agent that sends no input still shows what it does: a diff, a place, a title. What follows from that stands for it.
Rule 4: what is there is named, though more is to come: the input of a call that begins grows while the model writes it.
Rule 5: a tool of another name (``mcp__x__y``, a vendor's own) is not one of the documents', whatever its input looks like.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from trunkline import decoders
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.calls.variables import script_of
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.contents import on_one_line
from trunkline.dialects.packets.detect import (
    COMMAND_KEYS,
    CONTENT_KEYS,
    FILE_PATH_KEYS,
    NEW_TEXT_KEYS,
    OLD_TEXT_KEYS,
    PATCH_KEYS,
    SUBAGENT_KEYS,
    ToolName,
    first_of,
    known_tool,
)
from trunkline.dialects.packets.shapes import EMPTY_OBJECT
from trunkline.dialects.packets.titles import InputView, call_tool, input_view

SUMMARY_CHARS: Final = 200
"""Characters of a command or prompt that stand for a description which the agent did not send: about one line."""

_PATHS: Final = (*FILE_PATH_KEYS, "filepath", "absolute_path", "absolutePath", "target_file", "notebook_path", "filename", "file")
_SPELLINGS: Final[dict[ToolName, dict[str, tuple[str, ...]]]] = {
    "glob": {"pattern": ("pattern",)},
    "grep": {"pattern": ("pattern", "query", "regex")},
    "read": {"filePath": _PATHS},
    "write": {"filePath": _PATHS, "content": CONTENT_KEYS},
    "edit": {"filePath": _PATHS, "old_string": OLD_TEXT_KEYS, "new_string": NEW_TEXT_KEYS},
    "bash": {"command": COMMAND_KEYS},
    "task": {"prompt": ("prompt", "task"), "subagent_type": SUBAGENT_KEYS},
    "todowrite": {"todos": ("todos",)},
    "webfetch": {"url": ("url",)},
    "websearch": {"query": ("query", "q")},
    "apply_patch": {"patchText": (*PATCH_KEYS, "patch", "input")},
}
"""The members that the documents ask for, by tool, and how agents spell them."""

_MAY_LACK: Final = frozenset({"subagent_type"})
_SUMMED_UP: Final[dict[ToolName, str]] = {"bash": "command", "task": "prompt"}
"""Tools whose input has a ``description``, and the member that stands for it where the agent sent none."""

_BY_KIND: Final[dict[str, ToolName]] = {"read": "read", "execute": "bash", "fetch": "webfetch"}
_GUESSED: Final = frozenset({"glob", "grep", "read", "write", "webfetch", "websearch"})
_NO_SUCH: Final = frozenset({"delete", "move", "execute", "switch_mode"})
"""Kinds that no tool of ``_GUESSED`` is of: what deletes by a pattern is no search."""

_encode = msgspec.json.Encoder().encode


class Beside(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a call beside its own fields: the command that only its title names, how it ended, what it printed, and
    whether what it shows is for whoever decides about it and no output."""

    command: str = ""
    exit_code: int | None = None
    printed: str | None = None
    shows_ask: bool = False


NOTHING_BESIDE: Final = Beside()


def documented_tool(call: CallState, view: InputView) -> ToolName | None:
    """The tool of the documents that a call is; None for every other tool, and where nothing shows it."""
    if call.name or (call.tool and call.named_by not in ("kind", "input")):
        return known_tool(call.tool) or known_tool(call.name)
    tool = known_tool(call_tool(call, view))
    if tool is not None:
        return None if tool in _GUESSED and call.kind in _NO_SUCH else tool
    return _editor(call, view) if call.kind == "edit" else _BY_KIND.get(call.kind)


def _editor(call: CallState, view: InputView) -> ToolName:
    if any(key in view for key in CONTENT_KEYS):
        return "write"
    shown = _only_diff(call)
    return "write" if shown is not None and not shown.old_text and not any(key in view for key in OLD_TEXT_KEYS) else "edit"


def own_input(call: CallState) -> Raw:
    """The input as its agent sent it."""
    return EMPTY_OBJECT if call.raw_input is None else on_one_line(call.raw_input)


def documented_input(call: CallState, view: InputView, tool: ToolName | None, beside: Beside) -> Raw:
    """The input as a packet carries it."""
    own = own_input(call)
    if tool is None:
        return own
    members = _unwrapped(view, _SPELLINGS[tool])
    named = _named(members, tool)
    if not _is_whole(named, tool) and _is_whole(shown := _shown(call, tool, beside), tool):
        return Raw(_encode(_summed_up(shown, tool)))
    whole = _summed_up({**named, **_others(members, tool)}, tool)
    return own if whole.keys() == view.keys() and all(whole[key] is view[key] for key in view) else Raw(_encode(whole))


def _unwrapped(view: InputView, spellings: Mapping[str, tuple[str, ...]]) -> InputView:
    """The members; those of ``arguments`` where the agent wraps the tool's input in a message of its own."""
    if any(first_of(view, each) is not None for each in spellings.values()):
        return view
    wrapped = view.get("arguments")
    return input_view(wrapped) if isinstance(wrapped, Raw) else view


def _named(view: InputView, tool: ToolName) -> dict[str, Any]:
    """The documents' members, each from the first spelling of it that is there."""
    named = {}
    for name, spellings in _SPELLINGS[tool].items():
        spelling = next((each for each in (name, *spellings) if each in view), None)
        if spelling is not None:
            named[name] = _readable(name, view[spelling])
    return named


def _readable(name: str, value: Any) -> Any:
    if name == "command":
        return _line(value)
    return todos_of(value) if name == "todos" and isinstance(value, list) else value


def _is_whole(named: Mapping[str, Any], tool: ToolName) -> bool:
    return all(_is_usable(named[name]) if name in named else name in _MAY_LACK for name in _SPELLINGS[tool])


def _is_usable(value: Any) -> bool:
    """Whether a member is of the documents' type: a text, read or unread, or a list of todos."""
    return bytes(memoryview(value)[:1]) == b'"' if isinstance(value, Raw) else isinstance(value, str | list)


def _others(view: InputView, tool: ToolName) -> dict[str, Any]:
    """What the documents have no name for."""
    spelled = {each for name, spellings in _SPELLINGS[tool].items() for each in (name, *spellings)}
    return {key: value for key, value in view.items() if key not in spelled}


def _line(command: Any) -> Any:
    """A command as one line: words joined, a shell's ``-c`` script taken out of its wrapping; anything else as it came."""
    if not isinstance(command, Raw) or bytes(memoryview(command)[:1]) != b"[":
        return command
    try:
        words = decoders.decode(command, list[str])
    except BROKEN:
        return command
    return script_of(words) or shlex.join(words)


def todos_of(todos: list[Any]) -> list[Any]:
    """A todo list in the documents' form: an item without a present tense is shown by its text."""
    if all(isinstance(todo, dict) and "activeForm" in todo for todo in todos):
        return todos
    return [todo if not isinstance(todo, dict) or "activeForm" in todo else _todo(todo) for todo in todos]


def _todo(todo: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in todo.items() if key != "active_form"}
    return {**rest, "activeForm": todo.get("active_form") or todo.get("content") or ""}


def _shown(call: CallState, tool: ToolName, beside: Beside) -> dict[str, Any]:
    """The input of an agent that sent none that can be used: what its diff, its places or its title say."""
    match tool:
        case "bash":
            return {"command": beside.command or None}
        case "read":
            return {"filePath": call.locations[0].path if call.locations else None}
        case "write" | "edit":
            return _of_diff(_only_diff(call), tool)
    return {}


def _of_diff(diff: Diff | None, tool: ToolName) -> dict[str, Any]:
    if diff is None:
        return {}
    if tool == "write":
        return {"filePath": diff.path, "content": diff.new_text}
    return {"filePath": diff.path, "old_string": diff.old_text or "", "new_string": diff.new_text}


def _only_diff(call: CallState) -> Diff | None:
    """The change that a call shows; None where there is none, or more than one."""
    diffs = [item for item in call.content or () if isinstance(item, Diff)]
    return diffs[0] if len(diffs) == 1 else None


def _summed_up(named: dict[str, Any], tool: ToolName) -> dict[str, Any]:
    if tool not in _SUMMED_UP or "description" in named or not _is_usable(named.get(_SUMMED_UP[tool])):
        return named
    return {**named, "description": first_line_of(named[_SUMMED_UP[tool]])}


def first_line_of(text: Any) -> str:
    """The first line of a text, which may still be a JSON string; a long one is not read to its end."""
    if isinstance(text, Raw):
        text = beginning_of(text, SUMMARY_CHARS)
    return text.strip().split("\n", 1)[0][:SUMMARY_CHARS] if isinstance(text, str) else ""


def beginning_of(token: bytes | memoryview | Raw, most: int) -> str:
    """The beginning of a JSON string, out of its first ``most`` bytes; "" where it is no string."""
    view = memoryview(token)
    for end in range(min(most, len(view)), max(0, min(most, len(view)) - 16), -1):
        # An escape or a character of several bytes may be cut in two; no such piece is longer than twelve bytes.
        try:
            return decoders.decode(bytes(view[:end]) + (b"" if end == len(view) else b'"'), str)
        except BROKEN:
            continue
    return ""
