"""What the CLI asks of people, and the lines that answer it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import faults
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from trunkline.dialects.acp.permission import choose_option
from trunkline.dialects.claude.control.requests import Ruling
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk, QuestionAsk, Signal

SUGGESTED = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "behavior": "allow",
             "destination": "localSettings"}


def permission(translate: Translator, tool: str = "Bash", **more: Any) -> PermissionAsk:
    call_id = more.pop("call_id", "c1")
    (asked,) = f.hear(translate, f.ask("q1", tool, call_id, **more))
    assert isinstance(asked, PermissionAsk)
    return asked


def question(translate: Translator, *questions: dict[str, Any]) -> QuestionAsk:
    (asked,) = f.hear(translate, f.ask("q1", "AskUserQuestion", input={"questions": list(questions)}))
    assert isinstance(asked, QuestionAsk)
    return asked


def answer(line: bytes | None) -> dict[str, Any]:
    assert line is not None and line.endswith(b"\n")
    frame = json.loads(line)
    assert (frame["type"], frame["response"]["subtype"], frame["response"]["request_id"]) == ("control_response", "success", "q1")
    body: dict[str, Any] = frame["response"]["response"]
    return body


COLOUR = {"question": "Which colour?", "header": "Colour", "multiSelect": False,
          "options": [{"label": "Red", "description": "r"}, {"label": "Blue"}]}
SIZES = {"question": "Sizes?", "header": "Sizes", "multiSelect": True, "options": [{"label": "S"}, {"label": "L"}]}


def test_an_ask_is_about_a_call_and_offers_once_always_no_and_stop() -> None:
    asked = permission(translator(), call_id="c9", input={"command": "rm x"}, blocked_path="/p/x", decision_reason="a rule")
    call = json.loads(asked.tool_call)
    assert (call["toolCallId"], call["title"], call["rawInput"]) == ("c9", "rm x", {"command": "rm x"})
    assert call["locations"] == [{"path": "/p/x"}] and call["_meta"]["claudeCode"]["decisionReason"] == "a rule"
    assert [(option.option_id, option.kind) for option in asked.options] == [
        ("allow", "allow_once"), ("allow_always", "allow_always"), ("reject", "reject_once"), ("cancel", "reject_once")]
    assert asked.editable
    assert not faults("ToolCallUpdate", asked.tool_call)


def test_a_plain_no_is_not_the_one_that_stops_the_turn() -> None:
    option = choose_option(permission(translator()).options, allow=False)
    assert option is not None and option.option_id == "reject"


@pytest.mark.parametrize("why", ["matched_ask_rule", "suppress_always_allow_rule", "requires_user_interaction"])
def test_what_is_asked_again_whatever_rule_there_is_offers_no_always(why: str) -> None:
    asked = permission(translator(), "Bash", **{why: True})
    assert "allow_always" not in [option.option_id for option in asked.options]


def test_allowed_calls_get_their_whole_input_back() -> None:
    translate = translator()
    asked = permission(translate, input={"command": "ls", "timeout": 5})
    assert answer(translate.control.answer_permission(asked.request_id, "allow")) == {
        "behavior": "allow", "updatedInput": {"command": "ls", "timeout": 5}}


def test_an_edited_input_is_what_runs_and_what_the_call_is_told_by() -> None:
    translate = translator()
    f.hear(translate, f.whole("m", f.use("c1", "Bash", command="rm -r /")))
    asked = permission(translate, input={"command": "rm -r /"})
    line = translate.control.answer_permission(asked.request_id, "allow", updated_input=b'{"command":"ls /"}')
    assert answer(line)["updatedInput"] == {"command": "ls /"}
    (ended,) = f.updates(f.hear(translate, f.answer("c1", "bin")))
    assert (ended["rawInput"], ended["title"]) == ({"command": "ls /"}, "ls /")


@pytest.mark.parametrize("edited", [b"{}", b"[]", b"{", b"null"])
def test_an_edit_that_cannot_be_read_never_runs_what_was_asked_for(edited: bytes) -> None:
    translate = translator()
    asked = permission(translate, input={"command": "ls"})
    assert answer(translate.control.answer_permission(asked.request_id, "allow", updated_input=edited))["updatedInput"] == {}


@pytest.mark.parametrize(("suggestions", "rules"), [
    ([SUGGESTED, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
     [{**SUGGESTED, "destination": "session"}]),
    ([], [{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}]),
])
def test_always_is_a_rule_of_the_clis_session_only(suggestions: list[Any], rules: list[Any]) -> None:
    translate = translator()
    asked = permission(translate, permission_suggestions=suggestions)
    assert answer(translate.control.answer_permission(asked.request_id, "allow_always"))["updatedPermissions"] == rules


@pytest.mark.parametrize(("option", "reason", "told"), [
    ("reject", "not on a Friday", {"behavior": "deny", "message": "not on a Friday"}),
    ("reject", None, {"behavior": "deny", "message": "The person did not allow this."}),
    ("cancel", "stop", {"behavior": "deny", "message": "stop", "interrupt": True}),
    (None, None, {"behavior": "deny", "message": "The person did not allow this."}),
    ("no such option", None, {"behavior": "deny", "message": "The person did not allow this."}),
])
def test_a_denial_says_why_and_only_a_stop_ends_the_turn(option: str | None, reason: str | None, told: dict[str, Any]) -> None:
    translate = translator()
    asked = permission(translate)
    assert answer(translate.control.answer_permission(asked.request_id, option, reason=reason)) == told


def test_several_asks_are_open_at_once_and_answered_in_any_order() -> None:
    translate = translator()
    first, second = f.hear(translate, f.ask("q1", "Bash", "c1"), f.ask("q2", "Bash", "c2"))
    assert isinstance(first, PermissionAsk) and isinstance(second, PermissionAsk)
    for asked, cli_id in ((second, "q2"), (first, "q1")):
        line = translate.control.answer_permission(asked.request_id, "allow")
        assert line is not None and json.loads(line)["response"]["request_id"] == cli_id
    assert translate.control.answer_permission(first.request_id, "allow") is None, "an ask is answered once"


def test_an_ask_that_the_cli_takes_back_is_withdrawn_and_cannot_be_answered() -> None:
    translate = translator()
    asked = permission(translate)
    assert f.hear(translate, f.frame("control_cancel_request", request_id="q1")) == [AskWithdrawn(asked.request_id)]
    assert translate.control.answer_permission(asked.request_id, "allow") is None
    assert f.hear(translate, f.frame("control_cancel_request", request_id="q1")) == []


def test_a_sub_agents_ask_names_the_call_that_started_it() -> None:
    translate = translator()
    f.hear(translate, f.system("task_started", task_id="a1", tool_use_id="t1", task_type="local_agent"))
    call = json.loads(permission(translate, agent_id="a1").tool_call)
    assert call["_meta"]["claudeCode"]["parentToolUseId"] == "t1"


def test_a_plan_is_approved_by_the_mode_in_which_it_is_carried_out() -> None:
    for option, mode in (("default", "default"), ("acceptEdits", "acceptEdits")):
        translate = translator()
        asked = permission(translate, "ExitPlanMode", input={"plan": "1. Do it"})
        assert json.loads(asked.tool_call)["content"] == [{"type": "content", "content": {"type": "text", "text": "1. Do it"}}]
        assert not asked.editable
        assert answer(translate.control.answer_permission(asked.request_id, option))["updatedPermissions"] == [
            {"type": "setMode", "mode": mode, "destination": "session"}]


def test_a_plan_that_the_cli_keeps_for_itself_is_shown_as_the_model_wrote_it() -> None:
    translate = translator()
    f.hear(translate, f.whole("m", f.use("c1", "ExitPlanMode", plan="1. Do it")))
    asked = permission(translate, "ExitPlanMode", input={})
    assert json.loads(asked.tool_call)["rawInput"] == {"plan": "1. Do it"}
    assert answer(translate.control.answer_permission(asked.request_id, "default"))["updatedInput"] == {}


def test_a_plan_that_is_not_approved_keeps_the_cli_planning() -> None:
    translate = translator()
    asked = permission(translate, "ExitPlanMode", input={"plan": "1."})
    assert answer(translate.control.answer_permission(asked.request_id, "plan", reason="more detail")) == {
        "behavior": "deny", "message": "more detail"}


def test_a_question_is_a_form_with_choices_and_room_for_other_words() -> None:
    asked = question(translator(), COLOUR, SIZES)
    assert (asked.message, asked.tool_call_id) == ("Which colour?\nSizes?", "c1")
    assert asked.schema is not None and not faults("ElicitationSchema", asked.schema)
    fields = json.loads(asked.schema)["properties"]
    assert list(fields) == ["answer1", "answer1_other", "answer2", "answer2_other"]
    assert [choice["const"] for choice in fields["answer1"]["oneOf"]] == ["Red", "Blue"]
    assert (fields["answer2"]["type"], len(fields["answer2"]["items"]["anyOf"])) == ("array", 2)


@pytest.mark.parametrize(("content", "answers"), [
    ({"answer1": "Red", "answer2": ["S", "L"]}, {"Which colour?": "Red", "Sizes?": "S, L"}),
    ({"answer1": "Red", "answer1_other": "dark green"}, {"Which colour?": "dark green"}),
    ({"answer2": ["S"], "answer2_other": "XXL"}, {"Sizes?": "S, XXL"}),
    ({}, {}),
])
def test_answers_are_told_by_the_questions_own_texts(content: dict[str, Any], answers: dict[str, str]) -> None:
    translate = translator()
    asked = question(translate, COLOUR, SIZES)
    told = answer(translate.control.answer_question(asked.request_id, "accept", json.dumps(content).encode()))
    assert told["behavior"] == "allow"
    assert told["updatedInput"] == {"questions": [COLOUR, SIZES], "answers": answers}


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_question_that_is_not_answered_is_denied(action: str) -> None:
    translate = translator()
    asked = question(translate, COLOUR)
    assert answer(translate.control.answer_question(asked.request_id, action, None))["behavior"] == "deny"
    assert translate.control.answer_question(asked.request_id, action, None) is None


def test_a_question_without_words_is_asked_like_any_tool() -> None:
    assert isinstance(f.hear(translator(), f.ask("q1", "AskUserQuestion", input={"questions": [7]}))[0], PermissionAsk)


def test_what_a_server_of_the_clis_asks_is_a_question() -> None:
    translate = translator()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    request = {"subtype": "elicitation", "mcp_server_name": "files", "message": "Who are you?", "requested_schema": schema}
    (asked,) = f.hear(translate, f.frame("control_request", request_id="q1", request=request))
    assert isinstance(asked, QuestionAsk) and (asked.message, json.loads(asked.schema or b"")) == ("Who are you?", schema)
    assert answer(translate.control.answer_question(asked.request_id, "accept", b'{"name":"x"}')) == {
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
