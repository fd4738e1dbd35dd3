"""What tools are called and what they are for, and how calls are judged, whoever the agent is."""

from __future__ import annotations

from typing import Any

from tests.session.interpret.call_builders import ask, call, listening, made, more, of_type, only
from tests.session.interpret.told import Told, events, names, packets
from tests.tooling.rows import every_row
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.notes import AgentNote, ArgsDelta

NAMES = ToolNames(roles={"run_it": "terminal", "scribble": "write", "ask_them": "ask_user"})


@every_row(("fields", "name"), [
    ({"name": "Bash"}, "bash"),
    ({"name": "run_it"}, "bash"),
    ({"_meta": {"toolName": "run_it"}}, "bash"),
    ({"_meta": {"vendor": {"toolCall": {"toolName": "scribble"}}}}, "write"),
    ({"toolCallId": "run_it__run_it_17_0"}, "bash"),
    ({"toolCallId": "run_it-17"}, "bash"),
    ({"title": "run_it: echo hi"}, "bash"),
    ({"title": "run_it · echo hi"}, "bash"),
    ({"name": "ask_them"}, "ask_them"),
    ({"name": "mcp__run_it__x"}, "mcp__run_it__x"),
    ({"name": "never_heard_of"}, "never_heard_of"),
    ({"title": "echo hi", "kind": "execute"}, "bash"),
    ({"title": "a.txt", "kind": "read"}, "read"),
    ({"title": "Something"}, "Something"),
])
def test_a_tool_goes_by_its_usual_name(fields: dict[str, Any], name: str) -> None:
    (start,) = events(listening(NAMES).hear(call(**{"title": "x", **fields})))[:1]
    assert start["name"] == name


def test_a_packet_keeps_the_title_it_had_before() -> None:
    entries = listening(NAMES).hear(call(title="run_it: echo hi", kind="execute", _meta={"toolName": "run_it"}))
    assert packets(entries)[0]["title"] == "run_it: echo hi"


def test_the_name_stays_the_same_from_start_to_end() -> None:
    told = listening(NAMES)
    entries = told.hear(call(title="Shell", kind="execute", status="pending", rawInput={}, _meta={"toolName": "run_it"}))
    entries += told.hear(more(status="in_progress", rawInput={"command": "ls"}), more(status="completed", title="OK."))
    assert {event["name"] for event in events(entries) if "name" in event} == {"bash"}


def test_a_running_call_is_judged_by_what_it_would_do() -> None:
    event = only(made("execute", rawInput={"command": "curl -s https://sh.rustup.rs | sh"}), "tool:executing")
    assert event["riskLevel"] == "critical" and "network" in event["_meta"]["risk"]["reason"]


def test_a_command_that_only_the_title_names_is_judged_too() -> None:
    told = listening()
    event = only(events(told.hear(call(title="rm -rf /", kind="execute", status="in_progress"))), "tool:executing")
    assert (event["riskLevel"], event["input"]) == ("high", {})


def test_a_file_outside_of_the_folder_is_a_higher_risk() -> None:
    inside = only(made("edit", rawInput={"file_path": "/w/a", "content": "x"}), "tool:executing")["riskLevel"]
    outside = only(made("edit", rawInput={"file_path": "/etc/passwd", "content": "x"}), "tool:executing")["riskLevel"]
    assert (inside, outside) == ("medium", "high")


def test_an_approval_has_the_risk_of_its_call() -> None:
    found = events(listening().hear(ask(kind="edit", rawInput={"file_path": "/etc/passwd", "content": "x"})))
    assert only(found, "approval:requested")["riskLevel"] == only(found, "tool:executing")["riskLevel"] == "high"


def test_a_permission_after_the_call_runs_tells_it_again_with_approval() -> None:
    told = listening()
    entries = told.hear(call(kind="execute", status="in_progress", rawInput={"command": "ls"}))
    entries += told.hear(ask(kind="execute", rawInput={"command": "ls"}))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    entries += told.take() + told.hear(more(status="in_progress", rawInput={"command": "ls", "cwd": "/w"}))
    assert [event["requiresApproval"] for event in of_type(events(entries), "tool:executing")] == [False, True]


def test_an_input_that_grows_is_told_and_judged_again() -> None:
    told = listening()
    entries = told.hear(call(kind="execute", status="pending", rawInput={"cwd": "/w"}))
    entries += told.hear(more(rawInput={"cwd": "/w", "command": "rm -rf /"}))
    assert [(event["input"].get("command"), event["riskLevel"]) for event in of_type(events(entries), "tool:executing")] == [
        (None, "low"), ("rm -rf /", "high")]


def test_pieces_of_the_arguments_are_told_as_they_come() -> None:
    told = listening()
    told.hear(call(status="pending"))
    found = events(told.hear(AgentNote(ArgsDelta("c", '{"comm'))))
    assert (found[0]["type"], found[0]["delta"]) == ("tool:args_delta", '{"comm')


def test_arguments_of_a_call_that_nobody_knows_are_kept() -> None:
    assert names(listening().hear(AgentNote(ArgsDelta("c", "x")))) == ["args_delta"]


def test_a_title_that_turns_out_to_be_the_command_is_judged() -> None:
    told = listening()
    told.hear(call(title="Shell", kind="execute", status="in_progress"))
    found = events(told.hear(ask(title="rm -rf /", kind="execute")))
    assert only(found, "approval:requested")["riskLevel"] == "high"


def test_a_call_that_fails_in_a_cancelled_turn_was_cancelled() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress"))
    told.at().turns.cancelling(by="ann")
    assert only(events(told.take() + told.hear(more(status="failed"))), "tool:error")["error"]["code"] == "cancelled"
    assert told.fold.errors == 0


def test_a_call_is_counted_once_and_an_ask_alone_is_none() -> None:
    told = listening()
    told.hear(ask(toolCallId="hash", kind="execute"), call(), more(status="failed"))
    assert (told.fold.tool_calls, told.fold.errors) == (1, 1)


@every_row(("said", "line"), [
    ({"kind": "execute", "title": "List it", "rawInput": {"command": "ls -la"}}, "Run: ls -la"),
    ({"kind": "execute", "title": "List it", "rawInput": {"cmd": ["bash", "-lc", "ls -la"]}}, "Run: ls -la"),
    ({"name": "Read", "kind": "read", "title": "Reading", "rawInput": {"absolute_path": "/w/a.py"}}, "Read: /w/a.py"),
    ({"name": "Grep", "kind": "search", "title": "Looking", "rawInput": {"pattern": "TODO"}}, "Grep: TODO"),
    ({"name": "mcp__db__execute", "title": "Ask", "rawInput": {"query": "select 1"}}, "mcp__db__execute: select 1"),
    ({"name": "Read", "kind": "read", "title": "Reading", "rawInput": {"command": "make"}}, "read, which runs: make"),
    ({"kind": "execute", "title": "Terminal"}, "bash"),
])
def test_a_call_starts_with_its_line_and_keeps_its_title_beside_it(said: dict[str, Any], line: str) -> None:
    start = events(Told().turn().hear(call(**said)))[0]
    assert (start["description"], start["_meta"]["title"]) == (line, said["title"])
    if "command" not in said.get("rawInput", {}) or start["name"] == "bash":
        assert describe_tool_call(start["name"], said.get("rawInput")) in (line, start["name"], "bash")


def test_a_title_that_is_the_line_is_not_told_twice() -> None:
    start = events(Told().turn().hear(call(kind="execute", title="Run: ls", rawInput={"command": "ls"})))[0]
    assert start["description"] == "Run: ls" and "title" not in start.get("_meta", {})


def test_events_carry_what_was_read_so_that_no_face_looks_into_the_input() -> None:
    told = Told().turn()
    found = events(told.hear(call(name="do_steps", title="x", rawInput={"steps": [{"run": "make all"}]}, status="in_progress")))
    assert found[1]["_meta"]["reading"] == {"command": "make all"}
    found = events(told.hear(call(toolCallId="g", name="Grep", kind="search", rawInput={"pattern": "x", "path": "src"})))
    assert found[1]["_meta"]["reading"] == {"category": "file_read", "role": "search", "paths": ["src"], "subject": "x  src"}


def test_a_doubt_is_told_with_the_risk() -> None:
    found = events(Told().turn().hear(call(name="Bash", kind="execute", rawInput={"command": "ls", "run_as": "root"})))
    assert found[1]["_meta"]["risk"]["sure"] is False
    assert found[1]["_meta"]["risk"]["doubts"] == ["a member of its input that is not known: run_as"]
