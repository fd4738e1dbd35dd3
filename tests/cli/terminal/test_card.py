"""A permission on a terminal: what is shown of it, and when it can be approved."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.terminal.test_screen import Out
from trunkline.cli.terminal.card import PREVIEW_LINES, REST_S, ApprovalCard, approval_lines
from trunkline.cli.terminal.screen import Screen, in_rows

ROWS = 24


class Clock:
    """A time that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """A card on a screen of ROWS rows, where it was just written."""

    def __init__(self, packet: dict[str, Any]) -> None:
        self.out, self.clock = Out(), Clock()
        self.screen = Screen(self.out, terminal=True, colour=False)
        self.card = ApprovalCard(self.screen, packet, self.clock)
        self.card.print()

    def shown(self) -> str:
        """What was written since the last time."""
        text = self.out.getvalue()
        self.out.seek(0)
        self.out.truncate()
        return text

    def page_through(self) -> None:
        """Somebody looks at all of it."""
        for page in self.card.pages():
            for line in page:
                line.print(self.screen)
        self.card.was_paged()


def permission(lines: int) -> dict[str, Any]:
    command = "\n".join(f"echo {number}" for number in range(lines))
    return {"type": "approval_requested", "requestId": "r", "description": "Run: echo", "riskLevel": "low",
            "preview": {"type": "command", "command": command},
            "options": [{"optionId": "a", "name": "Do it", "kind": "allow_once"}]}


@pytest.fixture(autouse=True)
def small_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", str(ROWS))
    monkeypatch.setenv("COLUMNS", "80")


def test_it_can_be_approved_when_it_has_stood_for_a_second() -> None:
    stage = Stage(permission(3))
    stage.clock.now += REST_S - 0.01
    assert "only just appeared" in stage.card.rests()
    stage.clock.now += 0.01
    assert stage.card.rests() == ""


def test_its_rest_begins_anew_where_it_is_written_anew() -> None:
    stage = Stage(permission(3))
    stage.clock.now += REST_S
    stage.card.print()
    assert "only just appeared" in stage.card.rests()


def test_it_is_written_again_only_where_notes_have_pushed_it_out() -> None:
    stage = Stage(permission(10))  # 12 rows, with its line and its option
    for _ in range(ROWS - 2 - 12):
        stage.screen.line("that is none of the answers")
    stage.shown()
    stage.card.stay()
    assert stage.shown() == ""
    stage.screen.line("that is none of the answers")
    stage.card.stay()
    assert "echo 9" in stage.shown()


def test_a_window_that_changed_counts_as_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(permission(3))
    stage.clock.now += REST_S
    monkeypatch.setenv("LINES", "4")
    assert "window has changed" in stage.card.rests()
    stage.card.stay()
    stage.clock.now += REST_S
    assert "v shows the rest" in stage.card.rests()


def test_lines_that_were_left_out_must_be_shown_before_it_can_be_approved() -> None:
    stage = Stage(permission(PREVIEW_LINES + 1))
    stage.clock.now += REST_S
    assert f"echo {PREVIEW_LINES}" not in stage.out.getvalue() and "… 1 more lines" in stage.out.getvalue()
    assert "v shows the rest" in stage.card.rests() and "[v]iew all" in stage.card.prompt
    stage.page_through()
    assert f"echo {PREVIEW_LINES}" in stage.out.getvalue() and "[v]iew all" not in stage.card.prompt
    stage.clock.now += REST_S
    assert stage.card.rests() == ""
    stage.shown()
    stage.card.stay()
    assert stage.shown() == "", "what somebody looked through is not written again"


@pytest.mark.parametrize("character", ["x", "漢", "\t", "é", "…", "\u4dc0"])
def test_a_line_that_fills_the_window_is_looked_through_in_pages_that_fit(character: str) -> None:
    packet = {**permission(1), "preview": {"command": "touch a; echo " + character * 2_000}}
    stage = Stage(packet)
    stage.clock.now += REST_S
    assert "v shows the rest" in stage.card.rests()
    pages = stage.card.pages()
    assert len(pages) > 1
    for page in pages:
        assert sum(stage.screen.rows_of(line.indent + line.text) for line in page) <= ROWS - 2
    assert "".join(line.text for page in pages for line in page).count(character) >= 2_000


def test_a_carriage_return_in_a_command_is_shown() -> None:
    texts = [line.text for line in approval_lines({"preview": {"command": "cd build\r\ntouch a"}})]
    assert texts[1:] == ["cd build[U+000D]", "touch a"]
    assert [line.text for line in approval_lines({"preview": {"diff": "+a\r\n+b"}})][1:] == ["+a", "+b"]


def test_pages_that_were_made_for_another_window_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(permission(PREVIEW_LINES + 1))
    pages = stage.card.pages()
    monkeypatch.setenv("LINES", "6")
    assert pages
    stage.card.was_paged()
    stage.clock.now += REST_S
    assert not stage.card.is_whole and stage.card.rests() != ""


def test_what_others_wrote_below_it_counts_at_once() -> None:
    stage = Stage(permission(3))
    stage.clock.now += REST_S
    for _ in range(ROWS):
        stage.screen.line("denied by policy")
    assert "written below it" in stage.card.rests()


def test_options_count_too() -> None:
    many = [{"optionId": str(number), "name": f"Option {number}"} for number in range(ROWS)]
    stage = Stage({**permission(1), "options": many})
    stage.clock.now += REST_S
    assert "v shows the rest" in stage.card.rests()


def test_nothing_is_hidden_in_the_name_of_an_option() -> None:
    named = [{"optionId": "a", "name": "Do\u2800it\u202e"}]
    assert "1  Do[U+2800]it[U+202E]" in Stage({**permission(1), "options": named}).shown()


def test_every_act_of_it_counts() -> None:
    long = {"type": "diff", "diff": "\n".join(f"+{number}" for number in range(PREVIEW_LINES + 5))}
    packet = {**permission(1), "_meta": {"acts": [long]}}
    assert not Stage(packet).card.is_whole
    assert [line.text for line in approval_lines(packet, whole=True)][-1] == f"+{PREVIEW_LINES + 4}"


@given(st.text(st.sampled_from("ab漢字\té…"), max_size=200), st.integers(1, 30))
def test_rows_of_a_line_are_all_of_it_and_none_is_too_wide(text: str, columns: int) -> None:
    rows = in_rows(text, columns)
    assert "".join(rows) == text
    assert all(len(row) <= columns for row in rows if len(row) > 1)
    assert all(len(in_rows(row, columns)) == 1 for row in rows)
