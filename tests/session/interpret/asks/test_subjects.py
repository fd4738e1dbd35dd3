"""Which calls an ask is about: the one that it tells of, or all that wait to run where it says nothing."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.session.interpret.asks.confirming import CONFIRM, asked, confirm, decide, runs
from tests.session.interpret.call_builders import call, listening, more, of_type, only, text
from tests.session.interpret.told import events
from tests.session.script import OPTIONS
from tests.tooling.rows import every_row
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import PermissionAsk
from trunkline.errors import Invalid
from trunkline.session.fold import ApprovalView, restore
from trunkline.session.interpret.asks.subjects import EMPTY_BYTES, NOT_KNOWN, SHOWN_PATHS
from trunkline.session.policy.decide import Rule, always_rule
from trunkline.session.policy.text import parse_policy


def test_an_ask_for_several_calls_is_judged_by_all_of_them() -> None:
    told = listening()
    told.hear(runs("a", "touch x"), runs("b", "rm -rf ~"),
              call(toolCallId="c", kind="edit", title="Write y", rawInput={"path": "y.txt", "content": "y"}))
    view, event = asked(told, confirm())
    assert (event["riskLevel"], event["_meta"]["risk"]["reason"]) == (view.risk_level, view.risk_reason)
    assert view.risk_level in ("high", "critical") and "deletes" in view.risk_reason, "the worst decides, with its own reason"
    told_calls = event["_meta"]["calls"]
    assert [each["toolCallId"] for each in told_calls] == ["a", "b", "c"]
    assert [each.get("command") for each in told_calls] == ["touch x", "rm -rf ~", None]
    assert told_calls[2]["paths"] and told_calls[2]["toolName"] == "write" and "about" not in told_calls[0]
    assert {each["riskLevel"] for each in told_calls} > {view.risk_level} and all(each["riskReason"] for each in told_calls)
    assert "rm -rf ~" in event["preview"]["text"] and "touch x" in event["preview"]["text"], "who knows no calls reads them"
    assert event["description"].startswith("3 calls: ") and "touch x" in event["description"]


def test_the_ask_itself_is_no_call_and_does_not_end_as_one() -> None:
    told = listening()
    found = events(told.hear(runs("a", "touch x"), runs("b", "touch y"), confirm()))
    decide(told, approved=True)
    told.hear(more(toolCallId="a", status="completed"), more(toolCallId="b", status="completed"))
    told.at().turns.end("end_turn")
    found = events(told.entries + told.take())
    assert {event["toolCallId"] for event in of_type(found, "tool:start")} == {"a", "b"}
    assert of_type(found, "tool:error") == []
    waited = [event["toolCallId"] for event in of_type(found, "tool:executing") if event["requiresApproval"]]
    assert waited == ["a", "b"], "each is told to wait for it"


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_is_for_every_call_that_was_asked_about(approved: bool) -> None:
    told = listening()
    told.hear(runs("a", "touch x"), runs("b", "touch y"), confirm(), runs("late", "touch z"))
    decide(told, approved)
    calls = told.fold.calls
    assert [(calls[key].approved, calls[key].denied) for key in "ab"] == [(approved, not approved)] * 2
    assert not calls["late"].approved and not calls["late"].denied, "it came after the ask"
    told.take()
    ends = events(told.hear(*(more(toolCallId=key, status="completed") for key in "ab")))
    assert [event["type"] for event in ends if event["type"].startswith("tool:")] == (
        ["tool:result"] * 2 if approved else ["tool:error"] * 2)


def test_an_ask_that_is_about_one_call_is_that_call_s() -> None:
    told = listening()
    view, event = asked(told, runs("a", "touch x"), confirm())
    assert (view.tool_call_id, view.tool_name, event["preview"]["command"]) == ("a", "bash", "touch x")
    assert [each["toolCallId"] for each in event["_meta"]["calls"]] == ["a"]
    assert view.about is not None and view.about.command == "touch x" and view.always is not None


@pytest.mark.parametrize("ended", ["completed", "failed"])
def test_what_is_over_or_decided_is_not_asked_about_again(ended: str) -> None:
    told = listening()
    told.hear(runs("over", "touch 1"), more(toolCallId="over", status=ended), runs("a", "touch 2"), confirm("r1"))
    decide(told, True, "r1")
    view, _ = asked(told, runs("b", "touch 3"), confirm("r2"))
    assert view.call_ids == ("b",), "the same id for every ask is no matter"
    decide(told, False, "r2")
    view, _ = asked(told, runs("c", "touch 4"), confirm("r3"))
    assert view.call_ids == ("c",)


def test_what_another_ask_decided_meanwhile_stays_decided() -> None:
    told = listening()
    told.hear(runs("a", "touch 1"), confirm("r1"), runs("b", "touch 2"), confirm("r2"))
    assert told.fold.approvals["r2"].call_ids == ("a", "b")
    decide(told, True, "r1")
    decide(told, False, "r2")
    told.take()
    assert told.fold.calls["a"].approved and told.fold.calls["b"].denied


def test_calls_in_the_background_are_asked_about_by_themselves() -> None:
    names = ToolNames(roles={"Task": "task"}, parent_call="parent")
    told = listening(names)
    told.hear(call(toolCallId="t", title="Task", kind="other", rawInput={"prompt": "x", "subagent_type": "y"}),
              runs("a", "touch 1", _meta={"parent": "t"}), runs("b", "touch 2"))
    told.fold.calls["a"].in_background = True
    told.fold.calls["t"].spawned = True
    view, _ = asked(told, confirm())
    assert view.call_ids == ("b",)


def test_an_agent_that_was_started_with_a_command_is_among_what_waits() -> None:
    told = listening(ToolNames(roles={"Task": "task"}))
    told.hear(call(toolCallId="t", title="Task", kind="think", status="in_progress",
                   rawInput={"prompt": "x", "description": "d", "command": "touch evil"}), runs("b", "ls"))
    assert told.fold.calls["t"].spawned
    view, _ = asked(told, confirm())
    assert view.call_ids == ("t", "b") and [one.command for one in view.calls] == ["touch evil", "ls"]


def test_a_call_that_ran_is_not_told_as_denied_when_the_hub_may_not_do_it_again() -> None:
    told = listening()
    told.hear(runs("a", "ls"), confirm("r1", toolCallId="a"))
    decide(told, True, "r1")
    told.hear(PermissionAsk("r2", msgspec.json.encode({"toolCallId": "a", "rawInput": {"command": "ls"}}), OPTIONS, is_act=True))
    decide(told, False, "r2")
    told.at().turns.end("end_turn")
    told.take()
    assert only(events(told.entries), "tool:error")["error"]["code"] != "denied"


def test_rules_of_a_turn_that_is_over_are_no_rules_of_the_session() -> None:
    told = listening()
    turn = told.fold.turn
    assert turn is not None
    told.at().asks.rule(Rule(action="allow", tool=["x"], session=told.fold.session_id, turn=turn.turn_id), kept=True, who="ann")
    told.at().asks.rule(Rule(action="allow", tool=["y"], session=told.fold.session_id), kept=True, who="ann")
    told.at().turns.end("end_turn")
    assert [rule.tool for rule in told.fold.rules] == [["y"]]


def test_where_nothing_waits_it_is_not_known_what_an_ask_does() -> None:
    told = listening()
    view, event = asked(told, confirm())
    assert (event["riskLevel"], event["_meta"]["risk"]) == (
        "high", {"reason": NOT_KNOWN, "sure": False, "doubts": [NOT_KNOWN]})
    assert (view.tool_call_id, view.sure, view.doubts, view.always) == ("confirmation-1", False, [NOT_KNOWN], None)
    assert view.about is not None and not view.about.only_looks and view.about.doubts == (NOT_KNOWN,)
    decide(told, True)
    told.at().turns.end("end_turn")
    found = events(told.entries + told.take())
    assert not [event for event in found if event["type"].startswith("tool:")], "nothing was called, and nothing failed"


@every_row("fields", [
    {"title": "Bash", "kind": "execute"}, {"title": "Read", "kind": "read"}, {"title": "Grep", "kind": "search", "rawInput": {}},
    {"title": "Confirm", "kind": "read", "content": text("Shall I?")}, {"title": "Edit", "kind": "edit", "rawInput": None},
    {"title": "Confirm Agent Actions", "kind": "read"}, {"title": "touch x", "kind": "execute"},
    {"name": "Bash", "title": "Bash", "kind": "execute"}, {"name": "Read", "kind": "read"}, {"name": "Task", "kind": "think"},
])
def test_a_title_and_a_kind_say_nothing(fields: dict[str, Any]) -> None:
    told = listening()
    view, _ = asked(told, confirm(**fields))
    assert (view.risk_level, view.risk_reason, view.about and view.about.command) == ("high", NOT_KNOWN, None)
    view, _ = asked(told, runs("b", "touch x"), confirm("r2", **fields))
    assert view.call_ids == ("b",)


@every_row("spelled", ["{ }", "{}\n", "[ ]", '{"x":null}', '{"x":{"y":[]}}', "[{}]", '[null, " "]', '" "',
                      "{" + " " * (EMPTY_BYTES - 2) + "}"])
def test_an_input_of_nothing_says_nothing_however_it_is_spelled(spelled: str) -> None:
    told = listening()
    plain = json.dumps({**CONFIRM, "rawInput": "@"}).replace('"@"', spelled).encode()
    view, _ = asked(told, runs("b", "sudo make install"), PermissionAsk("r", plain, OPTIONS))
    assert (view.call_ids, view.risk_level) == (("b",), "high")


@every_row("fields", [
    {"title": "mcp__db__tables", "rawInput": {}}, {"name": "list_tables", "title": "Tables"},
    {"title": "Ready to code?", "kind": "switch_mode"}, {"title": "x", "rawInput": {"question": "sure?"}},
    {"title": "Run", "kind": "execute", "content": text("Requesting approval to Running: touch z")},
    {"title": "Write", "kind": "edit", "locations": [{"path": "/w/a"}]},
])
def test_an_ask_that_says_something_is_about_that_alone(fields: dict[str, Any]) -> None:
    told = listening()
    told.hear(runs("a", "rm -rf ~"))
    view, _ = asked(told, confirm(**fields))
    assert (view.call_ids, view.calls, view.risk_reason != NOT_KNOWN) == (("confirmation-1",), [], True)


@pytest.mark.parametrize("title", ["Confirm Agent Actions", "Execute shell command", "Permission required", "touch y"])
def test_a_sentence_as_title_is_never_shown_allowed_or_remembered_as_a_command(title: str) -> None:
    told = listening()
    view, _ = asked(told, runs("a", "touch x"), confirm(title=title, kind="execute"))
    assert view.call_ids == ("a", "confirmation-1") and (view.risk_level, view.always) == ("high", None)
    assert [call.command for call in view.calls] == ["touch x", None]
    allowing = parse_policy("[auto_approve]\ncommands = true\n[[rules]]\ncommand = ['*']\nrisk = ['high']\naction = 'allow'\n")
    denying = parse_policy("[[rules]]\ncommand = ['touch *']\naction = 'deny'\n")
    assert [allowing.decide(about, now_us=0).action for about in view.abouts] == ["allow", "ask"]
    assert denying.decide(view.abouts[0], now_us=0).action == "deny"
    assert denying.decide(view.abouts[1], now_us=0).action == ("deny" if title == "touch y" else "ask"), "it can only raise"
    assert {each["toolCallId"] for each in events(told.entries) if each["type"] == "tool:executing"} == {"a"}


def test_always_is_refused_for_a_command_that_only_a_title_tells() -> None:
    view, _ = asked(listening(), confirm(title="touch y", kind="execute"))
    assert view.about is not None and view.always is None
    with pytest.raises(Invalid):
        always_rule(view.about, allow=True, scope="session", session_id="s", turn_id="t", reason=None)


def test_an_announced_call_that_says_nothing_is_asked_about_with_all_the_others() -> None:
    told = listening()
    told.hear(call(toolCallId="blind", title="Bash", kind="execute"), runs("a", "touch x"))
    view, event = asked(told, confirm(title="Bash", toolCallId="blind"))
    assert view.call_ids == ("blind", "a") and (view.risk_level, view.risk_reason) == ("high", NOT_KNOWN)
    executing = [each for each in events(told.entries) if each["type"] == "tool:executing" and each["requiresApproval"]]
    assert {each["toolCallId"]: each["riskLevel"] for each in executing} == {
        each["toolCallId"]: each["riskLevel"] for each in event["_meta"]["calls"]}, "one level on every face"


def test_what_an_earlier_ask_said_under_the_same_id_is_no_part_of_the_next() -> None:
    told = listening()
    told.hear(confirm("r1", title="Bash", rawInput={"command": "ls"}))
    decide(told, True, "r1")
    view, _ = asked(told, confirm("r2", title="Bash"))
    assert (view.risk_reason, view.about and view.about.command) == (NOT_KNOWN, None)
    view, _ = asked(told, confirm("r3", title="Run: touch x", kind="execute"))
    assert view.about is not None and (view.about.command, view.about.claimed) == (None, "touch x")


def test_a_card_shows_the_first_paths_of_each_call_and_how_many_more_there_are() -> None:
    told = listening()
    paths = [f"/w/{number}" for number in range(SHOWN_PATHS + 5)]
    told.hear(call(toolCallId="a", kind="read", title="Read", rawInput={"paths": paths}), runs("b", f"echo {'x' * 70_000}"))
    view, _ = asked(told, confirm())
    assert view.calls[0].paths == [*paths[:SHOWN_PATHS], "… and 5 more"]
    assert len(view.calls[1].command or "") < 40_000 and "more characters" in (view.calls[1].command or "")


def test_an_approval_of_an_older_hub_can_still_be_read() -> None:
    old = {"requestId": "r", "toolCallId": "c", "toolName": "bash", "title": "t", "description": "d", "riskLevel": "low",
           "options": [], "toolInput": {}, "requestedAt": "", "expiresAt": "",
           "about": {"tool": "bash", "category": "terminal", "agent": "a", "risk": "low", "root": "/w", "command": "ls"}}
    view = msgspec.json.decode(msgspec.json.encode(old), type=ApprovalView)
    assert (view.sure, view.calls, view.disk, view.call_ids, [each.command for each in view.abouts]) == (
        True, [], None, ("c",), ["ls"])


def test_an_ask_for_several_calls_is_kept_whole() -> None:
    told = listening()
    view, _ = asked(told, runs("a", "touch x"), runs("b", "touch y"), confirm())
    again = restore(b"{}", told.steps).approvals["r"]
    assert again == view and [about.command for about in again.abouts] == ["touch x", "touch y"]


ARGUMENTS = '{"command": "touch x"}'


def said_in_words(words: str, arguments: str = ARGUMENTS, **fields: Any) -> tuple[ApprovalView, dict[str, Any]]:
    told = listening()
    told.hear(call(toolCallId="a", title="Bash"), more(toolCallId="a", content=text(arguments[:9])),
              more(toolCallId="a", content=text(arguments)))
    return asked(told, confirm(title="Bash", toolCallId="a", content=text(words), **fields))


def test_arguments_that_an_earlier_update_told_as_a_text_are_the_calls_input() -> None:
    view, event = said_in_words("Requesting approval to Running: touch x")
    assert view.about is not None and view.about.command == "touch x" and view.sure
    assert (event["preview"]["command"], event["description"]) == ("touch x", "Run: touch x")


def test_words_without_a_command_take_nothing_away() -> None:
    view, _ = said_in_words("Shall I go on?")
    assert view.about is not None and view.about.command == "touch x"


def test_words_that_name_another_command_count_too() -> None:
    view, _ = said_in_words("Requesting approval to Running: rm -rf ~")
    assert view.about is not None and view.about.command == "touch x\nrm -rf ~"
    assert view.risk_level in ("high", "critical") and "another command" in view.doubts[0] and view.always is None


def test_what_a_tool_prints_is_no_command() -> None:
    told = listening()
    told.hear(call(toolCallId="a", title="Bash"), more(toolCallId="a", content=text(ARGUMENTS)))
    told.hear(confirm(title="Bash", toolCallId="a"))
    decide(told, True)
    told.hear(more(toolCallId="a", content=text('{"command": "rm -rf ~"}')),
              more(toolCallId="a", status="completed", title="Ran it", content=text("Running: rm -rf ~")))
    assert told.interpret.tools.calls.reading(told.fold.calls["a"]).command in ("touch x", None)


def test_a_command_that_is_only_in_words_is_shown_and_not_sure() -> None:
    view, event = said_in_words("Requesting approval to Running: touch z", arguments="thinking …")
    assert (event["preview"]["command"], view.always) == ("touch z", None)
    assert view.doubts == ["its command is only in its words"]


def test_the_title_of_a_tool_is_never_its_command() -> None:
    view, event = said_in_words("Shall I?", arguments="thinking …")
    assert event["preview"] == {"type": "description", "text": "Shall I?"}
    assert (view.about and view.about.command, view.always, view.risk_reason) == (None, None, NOT_KNOWN)
