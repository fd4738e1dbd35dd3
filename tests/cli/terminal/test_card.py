"""A permission on a terminal: what is shown of it, and when it can be approved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.terminal.test_screen import Out
from trunkline.cli.terminal.card import PREVIEW_LINES, REST_S, ApprovalCard, approval_lines
from trunkline.cli.terminal.screen import Screen

ROWS = 24


class Clock:
    """A time that stands until somebody moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """A card on a screen of ROWS rows, where it was just shown."""

    def __init__(self, lines: int) -> None:
        self.out, self.clock = Out(), Clock()
        self.screen = Screen(self.out, terminal=True, colour=False)
        packet = permission(lines)
        for line in approval_lines(packet):
            line.print(self.screen)
        self.card = ApprovalCard(self.screen, packet, self.clock)

    def write(self, lines: int) -> None:
        """Something else is written below."""
        for number in range(lines):
            self.screen.line(f"other {number}")

    def shown(self) -> str:
        """What was written since the last time."""
        text = self.out.getvalue()
        self.out.seek(0)
        self.out.truncate()
        return text


def permission(lines: int) -> dict[str, Any]:
    command = "\n".join(f"echo {number}" for number in range(lines))
    return {"type": "approval_requested", "requestId": "r", "description": "Run: echo", "riskLevel": "low",
            "preview": {"type": "command", "command": command},
            "options": [{"optionId": "a", "name": "Do it", "kind": "allow_once"}]}


@pytest.fixture(autouse=True)
def small_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", str(ROWS))
    monkeypatch.setenv("COLUMNS", "80")


def test_it_rests_from_when_it_is_asked_for_and_not_from_when_it_came() -> None:
    stage = Stage(1)
    stage.clock.now += REST_S
    assert "only just appeared" in stage.card.rests()
    stage.card.bring_up()
    stage.clock.now += REST_S - 0.01
    assert "only just appeared" in stage.card.rests()
    stage.clock.now += 0.01
    assert stage.card.rests() == ""


def test_what_was_just_shown_is_not_shown_twice_and_what_lies_behind_is() -> None:
    stage = Stage(2)
    stage.shown()
    stage.card.bring_up()
    assert stage.shown().split("\n") == ["    1  Do it", ""]
    later = Stage(2)
    later.write(1)
    later.shown()
    later.card.bring_up()
    assert later.shown().startswith("  ? permission wanted (low risk): Run: echo\n    echo 0\n    echo 1\n    1  Do it\n")


def test_what_has_left_the_screen_cannot_be_approved_until_it_was_there_again() -> None:
    stage = Stage(3)
    stage.card.bring_up()
    stage.clock.now += REST_S
    stage.write(ROWS - 8)
    assert stage.card.rests() == ""
    stage.write(1)
    assert "written below it" in stage.card.rests()
    stage.shown()
    stage.card.stay()
    assert "echo 2" in stage.shown() and "only just appeared" in stage.card.rests()
    stage.clock.now += REST_S
    assert stage.card.rests() == ""


def test_streamed_text_pushes_it_out_of_sight_too() -> None:
    stage = Stage(3)
    stage.card.bring_up()
    stage.clock.now += REST_S
    stage.screen.stream("a line\n" * ROWS)
    assert "written below it" in stage.card.rests()


def test_lines_that_were_left_out_must_be_shown_before_it_can_be_approved() -> None:
    stage = Stage(PREVIEW_LINES + 1)
    stage.card.bring_up()
    stage.clock.now += REST_S
    assert f"echo {PREVIEW_LINES}" not in stage.out.getvalue() and "… 1 more lines" in stage.out.getvalue()
    assert "v shows the rest" in stage.card.rests()
    stage.card.print_whole()
    assert f"echo {PREVIEW_LINES}" in stage.out.getvalue()
    stage.clock.now += REST_S
    assert stage.card.rests() == "", "longer than the screen, but nothing was written below"


def test_every_act_of_it_counts() -> None:
    long = {"type": "diff", "diff": "\n".join(f"+{number}" for number in range(PREVIEW_LINES + 5))}
    packet = {**permission(1), "_meta": {"acts": [long]}}
    assert not ApprovalCard(Screen(Out(), terminal=True), packet).is_whole
    assert [line.text for line in approval_lines(packet, whole=True)][-1] == f"+{PREVIEW_LINES + 4}"
