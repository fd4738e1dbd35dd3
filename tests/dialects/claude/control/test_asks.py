"""What the CLI asks of people, and the lines that answer it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import faults
from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from tests.tooling.rows import every_row
from trunkline.dialects.acp.permission import choose_option
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.signals import AskWithdrawn, PermissionAsk

SUGGESTED = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "behavior": "allow",
             "destination": "localSettings"}


def permission(translate: Translator, tool: str = "Bash", **more: Any) -> PermissionAsk:
    call_id = more.pop("call_id", "c1")
    (asked,) = f.hear(translate, f.ask("q1", tool, call_id, **more))
    assert isinstance(asked, PermissionAsk)
    return asked


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
    assert f.answered(translate.control.answer_permission(asked.request_id, "allow")) == {
        "behavior": "allow", "updatedInput": {"command": "ls", "timeout": 5}}


def test_an_edited_input_is_what_runs_and_what_the_call_is_told_by() -> None:
    translate = translator()
    f.hear(translate, f.whole("m", f.use("c1", "Bash", command="rm -r /")))
    asked = permission(translate, input={"command": "rm -r /"})
    line = translate.control.answer_permission(asked.request_id, "allow", updated_input=b'{"command":"ls /"}')
    assert f.answered(line)["updatedInput"] == {"command": "ls /"}
    (ended,) = f.updates(f.hear(translate, f.answer("c1", "bin")))
    assert (ended["rawInput"], ended["title"]) == ({"command": "ls /"}, "ls /")


@pytest.mark.parametrize("edited", [b"{}", b"[]", b"{", b"null"])
def test_an_edit_that_cannot_be_read_never_runs_what_was_asked_for(edited: bytes) -> None:
    translate = translator()
    asked = permission(translate, input={"command": "ls"})
    assert f.answered(translate.control.answer_permission(asked.request_id, "allow", updated_input=edited))["updatedInput"] == {}


@pytest.mark.parametrize(("suggestions", "rules"), [
    ([SUGGESTED, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
     [{**SUGGESTED, "destination": "session"}]),
    ([], [{"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}]),
])
def test_always_is_a_rule_of_the_clis_session_only(suggestions: list[Any], rules: list[Any]) -> None:
    translate = translator()
    asked = permission(translate, permission_suggestions=suggestions)
    assert f.answered(translate.control.answer_permission(asked.request_id, "allow_always"))["updatedPermissions"] == rules


@every_row(("option", "reason", "told"), [
    ("reject", "not on a Friday", {"behavior": "deny", "message": "not on a Friday"}),
    ("reject", None, {"behavior": "deny", "message": "The person did not allow this."}),
    ("cancel", "stop", {"behavior": "deny", "message": "stop", "interrupt": True}),
    (None, None, {"behavior": "deny", "message": "The person did not allow this."}),
    ("no such option", None, {"behavior": "deny", "message": "The person did not allow this."}),
])
def test_a_denial_says_why_and_only_a_stop_ends_the_turn(option: str | None, reason: str | None, told: dict[str, Any]) -> None:
    translate = translator()
    asked = permission(translate)
    assert f.answered(translate.control.answer_permission(asked.request_id, option, reason=reason)) == told


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
        assert f.answered(translate.control.answer_permission(asked.request_id, option))["updatedPermissions"] == [
            {"type": "setMode", "mode": mode, "destination": "session"}]


def test_a_plan_that_the_cli_keeps_for_itself_is_shown_as_the_model_wrote_it() -> None:
    translate = translator()
    f.hear(translate, f.whole("m", f.use("c1", "ExitPlanMode", plan="1. Do it")))
    asked = permission(translate, "ExitPlanMode", input={})
    assert json.loads(asked.tool_call)["rawInput"] == {"plan": "1. Do it"}
    assert f.answered(translate.control.answer_permission(asked.request_id, "default"))["updatedInput"] == {}


def test_a_plan_that_is_not_approved_keeps_the_cli_planning() -> None:
    translate = translator()
    asked = permission(translate, "ExitPlanMode", input={"plan": "1."})
    assert f.answered(translate.control.answer_permission(asked.request_id, "plan", reason="more detail")) == {
        "behavior": "deny", "message": "more detail"}
