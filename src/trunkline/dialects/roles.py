"""What a tool is for, whatever its agent calls it: roles, and the names that a catalog entry gives them to.

Rule 1: no vendor's tool name stands here; those are in the catalog's ``tools`` tables and arrive as ``ToolNames``.
Rule 2: what the agent says of a tool decides first (its name), then the tool's kind in the Agent Client Protocol.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from trunkline.dialects.packets.detect import ToolName, known_tool

ToolRole = Literal[
    "read", "write", "edit", "patch", "delete", "move", "search", "terminal", "fetch", "web_search", "task", "todos",
    "ask_user", "plan", "think", "mcp",
]

_ROLE_OF_TOOL: Final[dict[ToolName, ToolRole]] = {
    "glob": "search", "grep": "search", "read": "read", "write": "write", "edit": "edit", "bash": "terminal", "task": "task",
    "todowrite": "todos", "webfetch": "fetch", "websearch": "web_search", "apply_patch": "patch",
}
_ROLE_OF_KIND: Final[dict[str, ToolRole]] = {
    "read": "read", "edit": "edit", "delete": "delete", "move": "move", "search": "search", "execute": "terminal",
    "fetch": "fetch", "think": "think", "switch_mode": "plan",
}
_TOOL_OF_ROLE: Final[dict[ToolRole, ToolName]] = {
    "read": "read", "write": "write", "edit": "edit", "patch": "apply_patch", "terminal": "bash", "fetch": "webfetch",
    "web_search": "websearch", "task": "task", "todos": "todowrite",
}
_NAME_OF_KIND: Final[dict[str, str]] = {
    "read": "read", "edit": "edit", "delete": "delete", "move": "move", "search": "search", "execute": "bash",
    "fetch": "webfetch", "think": "think", "switch_mode": "switch_mode",
}
_HEAD_CHARS = 200
"""No tool has a longer name, and a title may be of any length."""
_TITLE_HEAD = re.compile(r"\s*(?::|·|\(|`)\s*|\s-\s")
_MCP = "mcp__"


class ToolNames(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's names for its tools. ``parent_call`` is where its ``_meta`` names the call that a sub-agent works for."""

    roles: dict[str, ToolRole] = {}
    parent_call: str = ""

    def role_of(self, name: str) -> ToolRole | None:
        """The role of a tool by its name; None where neither this agent's table nor the usual names have it."""
        if name.startswith(_MCP):
            return "mcp"
        found = self.roles.get(name) or self.roles.get(name.lower())
        if found is None and (tool := known_tool(name)):
            found = _ROLE_OF_TOOL[tool]
        return found

    def named_in(self, call_id: str, title: str) -> str | None:
        """A name of this agent's table that stands at the front of a call's id or title; some agents say it nowhere else."""
        if not self.roles:
            return None
        heads = (call_id.split("__", 1)[0], call_id.rsplit("-", 1)[0], _TITLE_HEAD.split(title[:_HEAD_CHARS], maxsplit=1)[0])
        return next((head for head in heads if head in self.roles), None)


def usual_name(said: str, role: ToolRole | None) -> str:
    """What a tool is called in events: by the usual name of its role, else as its agent calls it."""
    if said.startswith(_MCP):
        return said
    return known_tool(said) or (_TOOL_OF_ROLE.get(role) if role else None) or said


def role_of_tool(name: str) -> ToolRole | None:
    """The role of a tool under its usual name."""
    tool = known_tool(name)
    return _ROLE_OF_TOOL[tool] if tool else None


def role_of_kind(kind: str) -> ToolRole | None:
    """The role that a kind of the Agent Client Protocol stands for."""
    return _ROLE_OF_KIND.get(kind)


def name_of_kind(kind: str) -> str | None:
    """What to call a tool of which only the kind is known."""
    return _NAME_OF_KIND.get(kind)
