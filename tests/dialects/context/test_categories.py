"""Which category a tool call is shown under: by its name, else by its kind."""

from __future__ import annotations

from typing import get_args

from tests.tooling.rows import every_row
from trunkline.dialects.context.categories import categorize_tool
from trunkline.dialects.context.types import ToolCategory


@every_row(
    ("name", "kind", "category"),
    [
        (None, "read", "file_read"),
        (None, "edit", "file_edit"),
        (None, "delete", "file_write"),
        (None, "move", "file_write"),
        (None, "search", "search"),
        (None, "execute", "terminal"),
        (None, "fetch", "web"),
        (None, "think", "other"),
        ("Task", "think", "agent"),
        ("task", "other", "agent"),
        ("mcp__github__create_issue", "other", "mcp"),
        ("anything", "switch_mode", "other"),
        ("anything", "a kind of tomorrow", "other"),
    ],
)
def test_a_tool_is_categorized_by_its_kind(name: str | None, kind: str, category: ToolCategory) -> None:
    assert categorize_tool(name, kind) == category
    assert category in get_args(ToolCategory)
