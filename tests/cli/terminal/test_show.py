"""Packets as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.terminal.test_screen import Out
from tests.tooling.rows import every_row
from trunkline.cli.terminal import show as module
from trunkline.cli.terminal.screen import Screen
from trunkline.cli.terminal.show import ANSWER, ASKS, Show
from trunkline.dialects.context.types import PASSED_ON


def _chunk(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "content": {"type": "text", "text": text}}


def _progress(call: str, status: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_call_progress", "toolCallId": call, "status": status, "title": "t", "rawInput": {}, **fields}


def _start(call: str, name: str) -> dict[str, Any]:
    return {"type": "tool_call_start", "toolCallId": call, "title": name}


def _shown(*packets: dict[str, Any], **options: Any) -> list[str]:
    out = Out()
    screen = Screen(out)
    show = Show(screen, **options)
    for packet in packets:
        show.packet(packet)
    screen.end()
    return out.getvalue().splitlines()


def test_text_runs_on_and_a_thought_stands_apart() -> None:
    assert _shown(_chunk("agent_thought_chunk", "hm"), _chunk("agent_message_chunk", "one "),
                  _chunk("agent_message_chunk", "line")) == ["hm", "one line"]


def test_a_call_is_its_name_and_what_it_is_about() -> None:
    call = {"command": "npm test\n--all", "description": "Tests"}
    assert _shown(_start("1", "bash"), _progress("1", "in_progress", rawInput=call), _progress("1", "in_progress", rawInput=call),
                  _progress("1", "completed", rawInput=call)) == ["  → Run: npm test --all", "  ✓ Run: npm test --all"]


def test_a_path_is_shown_from_the_sessions_folder_on() -> None:
    call = _progress("1", "completed", rawInput={"filePath": "/proj/src/a.py"})
    assert _shown(_start("1", "read"), call, root="/proj") == ["  ✓ Read: src/a.py"]
    assert _shown(_start("1", "read"), call, root="/pro") == ["  ✓ Read: /proj/src/a.py"]


def test_a_title_that_the_agent_chose_stands() -> None:
    assert _shown(_start("1", "Read the file"), _progress("1", "completed", title="Read the file", rawInput={"path": "/x"})) == [
        "  ✓ Read the file"]


def test_a_failed_call_says_why() -> None:
    failed = _progress("1", "failed", rawInput={"command": "x"}, rawOutput={"error": "no\x1b[2Jpe"})
    assert _shown(_start("1", "bash"), failed) == ["  ✗ Run: x", "    nope"]


def test_a_plan_is_shown_once_and_then_what_changed() -> None:
    def plan(*states: str) -> dict[str, Any]:
        return {"type": "agent_plan_update", "entries": [{"content": f"step {n}", "status": s} for n, s in enumerate(states)]}

    assert _shown(plan("in_progress", "pending"), plan("in_progress", "pending"), plan("completed", "in_progress")) == [
        "  plan", "    ● step 0", "    ○ step 1", "    ✓ step 0", "    ● step 1"]


def test_an_answer_that_only_the_agent_understands_is_told_as_no_denial() -> None:
    resolved = {"type": "approval_resolved", "approved": False, "resolvedBy": "user", "_meta": {"by": "main"}}
    assert _shown({**resolved, "reason": f"{PASSED_ON}: Later"}) == [f"  answered by you ({PASSED_ON}: Later)"]
    assert _shown(resolved) == ["  denied by you"]


def test_nothing_is_hidden_in_what_a_permission_is_for() -> None:
    command = "touch a\x1b]0;; touch b\x07\u3164\u202e\x0cc"
    asked = {"type": "approval_requested", "description": f"Run: {command}", "preview": {"command": command}}
    seen = "touch a␛]0;; touch b␇[U+3164][U+202E]␌c"
    assert _shown(asked) == [f"  ? permission wanted ( risk): Run: {seen}", f"    {seen}"]


def test_a_permission_shows_what_it_is_for_and_a_long_preview_is_cut() -> None:
    diff = "\n".join(f"+{number}" for number in range(30))
    asked = {"type": "approval_requested", "requestId": "r", "title": "Write", "riskLevel": "high",
             "preview": {"type": "diff", "path": "/x", "diff": diff}}
    denied = {"type": "approval_resolved", "requestId": "r", "approved": False, "resolvedBy": "timeout", "reason": "too late"}
    lines = _shown(asked, denied)
    assert lines[0] == "  ? permission wanted (high risk): Write"
    whole = {**asked, "title": "Look around", "description": "Run: make", "riskReason": "runs a file"}
    assert _shown(whole)[0] == "  ? permission wanted (high risk: runs a file): Run: make"
    assert lines[1] == "    +0"
    assert lines[-2:] == ["    … 10 more lines", "  denied by timeout (too late)"]


def test_the_end_says_what_was_used_and_why_it_stopped() -> None:
    usage = {"type": "usage_update", "used": 1500, "size": 200000, "cost": {"amount": 0.5, "currency": "USD"}}
    assert _shown(usage, {"type": "prompt_response", "stopReason": "max_tokens"}) == [
        "  stopped: max tokens · context: 1.5k of 200.0k tokens, 0.50 USD"]
    assert _shown({"type": "prompt_response", "stopReason": "end_turn"}) == []


def test_an_error_an_artifact_and_a_mode_have_a_line_each() -> None:
    artifact = {"type": "artifact_created", "artifact": {"type": "file", "path": "a.py"}}
    mode = {"type": "current_mode_update", "currentModeId": "plan"}
    assert _shown({"type": "error", "message": "broken"}, artifact, mode) == ["  ✗ broken", "  + file a.py", "  mode: plan"]


def test_blocks_that_are_no_text_are_named() -> None:
    image = {"type": "agent_message_chunk", "content": {"type": "image", "mimeType": "image/png", "data": "…"}}
    link = {"type": "agent_message_chunk", "content": {"type": "resource_link", "uri": "file:///a"}}
    embedded = {"type": "agent_message_chunk", "content": {"type": "resource", "resource": {"uri": "file:///b"}}}
    assert _shown(image, link, embedded) == ["[image image/png][resource_link file:///a][resource file:///b]"]


def test_prompts_are_shown_only_to_who_did_not_type_them() -> None:
    assert _shown(_chunk("user_message_chunk", "hi")) == []
    assert _shown(_chunk("user_message_chunk", "hi"), prompts=True) == ["▸ hi"]


def test_a_selection_shows_nothing_else_and_tomorrows_packets_are_skipped() -> None:
    packets: tuple[dict[str, Any], ...] = (_chunk("agent_message_chunk", "a"), _chunk("agent_thought_chunk", "b"),
                                           {"type": "approval_requested", "title": "W", "riskLevel": "low"},
                                           {"type": "tomorrow"}, {})
    assert _shown(*packets, only=ANSWER) == ["a"]
    assert _shown(*packets, only=ASKS) == ["  ? permission wanted (low risk): W"]


def test_what_is_going_on_is_the_newest_running_call() -> None:
    show = Show(Screen(Out()))
    assert show.doing() == ""
    for packet in (_start("1", "bash"), _progress("1", "in_progress", rawInput={"command": "a"}),
                   _start("2", "read"), _progress("2", "in_progress", rawInput={"path": "b"})):
        show.packet(packet)
    assert show.doing() == "Read: b"
    show.packet(_progress("2", "completed", rawInput={"path": "b"}))
    assert show.doing() == "Run: a"


def test_a_permission_is_shown_with_every_act_and_what_is_not_sure() -> None:
    packet = {"type": "approval_requested", "description": "Run: ls", "riskLevel": "low", "riskReason": "fine",
              "preview": {"type": "command", "command": "ls", "workingDir": "/w"},
              "_meta": {"acts": [{"type": "diff", "path": "a", "diff": "+one"}, {"type": "description", "text": "Names:\n  b"}],
                        "doubts": ["a member of its input that is not known: run_as"]}}
    assert _shown(packet) == [
        "  ? permission wanted (low risk: fine): Run: ls", "    ! not sure: a member of its input that is not known: run_as",
        "    ls", "    Runs in /w", "    +one", "    Names:", "      b"]


@every_row(("told", "words"), [
    ({"resolvedBy": "user", "_meta": {"by": "main"}}, "you"),
    ({"resolvedBy": "user", "_meta": {"by": "main (zed)"}}, "you (zed)"),
    ({"resolvedBy": "user", "_meta": {"by": "Ann's phone (bd97ee34b91c)"}}, "Ann's phone"),
    ({"resolvedBy": "user", "_meta": {"by": "laptop (bd97ee34b91c) (zed)"}}, "laptop (zed)"),
    ({"resolvedBy": "user", "_meta": {"by": "main (x) (bd97ee34b91c)"}}, "main (x)"),
    ({"resolvedBy": "user"}, "somebody"), ({}, "somebody"), ({"resolvedBy": "policy"}, "a rule"),
    ({"resolvedBy": "policy", "reason": "a rule of the policy file allows it: decided by browser (bd97ee34b91c)"},
     "a rule (a rule of the policy file allows it: decided by a browser)"),
    ({"resolvedBy": "policy", "reason": "a rule of the policy file allows it: decided by main"},
     "a rule (a rule of the policy file allows it: decided by you)"),
])
def test_who_answered_is_told_by_name_and_never_by_an_id(told: dict[str, Any], words: str) -> None:
    assert _shown({"type": "approval_resolved", "approved": True, **told}) == [f"  allowed by {words}"]


def test_who_answered_a_question_is_told_the_same_way() -> None:
    answered = {"type": "question_resolved", "action": "accept", "resolvedBy": "browser (bd97ee34b91c)"}
    assert _shown(answered, {**answered, "resolvedBy": "main"}) == ["  answered by a browser", "  answered by you"]


def test_of_calls_that_never_end_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CALLS_KNOWN", 3)
    show = Show(Screen(Out()))
    for number in range(9):
        show.packet(_start(str(number), "a name " * 1_000))
        show.packet(_progress(str(number), "in_progress", title="x" * 10_000))
    assert list(show._names) == list(show._running) == ["6", "7", "8"]
    assert max(map(len, (*show._names.values(), *show._running.values()))) <= module.NAME_CHARS
