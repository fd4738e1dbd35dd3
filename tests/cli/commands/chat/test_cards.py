"""Which card is selected, and when a press counts."""

from __future__ import annotations

import io

from trunkline.cli.commands.chat.cards import CARD_LINES, PAUSE_S, Ask, Cards, left_words, print_card
from trunkline.cli.terminal.card import REST_S
from trunkline.cli.terminal.screen import Screen
from trunkline.client import ApprovalView, QuestionView


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def asks(*ids: str) -> list[Ask]:
    return [Ask(each, approval=ApprovalView(request_id=each)) for each in ids]


def cards(*ids: str) -> tuple[Cards, Clock]:
    clock = Clock()
    made = Cards(clock)
    made.renew(asks(*ids))
    made.see()
    return made, clock


def test_a_press_counts_only_when_the_card_has_been_seen_for_its_rest() -> None:
    made, clock = cards("one")
    assert made.rests() == "this has only just appeared"
    clock.now += REST_S - 0.01
    assert made.rests()
    clock.now += 0.01
    assert made.rests() == ""


def test_letters_after_a_refused_press_decide_nothing_until_nobody_types() -> None:
    made, clock = cards("one")
    clock.now += REST_S
    made.typed()
    for _ in range(50):  # a key that is held down
        clock.now += 0.03
        assert made.rests() == "you were typing"
        made.typed()
    clock.now += PAUSE_S
    assert made.rests() == ""


def test_the_card_that_takes_the_place_of_a_decided_one_has_its_own_rest() -> None:
    made, clock = cards("one", "two")
    clock.now += REST_S
    assert made.rests() == ""
    made.renew(asks("two"))
    made.see()
    assert made.selected is not None and made.selected.id == "two"
    assert made.rests()


def test_a_card_that_is_not_on_the_screen_is_not_decided() -> None:
    made, clock = cards("one")
    clock.now += REST_S
    made.hide()
    clock.now += REST_S
    assert made.rests()


def test_the_selection_stays_with_its_ask_when_others_come_and_go() -> None:
    made, clock = cards("one", "two", "three")
    made.step(1)
    assert made.place == "2 of 3"
    clock.now += REST_S
    new = made.renew(asks("two", "three", "four"))
    assert [ask.id for ask in new] == ["four"]
    assert made.selected is not None and made.selected.id == "two"
    assert made.rests() == "", "it did not move to another ask, so its rest is over"
    made.step(-1)
    assert made.selected.id == "two", "there is none before it"
    made.renew([])
    assert made.selected is None


def test_a_card_shows_every_act_with_its_risk_and_doubts_and_nothing_that_a_terminal_obeys() -> None:
    out = io.StringIO()
    approval = ApprovalView(request_id="r", description="Run: x", risk_level="high", risk_reason="deletes", doubts=["a variable"],
                            preview={"type": "command", "command": "echo \x1b[2J\u202eevil"},
                            acts=[{"type": "diff", "diff": "@@ -1 +1 @@\n-a\n+b"}])
    print_card(Screen(out, terminal=True, colour=False), Ask("r", approval=approval))
    text = out.getvalue()
    for part in ("Run: x", "high risk: deletes", "not sure: a variable", "-a", "+b"):
        assert part in text
    assert "\x1b" not in text and "\u202e" not in text
    assert "[U+202E]" in text, "what is hidden in a command is shown"


def test_a_long_act_is_cut_and_says_so_until_all_of_it_is_asked_for() -> None:
    approval = ApprovalView(request_id="r", preview={"command": "\n".join(f"echo {n}" for n in range(CARD_LINES + 7))})
    short, whole = io.StringIO(), io.StringIO()
    print_card(Screen(short), Ask("r", approval=approval))
    print_card(Screen(whole), Ask("r", approval=approval), whole=True)
    assert "7 more lines" in short.getvalue() and f"echo {CARD_LINES + 6}" not in short.getvalue()
    assert f"echo {CARD_LINES + 6}" in whole.getvalue()


def test_nothing_in_a_command_or_a_diff_is_hidden_or_made_a_line_of_its_own() -> None:
    out = io.StringIO()
    command = "touch a\x1b]0;; touch b\x07 c\u3164d\u200b\r# x\u2028y\x0cz"
    approval = ApprovalView(request_id="r", description=f"Run: {command}", preview={"command": command},
                            acts=[{"diff": "@@ -1 +1,2 @@\n x\r\n+kept\x0c-gone\u2029-gone"}])
    print_card(Screen(out, terminal=True, colour=False), Ask("r", approval=approval))
    seen = "touch a␛]0;; touch b␇ c[U+3164]d[U+200B][U+000D]# x[U+2028]y␌z"
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert lines == [f"? Run: {seen}", "unknown risk", seen, "@@ -1 +1,2 @@", "x", "+kept␌-gone[U+2029]-gone"]


def test_a_question_is_shown_with_its_address() -> None:
    out = io.StringIO()
    print_card(Screen(out), Ask("q", question=QuestionView(question_id="q", question="Which?", url="https://example.com/x")))
    assert "Which?" in out.getvalue() and "https://example.com/x" in out.getvalue()


def test_the_time_that_is_left_is_minutes_and_seconds() -> None:
    assert left_words("2026-01-01T00:10:00+00:00", 1767225600.0) == "10:00"
    assert left_words("2026-01-01T00:00:00+00:00", 1767225661.0) == "0:00"
    assert left_words("", 0.0) == left_words("soon", 0.0) == ""


def test_a_card_has_the_agents_own_words_where_a_command_runs_and_paths_from_the_sessions_folder() -> None:
    out = io.StringIO()
    approval = ApprovalView(request_id="r", tool_name="write", title="Write a and commit it", description="Write: /w/a",
                            preview={"type": "diff", "path": "/w/a", "diff": "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-a\n+b"},
                            acts=[{"type": "command", "command": "git commit", "workingDir": "/w/sub"}])
    print_card(Screen(out), Ask("r", approval=approval), root="/w")
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert lines == ["? Write: /w/a", "The agent says: “Write a and commit it”", "unknown risk", "--- a/a", "+++ b/a",
                     "@@ -1 +1 @@", "-a", "+b", "git commit", "Runs in /w/sub"]


def test_what_of_the_input_no_act_shows_is_on_the_card() -> None:
    out = io.StringIO()
    approval = ApprovalView(request_id="r", description="Run: make", preview={"type": "command", "command": "make"},
                            tool_input={"command": "make", "cwd": "/tmp", "after": {"run": "touch\u200b x"}})
    assert print_card(Screen(out), Ask("r", approval=approval))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert lines[2:] == ["make", "in its input:", "cwd: /tmp", "after.run: touch[U+200B] x"]
    many = ApprovalView(request_id="r", tool_input={f"m{number}": number for number in range(CARD_LINES)})
    assert not print_card(Screen(out), Ask("r", approval=many)), "not all of it is shown"
    assert print_card(Screen(out), Ask("r", approval=many), whole=True)


def test_a_question_cannot_be_drawn_as_a_permission() -> None:
    out = io.StringIO()
    print_card(Screen(out), Ask("q", question=QuestionView(question_id="q", question="? Run: ls\n    low risk", url="https://x\ny")))
    assert out.getvalue().splitlines() == ["  ? a question:", "    | ? Run: ls", "    |     low risk", "    about this address:",
                                           "    | https://x ⏎ y"]
