"""How a call went that its agent calls completed: by what it says, not by a word in it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import change, diff, made, of_type, only, text
from tests.tooling.rows import every_row


@every_row("ending", [
    {"rawOutput": {"success": False}},
    {"rawOutput": {"output": "x", "metadata": {"ok": False}}},
    {"rawOutput": {"error": "old_string was not found"}},
    {"rawOutput": {"isError": True, "output": "no"}},
    {"rawOutput": {"status": "rejected"}},
    {"rawOutput": {"exit_code": 1, "stdout": "", "stderr": "no such file"}},
    {"content": [*text("Error: old_string was not found in the file"), diff("/w/a", "x")]},
    {"content": text("Failed to write a: read-only file system")},
    {"_meta": {"v": {"toolResponse": {"success": False}}}},
])
def test_a_completed_call_that_says_it_failed_changed_nothing(ending: dict[str, Any]) -> None:
    found = made("edit", rawInput={"path": "/w/a", "content": "x"}, **ending)
    assert not of_type(found, "file:change")
    assert only(found, "tool:result")["_meta"]["failed"]


@pytest.mark.parametrize("ending", [
    {"rawOutput": {"success": True, "error": None}},
    {"rawOutput": {"error": None, "n": 1}},
    {"rawOutput": {"output": "The errors of the file were corrected", "status": "completed"}},
    {"content": text("Updated a: error handling added")},
])
def test_a_call_that_went_well_is_no_failure_by_a_word(ending: dict[str, Any]) -> None:
    assert change(rawInput={"path": "/w/a", "content": "x"}, **ending)["path"] == "/w/a"
