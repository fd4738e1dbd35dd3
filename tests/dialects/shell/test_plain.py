"""Plain lines are read without a grammar, and exactly as the grammar reads them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trunkline.dialects.shell import ParsedLine
from trunkline.dialects.shell.plain import plain_line
from trunkline.dialects.shell.reader import LineReader
from trunkline.dialects.shell.simple import Place

LABELLED = Path(__file__).parent.parent / "risk" / "commands.toml"
WORDS = """
ls rm a.b -rf x=1 A=1 A= A="x $y" 'q' "d" "$x y" $A $A/b a$B 2 > 2> >> < 2>&1 >&2 f /tmp/x ~ ~/x ; && || | & sh env sudo time
if in done for export do xargs 7z -- - + ^ % @ a@b 1 12 a:b cd eval . .. nohup -c "" '' = == a= $1 { } ! ( ) [ * #x watch
"""
PIECES = [*WORDS.split(), "\n", "  ", "\t", "sh -c 'ls; rm x'", "find . -exec rm {} +", '"a b"c', "$IFS", "sudo -u x ls"]


def read(line: str, *, by_grammar: bool) -> ParsedLine:
    reader = LineReader()
    with patch("trunkline.dialects.shell.reader.plain_line", (lambda text: None) if by_grammar else plain_line):
        reader.read(line, Place())
    return reader.line()


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9), st.sampled_from([" ", " ", " ", ""]))
def test_any_line_is_read_the_same_with_and_without_the_grammar(pieces: list[str], between: str) -> None:
    line = between.join(pieces)
    assert read(line, by_grammar=False) == read(line, by_grammar=True)


def strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
            for text in strings_in(part)]


def test_every_labelled_command_is_read_the_same_and_most_need_no_grammar() -> None:
    lines = strings_in(tomllib.loads(LABELLED.read_text("utf-8")))
    assert [line for line in lines if read(line, by_grammar=False) != read(line, by_grammar=True)] == []
    assert sum(plain_line(line) is not None for line in lines) > len(lines) / 2


@pytest.mark.parametrize("line", [
    "ls $(rm x)", "ls `rm x`", 'echo "$(rm x)"', "ls \\\nrm", "if ls; then rm x; fi", "(rm x)", "{ rm x; }", "export A=1",
    "f() { x; }", "! ls", "ls *", "ls &&", "| ls", "a;; b", "<(rm)", "cat <<E\nx\nE", "échô", "x=(rm)", "ls ${A}", "ls>f",
    "ls # rm", "$A x", "-",
])
def test_what_is_not_plain_is_left_to_the_grammar(line: str) -> None:
    assert plain_line(line) is None
