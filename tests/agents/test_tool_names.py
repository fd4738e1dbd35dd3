"""Vendors' names for their tools: known to the catalog, and to nothing else in the hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import trunkline
from trunkline.agents import catalog
from trunkline.dialects.calls import ToolRole
from trunkline.dialects.packets.detect import known_tool
from trunkline.errors import Invalid

SOURCE = Path(trunkline.__file__).parent
MAY_NAME_THEM = ("agents/catalog/", "agents/demo/", "dialects/", "discovery/")

DISTINCT = sorted({
    name for spec in catalog.load().values() for name in spec.tools
    # A plain word may stand anywhere, and so may a name that everybody uses, or that is the role's own.
    if known_tool(name) is None and name not in get_args(ToolRole) and re.search(r"[a-z][_-][a-z]|[a-z][A-Z]", name)
})


def test_the_catalog_names_the_tools_of_every_agent_that_is_not_ours() -> None:
    without = {name for name, spec in catalog.load().items() if not spec.tools}
    assert without == {"demo"}, "ours calls its tools by their usual names"


def test_a_spec_hands_its_names_on() -> None:
    names = catalog.load()["claude-agent-acp"].tool_names
    assert (names.role_of("Bash"), names.role_of("AskUserQuestion")) == ("terminal", "ask_user")
    assert names.parent_call == "claudeCode.parentToolUseId"


def test_a_role_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="tools"):
        catalog.spec_from_table("mine", {"command": ["x"], "tools": {"go": "everything"}})


def test_there_are_names_to_look_for() -> None:
    assert len(DISTINCT) > 40 and "run_shell_command" in DISTINCT


def test_no_vendors_tool_name_stands_outside_of_catalog_and_dialects() -> None:
    wanted = re.compile(r"[\"'](" + "|".join(map(re.escape, DISTINCT)) + r")[\"']")
    found = [
        f"{path.relative_to(SOURCE)}: {match.group(1)}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not str(path.relative_to(SOURCE)).startswith(MAY_NAME_THEM)
        for match in wanted.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, found
