"""Packets above the line: text as Markdown, changes as diffs, output of commands."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from trunkline.cli.commands.chat import show
from trunkline.cli.commands.chat.paint import CHANGE_LINES, Paint, changed_lines
from trunkline.cli.commands.chat.show import DIFF_LINES, OUTPUT_LINES, ChatShow
from trunkline.cli.terminal.screen import Screen
from trunkline.dialects.context.types import ASKED_ANEW


def plain(text: str) -> str:
    """The words without their looks."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Shown:
    """A show and what it wrote."""

    def __init__(self, *, colour: bool = False) -> None:
        self._out = io.StringIO()
        self.show = ChatShow(Screen(self._out, terminal=True, colour=colour), Paint(colour=colour), root="/work")

    def __call__(self, **packet: Any) -> None:
        self.show.packet(packet)

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        self(type=kind, content={"type": "text", "text": text})

    @property
    def text(self) -> str:
        return self._out.getvalue()


def test_text_is_laid_out_as_markdown_when_a_block_is_finished() -> None:
    shown = Shown()
    shown.say("Some **bold** te")
    shown.show.settle()
    assert shown.text == ""
    assert "Some bold te" in plain(shown.show.growing())
    shown.say("xt.\n\nAnd")
    shown.show.settle()
    assert "Some bold text." in plain(shown.text) and "**" not in shown.text
    assert "And" not in shown.text and "And" in shown.show.growing()
    shown(type="prompt_response", stopReason="end_turn")
    assert "And" in shown.text
    assert shown.show.growing() == ""


def test_of_text_that_comes_faster_than_it_is_laid_out_the_rest_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "WAITING_CHARS", 40)
    shown = Shown()
    shown.say("first " * 10)
    shown.say("second")
    shown.show.end_text()
    shown.say("third")
    shown.show.end_text()
    assert plain(shown.text).split() == [*["first"] * 6, "firs", "…", "26", "more", "characters:", "the", "page", "shows", "them",
                                         "third"]


def test_a_very_long_line_of_a_change_is_cut_off() -> None:
    shown = Shown()
    change = {"type": "diff", "path": "/work/a", "oldText": "", "newText": "x" * 100_000}
    shown(type="tool_call_progress", toolCallId="c", status="completed", title="t", content=[change])
    assert 0 < len(shown.text) < 2 * show.LINE_CHARS and "…" in shown.text


def test_what_an_agent_writes_cannot_move_the_cursor_or_hide_where_a_link_leads() -> None:
    shown = Shown()
    shown.say("a \x1b[2J\x1b]0;title\x07b [safe.example](https://evil.example/x)\n\n")
    shown.show.end_text()
    assert "\x1b[2J" not in shown.text and "\x1b]" not in shown.text
    assert "https://evil.example/x" in shown.text


def test_markdown_has_no_names_for_what_turns_text_around() -> None:
    shown = Shown(colour=True)
    shown.say("**a** &#x202E;b&#8238; &#27;[2J `&#x2066;` \n\n")
    shown.show.end_text()
    assert not {"\u202e", "\u2066"} & set(shown.text)
    assert "\x1b[1ma" in shown.text and "\x1b[2J" not in shown.text


def test_an_ask_that_is_asked_anew_is_taken_back_and_not_denied() -> None:
    shown = Shown()
    shown(type="approval_resolved", approved=False, resolvedBy="policy", reason=ASKED_ANEW)
    assert shown.text.strip() == f"! taken back: {ASKED_ANEW}"


def test_thoughts_are_dim_and_apart_from_the_answer() -> None:
    shown = Shown(colour=True)
    shown.say("hmm", "agent_thought_chunk")
    shown.say("Yes.")
    shown.show.end_text()
    thought, answer = shown.text.index("hmm"), shown.text.index("Yes.")
    assert thought < answer
    assert "\x1b[2m" in shown.text[:thought]


def test_usage_in_the_middle_of_a_text_does_not_break_it() -> None:
    shown = Shown()
    shown.say("one ")
    shown(type="usage_update", used=1500, size=200000)
    shown.say("two")
    shown.show.end_text()
    assert "one two" in shown.text
    assert shown.show.usage == "context: 1.5k of 200.0k tokens"


def test_a_change_is_shown_as_a_coloured_diff() -> None:
    shown = Shown(colour=True)
    shown(type="tool_call_start", toolCallId="1", title="edit")
    shown(type="tool_call_progress", toolCallId="1", status="completed", kind="edit", title="a.py", rawInput={},
          content=[{"type": "diff", "path": "/w/a.py", "oldText": "a\nb\n", "newText": "a\nc\n"}])
    assert "\x1b[31m-b" in shown.text and "\x1b[32m+c" in shown.text


def test_a_long_change_and_a_long_output_are_cut_and_say_how_much_is_left_out() -> None:
    shown = Shown()
    new = "".join(f"{number}\n" for number in range(DIFF_LINES * 2))
    shown(type="tool_call_progress", toolCallId="1", status="completed", kind="edit", title="a.py", rawInput={},
          content=[{"type": "diff", "path": "a.py", "oldText": "", "newText": new}])
    assert "more lines" in shown.text and f"+{DIFF_LINES * 2 - 1}" not in shown.text
    shown(type="tool_call_progress", toolCallId="2", status="completed", kind="execute", title="make", rawInput={},
          rawOutput={"output": "".join(f"out {number}\n" for number in range(OUTPUT_LINES + 3))})
    assert "out 0" in shown.text and "… 3 more lines" in shown.text


def test_what_is_too_long_to_compare_is_told_by_its_size() -> None:
    old = "x\n" * (CHANGE_LINES + 1)
    assert list(changed_lines(old, "")) == [f"@@ {CHANGE_LINES + 1} lines before, 0 lines after @@"]


@pytest.mark.parametrize("kind", ["approval_requested", "question_requested", "tomorrow"])
def test_asks_are_left_to_the_cards_and_what_is_unknown_is_skipped(kind: str) -> None:
    shown = Shown()
    shown.say("text")
    shown(type=kind, description="Run: x")
    assert shown.text == "" or kind == "tomorrow"
    assert "Run: x" not in shown.text
