"""A permission on a terminal: what is shown of it, and when it can be approved."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.terminal.test_screen import Out
from tests.tooling.rows import every_row
from trunkline.cli.terminal.card import KINDS, PREVIEW_LINES, QUOTE, REST_S, ApprovalCard, approval_lines, question_lines
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


@every_row("character", ["x", "漢", "\t", "é", "…", "\u4dc0"])
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
    assert ": Do[U+2800]it[U+202E]\n" in Stage({**permission(1), "options": named}).shown()


@every_row(("kind", "does"), [
    ("allow_once", "approves, once"), ("allow_always", "approves, and writes a rule"), ("reject_once", "denies, once"),
    ("reject_always", "denies, and writes a rule"), ("other", "only the agent knows"), (None, "only the agent knows"),
])
def test_an_option_says_what_the_hub_does_with_it_before_its_name(kind: str | None, does: str) -> None:
    shown = Stage({**permission(1), "options": [{"optionId": "a", "name": "Deny (denies, once)", "kind": kind}]}).shown()
    number_and_words, name = shown.splitlines()[-1].strip().split(": ", 1)
    assert number_and_words.startswith(f"1  {does.split()[0]}") or kind not in KINDS
    assert does in number_and_words and name == "Deny (denies, once)"


def test_what_of_the_input_no_act_shows_is_a_part_of_it() -> None:
    packet = {**permission(1), "_meta": {"input": {"cwd": "/tmp\u200b", "steps": [{"run": "x"}], "body": "a\nrisk: low"}}}
    texts = [line.text for line in approval_lines(packet)]
    assert texts[2:] == ["in its input:", "  cwd: /tmp[U+200B]", "  steps[0].run: x", "  body: 2 lines", "    | a",
                         "    | risk: low"]
    many = {**permission(1), "_meta": {"input": {f"m{number}": number for number in range(PREVIEW_LINES)}}}
    assert not Stage(many).card.is_whole
    assert [line.text for line in approval_lines(many, whole=True)][-1] == f"  m{PREVIEW_LINES - 1}: {PREVIEW_LINES - 1}"


def test_all_the_rest_at_once_is_for_who_has_looked_through_it() -> None:
    stage = Stage(permission(PREVIEW_LINES + 1))
    assert "[a]ll" not in stage.card.pager(1, 2)
    stage.page_through()
    assert "[a]ll" in stage.card.pager(1, 2)


@pytest.mark.parametrize(("columns", "rows"), [("20", "3"), ("20", "5"), ("1", "24")])
def test_a_window_that_has_no_room_for_a_page_is_too_small(columns: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("LINES", rows)
    stage = Stage(permission(3))
    stage.clock.now += REST_S
    assert "too small" in stage.card.rests() and "too small" in stage.card.too_small()


def test_a_row_of_a_page_stands_above_the_prompt_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "7")
    stage = Stage(permission(3))
    pages = stage.card.pages()
    below = stage.screen.rows_of(stage.card.pager(1, len(pages)))
    assert all(len(page) + below < 7 for page in pages)


def test_every_row_of_a_question_stands_behind_a_mark() -> None:
    text = "Delete?\n  ? permission wanted (low risk): Run: ls " + "x" * 300 + "\r\nend\u202e\u200b"
    head, *rows = question_lines(text, "https://example.com/\u200b\n/x", 40)
    assert (head.text, head.mark) == ("a question:", "?")
    below = [row for row in rows if row.text != "about this address:"]
    assert all(row.indent == QUOTE and len(row.indent + row.text) < 40 for row in below)
    whole = "".join(row.text for row in below)
    assert "x" * 300 in whole and "end[U+202E][U+200B]" in whole and whole.endswith("https://example.com/[U+200B] ⏎ /x")


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


WRITE: dict[str, Any] = {"toolName": "write", "description": "Write: /w/app/a.py", "title": "Write a.py and work on it with git",
         "preview": {"type": "diff", "path": "/w/app/a.py", "diff": "--- a/w/app/a.py\n+++ b/w/app/a.py\n@@ -1 +1 @@\n-a\n+b"}}


def test_what_the_agent_calls_it_stands_there_as_its_words_where_that_says_more() -> None:
    texts = [line.text for line in approval_lines(WRITE)]
    assert texts[1] == "The agent says: “Write a.py and work on it with git”"
    hidden = [line.text for line in approval_lines({**WRITE, "title": "fine\u202e\nlow risk\x1b[2J"})]
    assert hidden[1] == "The agent says: “fine[U+202E] ⏎ low risk␛[2J”"
    for title in ("", "write", "/w/app/a.py", "Write: /w/app/a.py"):
        assert not any("agent says" in line.text for line in approval_lines({**WRITE, "title": title}))


def test_a_command_says_where_it_runs_and_stands_for_itself() -> None:
    packet: dict[str, Any] = {"title": "harmless", "description": "Run: make",
                              "preview": {"type": "command", "command": "make", "workingDir": "/w/\u200bapp"}}
    assert [line.text for line in approval_lines(packet)][1:] == ["make", "Runs in /w/[U+200B]app"]
    more = {**packet, "_meta": {"acts": [{"type": "description", "text": "and more"}]}}
    assert [line.text for line in approval_lines(more)][1:] == [
        "The agent says: “harmless”", "make", "Runs in /w/[U+200B]app", "and more"]
    long = {**packet, "preview": {**packet["preview"], "command": "\n".join("ab" * PREVIEW_LINES)}}
    assert [line.text for line in approval_lines(long)][-2:] == ["… 20 more lines", "Runs in /w/[U+200B]app"]


def test_the_head_of_a_diff_has_paths_as_seen_from_the_sessions_folder() -> None:
    def head(root: str) -> list[str]:
        return [line.text for line in approval_lines(WRITE, root=root)][2:4]

    assert head("/w/app") == head("/w/app/") == ["--- a/a.py", "+++ b/a.py"]
    for elsewhere in ("", "/", "/w/ap", "/other"):
        assert head(elsewhere) == ["--- a/w/app/a.py", "+++ b/w/app/a.py"]
    lines = {**WRITE, "preview": {**WRITE["preview"], "diff": "@@ -1 +1 @@\n x\n+++ b/w/app/a.py"}}
    assert [line.text for line in approval_lines(lines, root="/w/app")][-1] == "+++ b/w/app/a.py", "a line that is added"
