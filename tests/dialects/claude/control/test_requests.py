"""Control requests, both ways: what is not served is refused at once, and a rule may hold a tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from trunkline.dialects.claude.control.requests import Ruling
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.signals import PermissionAsk, QuestionAsk, Signal


def test_what_a_server_of_the_clis_asks_is_a_question() -> None:
    translate = translator()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    request = {"subtype": "elicitation", "mcp_server_name": "files", "message": "Who are you?", "requested_schema": schema}
    (asked,) = f.hear(translate, f.frame("control_request", request_id="q1", request=request))
    assert isinstance(asked, QuestionAsk) and (asked.message, json.loads(asked.schema or b"")) == ("Who are you?", schema)
    assert f.answered(translate.control.answer_question(asked.request_id, "accept", b'{"name":"x"}')) == {
        "action": "accept", "content": {"name": "x"}}


def test_asks_that_were_open_when_we_came_are_asked() -> None:
    translate = translator()
    pending = json.loads(f.ask("q1", "Bash", input={"command": "ls"}))
    body = {"subtype": "success", "request_id": "r", "response": {}, "pending_permission_requests": [pending, pending, 7]}
    (asked,) = f.hear(translate, f.frame("control_response", response=body))
    assert isinstance(asked, PermissionAsk)


@pytest.mark.parametrize(("subtype", "served"), [("hook_callback", True), ("mcp_message", False), ("tomorrow", False)])
def test_what_we_do_not_serve_is_refused_at_once(subtype: str, served: bool) -> None:
    translate = translator()
    f.hear(translate, f.frame("control_request", request_id="x", request={"subtype": subtype}))
    (line,) = translate.control.take_output()
    assert json.loads(line)["response"]["subtype"] == ("success" if served else "error")
    assert translate.control.take_output() == []


def about_to_run(event: str = "PreToolUse") -> bytes:
    return f.frame("control_request", request_id="h1", request={
        "subtype": "hook_callback", "callback_id": "rules", "tool_use_id": "c1",
        "input": {"hook_event_name": event, "tool_name": "Read", "tool_input": {"file_path": "/w/.env"}}})


def gated(ruling: Ruling | None, event: str = "PreToolUse") -> tuple[Any, list[Signal], list[tuple[str, bytes]]]:
    translate = Translator(lambda prefix: prefix)
    told = f.hear(translate, about_to_run(event))
    judged = translate.control.take_about_to_run()
    assert translate.control.take_about_to_run() == []
    for about in judged:
        assert translate.control.take_output() == [], "the CLI waits until the rules have spoken"
        told += translate.control.ruled(about, ruling)
    (line,) = translate.control.take_output()
    return json.loads(line)["response"]["response"], told, [(about.tool, about.given) for about in judged]


def test_a_tool_that_no_rule_is_about_is_left_to_the_cli() -> None:
    assert gated(None) == ({}, [], [("Read", b'{"file_path":"/w/.env"}')])
    assert gated(Ruling("deny", "no"), "PostToolUse") == ({}, [], [])


@pytest.mark.parametrize("action", ["ask", "deny"])
def test_a_tool_that_a_rule_is_about_is_asked_about_or_does_not_run(action: Any) -> None:
    answer, told, _ = gated(Ruling(action, "secrets"))
    assert answer == {"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": action, "permissionDecisionReason": "secrets"}}
    expected = [{"toolCallId": "c1", "tool": "Read", "reason": "secrets"}] if action == "deny" else []
    assert f.notes(told, "ruled_out") == expected
