"""Deciding for good, ending a turn and lifting a cap need more than the scope to approve."""

from __future__ import annotations

import msgspec

from tests.tooling.rows import every_row
from trunkline.dialects.context.commands import decode_command
from trunkline.dialects.signals import PermissionOption
from trunkline.server.auth.scopes import answer_scope, command_scope, decision_scope
from trunkline.session.fold import ApprovalView, Fold, QuestionView

OPTIONS = [PermissionOption("yes", "Yes", "allow_once"), PermissionOption("ever", "Always", "allow_always"),
           PermissionOption("never", "Never", "reject_always"), PermissionOption("no", "No", "reject_once"),
           PermissionOption("cancel", "Deny and stop", "reject_once")]


def fold() -> Fold:
    made = Fold(session_id="s", agent="a", cwd="/p", created_at=0, updated_at=0)
    made.approvals["r"] = ApprovalView(
        request_id="r", tool_call_id="c", tool_name="bash", title="t", description="d", risk_level="low", options=OPTIONS,
        tool_input=msgspec.Raw(b"{}"), requested_at="", expires_at="")
    made.questions["q"] = QuestionView(question_id="q", question="?", asked_at="", expires_at="")
    made.questions["cap"] = QuestionView(question_id="cap", question="?", asked_at="", expires_at="", cap="cost")
    return made


@every_row(("name", "meta", "needed"), [
    ("approve_tool_call", {}, "approve"), ("approve_tool_call", {"scope": "session"}, "approve"),
    ("approve_tool_call", {"scope": "always"}, "control"), ("approve_tool_call", {"optionId": "yes"}, "approve"),
    ("approve_tool_call", {"optionId": "ever"}, "control"), ("deny_tool_call", {"optionId": "never"}, "control"),
    ("deny_tool_call", {"interrupt": True}, "control"), ("deny_tool_call", {"interrupt": False}, "approve"),
    ("deny_tool_call", {"optionId": "no"}, "approve"), ("deny_tool_call", {"optionId": "cancel"}, "control"),
    ("approve_tool_call", {"updatedInput": {"command": "id"}}, "control"), ("approve_tool_call", {"updatedInput": {}}, "control"),
    ("approve_tool_call", {"updatedInput": None}, "approve"),
])
def test_a_decision_for_good_or_one_that_ends_the_turn_is_steering(name: str, meta: dict[str, object], needed: str) -> None:
    command = decode_command(msgspec.json.encode({"command": name, "requestId": "r", "toolCallId": "c", "_meta": meta}))
    assert command_scope(command, fold()) == needed


def test_a_question_about_a_cap_is_for_who_steers() -> None:
    assert [answer_scope(fold(), question) for question in ("q", "cap", "unknown")] == ["approve", "control", "approve"]
    answer = decode_command(b'{"command":"answer_question","questionId":"cap","answer":"x"}')
    assert command_scope(answer, fold()) == "control"


def test_every_other_command_steers() -> None:
    assert command_scope(decode_command(b'{"command":"pause"}'), fold()) == "control"
    assert decision_scope(fold(), "unknown", "once", "ever") == "approve"


def test_who_may_approve_may_always_say_no_even_where_the_only_no_ends_the_turn() -> None:
    made = fold()
    made.approvals["r"].options = [option for option in OPTIONS if option.option_id in ("yes", "cancel")]
    assert decision_scope(made, "r", "once", "cancel") == "approve"
