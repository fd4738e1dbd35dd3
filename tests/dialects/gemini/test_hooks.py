"""Gemini CLI's hooks, by recorded calls: what each asks, what each answer is to it, and which screens ask about a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given as examples

from tests.tooling.rows import every_row
from trunkline.dialects.elsewhere.hooks import HookCall, ShowsPrompt, hook_dialect
from trunkline.dialects.gemini.hooks import HOOKS, LIMIT_MS

DATA = Path(__file__).parents[2] / "data" / "terminal"
LINES = (DATA / "hooks-gemini-0.61.0.jsonl").read_text().splitlines()
CALLS = [(each["event"], each["stdin"]) for each in map(json.loads, LINES)]
DOES = {"BeforeTool": "checks", "Notification": "asks_there", "AfterTool": "goes_on", "BeforeAgent": "goes_on",
        "AfterAgent": "goes_on", "SessionEnd": "goes_on"}
WIDTH = 60


def asked(command: str = "touch a1", tool: str = "run_shell_command") -> HookCall:
    return HookCall(does="asks_there", session_id="s", cwd="/w", tool=tool, given={"command": command})


def screen(*boxed: str, question: str = "Allow execution of [Shell]?", marked: int = 1) -> str:
    """What the CLI draws."""
    def row(text: str = "") -> str:
        return f"│ {text:{WIDTH}} │"

    choices = ("Allow once", "Allow for this session", "No, suggest changes (esc)")
    rows = [" > please", "✦ I will use a tool.", f"╭{'─' * (WIDTH + 2)}╮", row("? Shell  the first words"),
            row(f"╭{'─' * (WIDTH - 2)}╮"), *(row(f"│ {line:{WIDTH - 4}} │") for line in boxed), row(f"╰{'─' * (WIDTH - 2)}╯"),
            row(question), row(),
            *(row(f"{'●' if number == marked else ' '} {number}. {text}") for number, text in enumerate(choices, 1)),
            f"╰{'─' * (WIDTH + 2)}╯", "", " workspace (/directory)"]
    return "\n".join(rows) + "\n"


@every_row(("event", "given"), CALLS)
def test_recorded_calls_are_read(event: str, given: dict[str, Any]) -> None:
    read = HOOKS.read(json.dumps(given).encode())
    if event not in DOES:
        assert read is None
        return
    assert read is not None and (read.does, read.session_id, read.cwd) == (DOES[event], given["session_id"], given["cwd"])
    assert read.ran is (event == "AfterTool")
    if event in ("BeforeTool", "Notification", "AfterTool"):
        assert (read.tool, read.given) == ("run_shell_command", {"command": "touch a1"})


@every_row(("details", "tool", "given"), [
    ({"type": "edit", "filePath": "/w/a", "newContent": "x"}, "write_file", {"file_path": "/w/a", "content": "x"}),
    ({"type": "mcp", "serverName": "s", "toolName": "t"}, "mcp_s_t", {}),
    ({"type": "info", "title": "Confirm Web Fetch"}, "Confirm Web Fetch", {}), ({"type": "exec"}, "tool", {}), (None, "tool", {}),
    ({"type": 1, "title": 2}, "tool", {})])
def test_prompts_of_other_kinds_say_what_they_are_about(details: Any, tool: str, given: dict[str, Any]) -> None:
    body = {"session_id": "s", "hook_event_name": "Notification", "notification_type": "ToolPermission", "details": details}
    read = HOOKS.read(json.dumps(body).encode())
    assert read is not None and (read.does, read.tool, read.given) == ("asks_there", tool, given)


@every_row("body", [b"", b"{}", b"[]", b"null", b"\xff", b"{" * 5000, b'{"session_id":1,"hook_event_name":"AfterTool"}',
                    b'{"session_id":"s","hook_event_name":"BeforeTool"}',
                    b'{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"x","tool_input":"y"}',
                    b'{"session_id":"s","hook_event_name":"Notification","notification_type":"Other"}'])
def test_what_is_no_call_is_none(body: bytes) -> None:
    assert HOOKS.read(body) is None


@examples(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["session_id", "hook_event_name", "details", "tool_input", "type", "command"]), inner,
        max_size=5), max_leaves=12).map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_is_read_or_is_none(body: bytes) -> None:
    assert HOOKS.read(body) is None or isinstance(HOOKS.read(body), HookCall)


def test_a_denial_is_the_only_answer() -> None:
    assert json.loads(HOOKS.decided(asked(), "reject", "use b", None)) == {"decision": "deny", "reason": "use b"}
    assert json.loads(HOOKS.decided(asked(), "reject", None, None))["reason"]
    for option in ("allow", "allow_always", None, "", "yes"):
        assert HOOKS.decided(asked(), option, "why", None) == b""
    assert HOOKS.answered(asked(), "accept", b"{}") == b""


def test_its_entries_are_in_milliseconds_and_only_the_check_is_waited_for() -> None:
    entries = HOOKS.entries(lambda kind: f"run {kind}")
    hooks = {event: entry["hooks"][0] for event, entry in entries.items()}
    assert {hook["timeout"] for hook in hooks.values()} == {LIMIT_MS} and LIMIT_MS >= 1000
    assert hooks["BeforeTool"]["command"] == "run check"
    assert {hook["command"] for event, hook in hooks.items() if event != "BeforeTool"} == {"run report"}
    assert set(hooks) == {"BeforeTool", "Notification", "AfterTool", "AfterAgent", "BeforeAgent", "SessionEnd"}


def test_hooks_of_others_are_seen() -> None:
    ours = {"hooks": {"BeforeTool": [{"hooks": [{"command": "ours"}]}]}}
    theirs = {"hooks": {"BeforeTool": [{"hooks": [{"command": "theirs"}]}]}}
    is_ours = "ours".__eq__
    assert not HOOKS.has_foreign(json.dumps(ours).encode(), is_ours) and not HOOKS.has_foreign(b" ", is_ours)
    assert HOOKS.has_foreign(json.dumps(theirs).encode(), is_ours) and HOOKS.has_foreign(b"[]", is_ours)
    assert HOOKS.has_foreign(b"// no JSON", is_ours)
    assert HOOKS.watched_files("/h/.gemini", "/w")[:2] == ["/h/.gemini/settings.json", "/w/.gemini/settings.json"]


def test_the_prompt_of_a_command_is_recognised_with_exactly_that_command() -> None:
    assert hook_dialect("gemini") is HOOKS and isinstance(HOOKS, ShowsPrompt)
    assert HOOKS.is_shown(screen("touch a1"), asked())
    long = "echo " + "x" * 100
    assert HOOKS.is_shown(screen(long[:56], long[56:]), asked(long))
    assert HOOKS.is_shown(screen("touch a1", "touch a2"), asked("touch a1\ntouch a2\n"))


@every_row("shown", [
    "", "touch a1", screen("touch a1 && touch b"), screen("touch a"), screen("touch  a1"), screen("touch a1", "touch a2"),
    screen("touch a1", marked=2), screen("touch a1", question="Apply this change?"), screen("touch a1") * 2,
    screen(), screen("touch a1").replace("│ │ touch a1", "│ touch a1"), screen("touch a1").replace("●", "○")])
def test_any_other_screen_is_not(shown: str) -> None:
    assert not HOOKS.is_shown(shown, asked())


def test_other_tools_are_not_answered_by_keys() -> None:
    assert not HOOKS.is_shown(screen("touch a1"), asked(tool="write_file"))
    assert not HOOKS.is_shown(screen(""), HookCall(does="asks_there", session_id="s", cwd="/w", tool="run_shell_command"))
