"""Which category a tool call is shown under: by the tool's name, else by its kind in the Agent Client Protocol.

Rule 1: a name that is one of the protocol's own decides, in any case of letters (``Read``, ``read``).
Rule 2: else the kind decides, when the agent sent one that means something.
Rule 3: else the name is looked through for ``mcp__``, ``git``, ``mcp`` and ``search``, in this order.
"""

from __future__ import annotations

from typing import Final

from trunkline.dialects.context.types import ToolCategory

_BY_NAME: Final[dict[str, ToolCategory]] = {
    "read": "file_read",
    "glob": "file_read",
    "grep": "file_read",
    "write": "file_write",
    "notebookedit": "file_write",
    "edit": "file_edit",
    "bash": "terminal",
    "websearch": "web",
    "webfetch": "web",
    "task": "agent",
}
_BY_KIND: Final[dict[str, ToolCategory]] = {
    "read": "file_read",
    "edit": "file_edit",
    "delete": "file_write",
    "move": "file_write",
    "search": "search",
    "execute": "terminal",
    "fetch": "web",
}
_BY_PART: Final[tuple[tuple[str, ToolCategory], ...]] = (("git", "git"), ("mcp", "mcp"), ("search", "search"))


def categorize_tool(name: str | None, kind: str | None = None) -> ToolCategory:
    """The category of a tool; ``kind`` is its kind in the Agent Client Protocol, where one is known."""
    lowered = (name or "").lower()
    if by_name := _BY_NAME.get(lowered):
        return by_name
    if lowered.startswith("mcp__"):
        return "mcp"
    if kind is not None and kind != "other":
        return _BY_KIND.get(kind, "other")
    return next((category for part, category in _BY_PART if part in lowered), "other")
