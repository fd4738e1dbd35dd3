"""A tool call in one line: what it does, at most so long, and never a word that nobody wrote."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.context.descriptions import describe_tool_call


@every_row(
    ("name", "input", "line"),
    [
        ("read", {"path": "/a.py"}, "Read: /a.py"),
        ("EDIT", {"filePath": "/a.py"}, "Edit: /a.py"),
        ("Read", {"file_path": "", "path": "/b"}, "Read: /b"),
        ("Task", {"description": None, "prompt": "look around"}, "Task: look around"),
        ("Write", {"file_path": 7}, "Write: 7"),
        ("Write", None, "Write"),
        ("bash", "ls -la", "Run: ls -la"),
        ("Bash", "", "Bash"),
        ("terraform", {"command": "apply"}, "terraform, which runs: apply"),
    ],
)
def test_a_call_is_described(name: str, input: dict[str, Any] | str | None, line: str) -> None:
    assert describe_tool_call(name, input) == line


def test_the_input_may_be_left_out() -> None:
    assert describe_tool_call("Bash") == "Bash"


@every_row(
    ("text", "kept"), [("a" * 101, 100), ("😀" * 51, 50), ("a" + "😀" * 50, 50), ("a" * 99 + "😀", 99), ("é" * 100, 100)]
)
def test_a_command_is_cut_after_100_units_but_not_inside_a_character(text: str, kept: int) -> None:
    assert describe_tool_call("Bash", {"command": text}) == "Run: " + text[:kept]


@given(st.text())
def test_no_description_is_longer_than_its_measure(text: str) -> None:
    shown = describe_tool_call("Task", {"description": text}).removeprefix("Task: ")
    assert len(shown.encode("utf-16-le", "surrogatepass")) <= 100
    assert text.startswith(shown) or not text
