"""Vendors' names for their tools: known to the catalog, and to nothing else in the hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import trunkline
from tests.tooling.rows import every_row
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


@every_row(("name", "why"), [
    ("command", "is run"), ("env", "is run"), ("dangerouslyDisableSandbox", "dangerously"), ("run_as", "'as'"),
    ("after_command", "'command'"), ("sandbox_permissions", "sandbox"), ("", "no name"), ("a b", "no name"),
    ("x" * 65, "no name"),
])
def test_a_member_that_says_how_a_call_is_run_cannot_be_listed_as_one_that_changes_nothing(name: str, why: str) -> None:
    with pytest.raises(Invalid, match=r"\[agents\.mine\]: members: .*" + why):
        catalog.spec_from_table("mine", {"command": ["x"], "members": ["trace", name]})


def test_the_members_of_an_agent_are_known_however_they_are_spelled() -> None:
    spec = catalog.spec_from_table("mine", {"command": ["x"], "members": ["trace_id", "isLoud"]})
    assert spec.tool_names.members == {"traceid", "isloud"}
    with pytest.raises(Invalid, match=r"members"):
        catalog.spec_from_table("mine", {"command": ["x"], "members": "trace_id"})


@every_row("pair", ["PATH=/x", "LD_PRELOAD=x", "GIT_SSH=x", "GIT_TERMINAL_PROMPT=1", "EDITOR=x", "X", "a b=c"])
def test_a_variable_that_says_what_is_run_cannot_be_listed_as_one_that_changes_nothing(pair: str) -> None:
    with pytest.raises(Invalid, match=r"\[agents\.mine\]: variables: "):
        catalog.spec_from_table("mine", {"command": ["x"], "variables": [pair]})


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
