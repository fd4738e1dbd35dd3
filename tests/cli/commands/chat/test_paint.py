"""Markdown and changes as a terminal shows them: laid out, and nothing in them that a terminal obeys."""

from __future__ import annotations

import pytest

from trunkline.cli.commands.chat.paint import WIDEST, Paint, changed_lines, colour_of, wants_colour


def test_markdown_is_laid_out_without_what_fills_lines_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    shown = Paint(colour=False).markdown("# Title\n\n" + "word " * 100)
    lines = shown.split("\n")
    assert "Title" in lines[0] and max(map(len, lines)) <= WIDEST + 20
    assert not any(line.endswith(" ") for line in lines)
    assert Paint(colour=False).markdown("  \n") == ""


def test_a_link_shows_where_it_leads_and_no_sequence_of_the_agents_is_left() -> None:
    shown = Paint(colour=True).markdown("[safe](https://evil.example/x) \x1b[2J \x1b]0;t\x07 &#27;[2J")
    assert "https://evil.example/x" in shown and "\x1b[2J" not in shown and "\x1b]" not in shown


def test_a_change_is_its_lines_with_a_colour_each() -> None:
    lines = list(changed_lines("a\nb\nc\n", "a\nB\nc\n"))
    assert lines == ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]
    assert [colour_of(line) for line in lines] == ["cyan", None, "red", "green", None]
    assert list(changed_lines("same", "same")) == []


@pytest.mark.parametrize(("env", "wanted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_who_wants_no_colours_has_none(monkeypatch: pytest.MonkeyPatch, env: dict[str, str], wanted: bool) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_colour() is wanted
