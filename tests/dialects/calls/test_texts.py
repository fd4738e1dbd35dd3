"""Command lines within a text that is none itself."""

from __future__ import annotations

import time

from tests.tooling.rows import every_row
from trunkline.dialects.calls.texts import LINES, lines_in


@every_row(("text", "line"), [
    ('{"cmd":"make all"}', "make all"), ('{"a":{"b":["make","all"]}}', "make all"), ('["make","all",1]', "make all 1"),
    ('{"program":"make","args":["all"]}', "make all"), ('{"cmd":"make\\u0020all"}', "make all"), ("post=make all", "make all"),
    ("a=b,post=make all,c", "make all"), ("on: {exec: make all}", "make all"), ("<run>make all</run>", "make all"),
    ("x:=make all", "make all"), ("hooks[post]=make all", "make all"), ("http://x/?cmd=make all", "make all"),
    ("os.exec(['make','all'])", "make all"), ('exec ["make" "all"]', "make all"), ("run 'make all' now", "make all"),
    ('cmd="make" all', '"make" all'),
])
def test_a_line_is_found_in_json_settings_lists_and_tags(text: str, line: str) -> None:
    assert line in list(lines_in(text))


@every_row("text", ["make all", "src/a.py", "", "a message", "--name"])
def test_a_text_that_can_hold_none_gives_none(text: str) -> None:
    assert list(lines_in(text)) == []


@every_row("text", ["{" * 4000, "[" * 4000, '["a",' * 1000, "'" * 4001, '"' * 4001, "a=" * 2000, "=" * 4000,
                    "'a' " * 1000, "<" * 4000, '("a" ' * 900, "a: " * 1300, '{"a":' * 800, "[\"" + "a" * 4000])
def test_a_hostile_text_is_looked_through_quickly_and_gives_so_many_lines(text: str) -> None:
    began = time.thread_time()
    assert len(list(lines_in(text))) <= LINES
    assert time.thread_time() - began < 0.2
