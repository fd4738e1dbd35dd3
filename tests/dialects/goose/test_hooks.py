"""goose's hooks, by recorded calls: what each asks, and what each answer is to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given as examples

from tests.tooling.rows import every_row
from trunkline.dialects.elsewhere.hooks import HookCall, InPlugin, hook_dialect
from trunkline.dialects.goose.hooks import HOOKS

DATA = Path(__file__).parents[2] / "data" / "terminal" / "hooks-goose-1.52.0.jsonl"
CALLS = [(each["event"], each["stdin"]) for each in map(json.loads, DATA.read_text().splitlines())]
DOES = {"PreToolUse": "checks", "PostToolUse": "goes_on", "UserPromptSubmit": "goes_on", "Stop": "goes_on"}


@every_row(("event", "given"), CALLS)
def test_recorded_calls_are_read(event: str, given: dict[str, Any]) -> None:
    read = HOOKS.read(json.dumps(given).encode())
    if event not in DOES:
        assert read is None
        return
    assert read is not None and (read.does, read.session_id) == (DOES[event], "20261116_1")
    if event == "PreToolUse":
        assert (read.tool, read.given, read.cwd) == ("shell", {"command": "touch a1"}, "/home/dev/project")


@every_row("body", [b"", b"{}", b"[]", b"null", b"\xff", b"{" * 5000, b'{"session_id":1,"event":"Stop"}',
                    b'{"session_id":"s","event":"PreToolUse"}', b'{"session_id":"s","hook_event_name":"PreToolUse"}',
                    b'{"session_id":"s","event":"PreToolUse","tool_name":"x","tool_input":"y"}'])
def test_what_is_no_call_is_none(body: bytes) -> None:
    assert HOOKS.read(body) is None


@examples(st.dictionaries(st.sampled_from(["session_id", "event", "tool_name", "tool_input", "working_dir"]),
                          st.text(max_size=5) | st.integers() | st.none() | st.just("PreToolUse") | st.just({"command": "x"})))
def test_whatever_comes_is_read_or_is_none(body: dict[str, Any]) -> None:
    read = HOOKS.read(json.dumps(body).encode())
    assert read is None or isinstance(read, HookCall)


def test_a_denial_is_the_only_answer() -> None:
    call = HookCall(does="checks", session_id="s", cwd="/w", tool="shell", given={"command": "touch a1"})
    assert json.loads(HOOKS.decided(call, "reject", "use b", None)) == {"decision": "block", "reason": "use b"}
    for option in ("allow", "allow_always", None, "", "yes"):
        assert HOOKS.decided(call, option, "why", None) == b""
    assert HOOKS.answered(call, "accept", b"{}") == b""


def test_it_is_a_plugin_and_only_the_check_is_waited_for() -> None:
    assert hook_dialect("goose") is HOOKS and isinstance(HOOKS, InPlugin)
    entries = HOOKS.entries(lambda kind: f"run {kind}")
    commands = {event: entry["hooks"][0]["command"] for event, entry in entries.items()}
    assert commands == {"PreToolUse": "run check", **dict.fromkeys(("PostToolUse", "UserPromptSubmit", "Stop"), "run report")}
