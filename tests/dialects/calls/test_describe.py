"""A call in words, and how much of it events repeat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call, reading_meta
from trunkline.dialects.calls.describe import COMMAND_CHARS, PATHS_REPEATED, SUBJECT_CHARS, told_alone, told_of
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


@every_row(("call", "line"), [
    ({"name": "Read", "kind": "delete", "rawInput": {"path": "src"}}, "read, which may delete: src"),
    ({"name": "Read", "kind": "execute", "rawInput": {"path": "install.sh"}}, "read, which may run something: install.sh"),
    ({"name": "glob", "kind": "move", "rawInput": {"pattern": "*.py"}}, "glob, which may move: *.py"),
    ({"title": "tidy", "kind": "delete", "rawInput": {"path": "src"}}, "tidy, which may delete: src"),
    ({"title": "wipe", "kind": "delete", "rawInput": {"path": "src"}}, "wipe: src"),
    ({"name": "mcp__fs__read", "kind": "delete", "rawInput": {"path": "a"}}, "mcp__fs__read, which may delete: a"),
    ({"name": "Read", "kind": "read", "rawInput": {"path": "~/.bashrc", "content": "x"}}, "read, which may write: ~/.bashrc"),
    ({"name": "Read", "kind": "read", "rawInput": {"paths": ["a.py", "~/.netrc"]}}, "Read: a.py, ~/.netrc"),
    ({"name": "grep", "kind": "search", "rawInput": {"pattern": "BEGIN", "path": "~/.ssh"}}, "Grep: BEGIN, ~/.ssh"),
    ({"name": "grep", "kind": "search", "rawInput": {"pattern": "BEGIN", "path": "src"}}, "Grep: BEGIN"),
    ({"name": "Read", "kind": "read", "rawInput": {"paths": ["a", "/b", "/c", "/d"]}}, "Read: a, /b, /c and 1 more"),
    ({"name": "mcp__db__query", "rawInput": {"sql": "drop table users"}}, "mcp__db__query: drop table users"),
    ({"name": "Read", "kind": "read", "title": "rm -r build", "rawInput": {"path": "a.py"}},
     "read, which may delete: a.py (told beside it: rm -r build)"),
])
def test_what_a_call_may_do_and_its_name_does_not_say_is_in_its_line(call: dict[str, Any], line: str) -> None:
    assert read(call).description == line


@every_row(("call", "line"), [
    ({"name": "mcp__db__drop", "title": "Read the docs"}, 'mcp__db__drop, titled "Read the docs"'),
    ({"name": "Bash", "title": "Read", "rawInput": {"path": "a.py"}}, 'bash, titled "Read"'),
    ({"kind": "execute", "title": "Terminal"}, "bash"),
    ({"name": "Bash", "title": "bash"}, "bash"),
    ({"name": "ExitPlanMode", "title": "Ready to code?"}, "Ready to code?"),
    ({"name": "Read", "title": "Whatever", "rawInput": {"path": "a.py"}}, "Read: a.py"),
])
def test_a_title_that_is_all_that_is_known_is_told_as_the_agents_words_beside_the_name(call: dict[str, Any], line: str) -> None:
    assert told_of(read(call), call["title"]) == line


@every_row(("tool", "description", "doubts", "line"), [
    ("read", "read, which may delete: a", ["its kind is delete"], "read, which may delete: a (not sure: its kind is delete)"),
    ("read", "Read: a", [], "Read: a"), ("mcp__x__y", "mcp__x__y", [], "Use mcp__x__y"), ("x", "", [], "Use x"),
    ("bash", "Run: make", [], "Run: make"), ("bash", "bash", [], "Use bash"),
    ("glob", "Search: *", ["a member"], "Use glob: Search: * (not sure: a member)"),
])
def test_a_line_that_stands_alone_has_the_tools_name_and_why_it_is_not_sure(
        tool: str, description: str, doubts: list[str], line: str) -> None:
    assert told_alone(tool, description, doubts) == line


def test_events_repeat_only_the_beginning_of_a_long_command_and_say_so() -> None:
    told = reading_meta(read_call("bash", "execute", {"command": "x" * (COMMAND_CHARS + 7)}))
    assert told.command == "x" * COMMAND_CHARS + "\n… and 7 more characters"


def test_events_repeat_only_so_many_paths_and_a_short_subject() -> None:
    told = reading_meta(read_call("read", "read", {"paths": [f"{number}.py" for number in range(50)]}))
    assert len(told.paths) == PATHS_REPEATED
    assert len(reading_meta(read_call("grep", "search", {"pattern": "x" * 5000})).subject) == SUBJECT_CHARS
