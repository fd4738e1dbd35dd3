"""Claude Code's hooks, by recorded calls: what each asks, and what each answer is to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.claude.hooks import HOOKS
from trunkline.dialects.elsewhere.hooks import HookCall, hook_dialect
from trunkline.dialects.signals import PermissionAsk, QuestionAsk

DATA = Path(__file__).parents[2] / "data" / "terminal"
CALLS = [(version, each["event"], each["stdin"]) for version in ("2.1.325", "2.1.112")
         for each in map(json.loads, (DATA / f"hooks-claude-{version}.jsonl").read_text().splitlines())]
REPORTED = {"UserPromptSubmit": "goes_on", "Stop": "goes_on", "Notification": "waits"}


def call(**more: Any) -> HookCall:
    return HookCall(**{"does": "asks", "session_id": "s", "cwd": "/w", "tool": "Bash", "given": {"command": "touch a1"}, **more})


def decision(text: bytes) -> Any:
    read = json.loads(text)["hookSpecificOutput"]
    assert read["hookEventName"] == "PermissionRequest"
    return read["decision"]


@every_row(("version", "event", "given"), CALLS)
def test_recorded_calls_are_read(version: str, event: str, given: dict[str, Any]) -> None:
    read = HOOKS.read(json.dumps(given).encode())
    name = given["hook_event_name"]
    if name == "PermissionRequest":
        assert read is not None and (read.does, read.tool, read.given) == ("asks", given["tool_name"], given["tool_input"])
        assert (read.session_id, read.cwd, read.part) == (given["session_id"], given["cwd"], given.get("agent_id", ""))
        ask = HOOKS.ask(read, "req_1", "call_1")
        assert isinstance(ask, QuestionAsk if read.tool == "AskUserQuestion" else PermissionAsk) and ask.beyond_turn
    elif name in REPORTED and given.get("notification_type") != "idle_prompt":
        assert read is not None and read.does == REPORTED[name]
    else:
        assert read is None


@every_row("body", [b"", b"{}", b"[]", b"null", b"\xff", b'{"session_id":1,"hook_event_name":"Stop"}',
                    b'{"hook_event_name":"Stop"}',
                    b'{"session_id":"s","hook_event_name":"PermissionRequest"}', b"{" * 5000,
                    b'{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":"x"}'])
def test_what_is_no_call_is_none(body: bytes) -> None:
    assert HOOKS.read(body) is None


@every_row("event", ["PermissionRequest", "Stop", "UserPromptSubmit", "preToolUse", "beforeShellExecution"])
def test_another_program_that_runs_these_hooks_is_not_taken_for_this_one(event: str) -> None:
    theirs = {"conversation_id": "c", "generation_id": "g", "workspace_roots": ["/w"], "cursor_version": "1.7",
              "user_email": "a@b.c", "hook_event_name": event, "command": "touch a1", "cwd": "/w"}
    like_ours = {**theirs, "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "touch a1"}}
    assert HOOKS.read(json.dumps(theirs).encode()) is None and HOOKS.read(json.dumps(like_ours).encode()) is None


def test_an_allowed_call_is_allowed_and_nothing_else() -> None:
    assert decision(HOOKS.decided(call(), "allow", None, None)) == {"behavior": "allow"}
    assert decision(HOOKS.decided(call(), "allow_always", None, None)) == {"behavior": "allow"}, "the rule is ours"


def test_a_changed_input_goes_with_the_answer() -> None:
    edited = decision(HOOKS.decided(call(), "allow", None, b'{"command":"touch b"}'))
    assert edited == {"behavior": "allow", "updatedInput": {"command": "touch b"}}


def test_a_denial_has_its_reason_and_may_end_the_turn() -> None:
    assert decision(HOOKS.decided(call(), "reject", "use b", None)) == {"behavior": "deny", "message": "use b"}
    assert decision(HOOKS.decided(call(), "cancel", "stop", None)) == {"behavior": "deny", "message": "stop", "interrupt": True}


@every_row("option", [None, "", "yes", "plan-b", "default", "acceptEdits", "ALLOW"])
def test_no_option_and_unknown_options_are_no_opinion(option: str | None) -> None:
    assert HOOKS.decided(call(), option, "why", None) == b""


def test_a_plan_is_approved_into_a_mode_of_its_session_or_sent_back() -> None:
    plan = call(tool="ExitPlanMode", given={"plan": "1. x"})
    ask = HOOKS.ask(plan, "r", "c")
    assert isinstance(ask, PermissionAsk)
    assert [each.option_id for each in ask.options] == ["default", "acceptEdits", "plan", "cancel"]
    approved = decision(HOOKS.decided(plan, "acceptEdits", None, None))
    assert approved["updatedPermissions"] == [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    assert approved["updatedInput"] == {"plan": "1. x"}
    assert decision(HOOKS.decided(plan, "plan", "more of it", None)) == {"behavior": "deny", "message": "more of it"}


def test_a_question_is_answered_by_its_own_text_and_never_by_silence() -> None:
    asked = {"questions": [{"question": "Which color?", "header": "Color", "options": [{"label": "Red"}, {"label": "Blue"}]}]}
    question = call(tool="AskUserQuestion", given=asked)
    answered = decision(HOOKS.answered(question, "accept", b'{"answer":"Blue"}'))
    assert answered == {"behavior": "allow", "updatedInput": {**asked, "answers": {"Which color?": "Blue"}}}
    assert HOOKS.answered(question, "cancel", None) == b""
    assert decision(HOOKS.answered(question, "decline", None))["behavior"] == "deny"


def test_the_entries_wait_for_permissions_only() -> None:
    entries = HOOKS.entries(lambda kind: kind)
    kinds = {event: entry["hooks"][0]["command"] for event, entry in entries.items()}
    assert kinds == {"PermissionRequest": "ask", "UserPromptSubmit": "report", "Stop": "report", "Notification": "report"}
    types = {hook["type"] for entry in entries.values() for hook in entry["hooks"]}
    assert types == {"command"}, "whoever binds a port must not say yes"


@every_row(("text", "foreign"), [
    (b"", False), (b"{}", False), (b'{"hooks":{"PermissionRequest":[{"hooks":[{"command":"ours"}]}]}}', False),
    (b'{"hooks":{"PermissionRequest":[{"hooks":[{"command":"ours"},{"command":"theirs"}]}]}}', True),
    (b'{"hooks":{"PermissionRequest":[{"hooks":[{"type":"http","url":"http://x"}]}]}}', True),
    (b'{"hooks":{"PreToolUse":[{"hooks":[{"command":"theirs"}]}]}}', False), (b'{"enabledPlugins":{"p":true}}', True),
    (b'{"enabledPlugins":{"p":false}}', False), (b"nonsense", True), (b"[]", True),
    (b'{"hooks":{"PermissionRequest":"x"}}', True)])
def test_hooks_of_others_are_noticed_and_what_cannot_be_read_counts_as_one(text: bytes, foreign: bool) -> None:
    assert HOOKS.has_foreign(text, lambda command: command == "ours") is foreign


def test_every_settings_file_that_counts_is_looked_at() -> None:
    files = HOOKS.watched_files("/home/dev/.claude", "/home/dev/project")
    assert {"/home/dev/.claude/settings.json", "/home/dev/project/.claude/settings.local.json",
            "/home/dev/project/.claude/settings.json", "/etc/claude-code/managed-settings.json",
            "/etc/claude-code/managed-settings.d"} <= set(files)
    assert HOOKS.watched_files("/c", "relative") == ["/c/settings.json", *files[1:5]]


def test_hooks_are_found_by_the_name_in_the_catalog() -> None:
    assert hook_dialect("claude") is HOOKS and hook_dialect("") is None
