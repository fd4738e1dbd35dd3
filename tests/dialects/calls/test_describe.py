"""A call in words, and how much of it events repeat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call, reading_meta
from trunkline.dialects.calls.describe import COMMAND_CHARS, PATHS_REPEATED, SUBJECT_CHARS
from trunkline.dialects.context.descriptions import describe_tool_call


@pytest.mark.parametrize(("call", "line"), [
    ({"name": "Delete", "kind": "delete", "rawInput": {"file_path": "src/a.py"}}, "Delete: src/a.py"),
    ({"title": "delete_files", "kind": "delete", "rawInput": {"pattern": "*"}}, "delete_files: *"),
    ({"name": "mcp__fs__purge", "rawInput": {"paths": ["a.py", "b.py", "c.py"]}}, "mcp__fs__purge: a.py and 2 more"),
])
def test_a_tool_that_has_no_line_of_its_own_is_told_with_what_it_is_about(call: dict[str, Any], line: str) -> None:
    assert read(call).description == line


@every_row(("name", "given", "line"), [
    ("Delete", {"file_path": "src/a.py"}, "Delete: src/a.py"), ("delete_files", {"pattern": "*"}, "delete_files: *"),
    ("mcp__fs__purge", {"paths": ["a.py", "b.py", "c.py"]}, "mcp__fs__purge: a.py and 2 more"),
    ("mcp__x__run", {"command": "npm test"}, "mcp__x__run, which runs: npm test"),
    ("Read", {"path": "a.py", "command": "npm test"}, "Read, which runs: npm test"),
    ("bash", {"command": "npm test"}, "Run: npm test"), ("edit", {"path": "a.py"}, "Edit: a.py"),
    ("other_tool", {"n": 1}, "other_tool"),
])
def test_a_call_has_the_line_that_describe_tool_call_gives_it(name: str, given: dict[str, Any], line: str) -> None:
    assert describe_tool_call(name, given) == line
    assert read_call(name, None, given).description in (line, line.replace("Read,", "read,"))



def test_events_repeat_only_the_beginning_of_a_long_command_and_say_so() -> None:
    told = reading_meta(read_call("bash", "execute", {"command": "x" * (COMMAND_CHARS + 7)}))
    assert told.command == "x" * COMMAND_CHARS + "\n… and 7 more characters"


def test_events_repeat_only_so_many_paths_and_a_short_subject() -> None:
    told = reading_meta(read_call("read", "read", {"paths": [f"{number}.py" for number in range(50)]}))
    assert len(told.paths) == PATHS_REPEATED
    assert len(reading_meta(read_call("grep", "search", {"pattern": "x" * 5000})).subject) == SUBJECT_CHARS
