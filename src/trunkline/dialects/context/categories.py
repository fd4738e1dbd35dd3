"""Which category a tool call is shown under, from what the Agent Client Protocol says about it: its kind first."""

from __future__ import annotations

from typing import Final

from trunkline.dialects.context.types import ToolCategory

_BY_KIND: Final[dict[str, ToolCategory]] = {
    "read": "file_read",
    "edit": "file_edit",
    "delete": "file_write",
    "move": "file_write",
    "search": "search",
    "execute": "terminal",
    "fetch": "web",
}
_SUBAGENT_NAMES = frozenset({"task", "agent"})


def categorize(name: str | None, kind: str) -> ToolCategory:
    """The category of a tool of this ACP kind; a tool named ``task`` runs a sub-agent, whatever its kind."""
    lowered = (name or "").lower()
    if lowered in _SUBAGENT_NAMES:
        return "agent"
    if lowered.startswith("mcp__"):
        return "mcp"
    return _BY_KIND.get(kind, "other")
