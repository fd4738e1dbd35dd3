"""Calls that were once read in several ways, on a real hub: the same name, category, risk, reason, line and rule on every face.

The rules: whoever wrote them lets reads and searches pass, and denies what a certain server does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.tooling.hub_process import HubProcess, Session
from trunkline.journal.base import Entry
from trunkline.server.delivery.push.notes import note_of

NewHub = Callable[..., HubProcess]

POLICY = """
[[rules]]
tool = ["mcp__db__*"]
action = "deny"
reason = "not this server"

[auto_approve]
reads = true
searches = true
"""
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]


class Row(NamedTuple):
    """A call as its agent tells it, and what every face has to say of it."""

    call: dict[str, Any]
    tool: str
    category: str
    level: str
    reason: str
    line: str
    decided: str = "asked"


ROWS = {
    "a delete with the input of a glob": Row(
        {"title": "delete_files", "kind": "delete", "rawInput": {"pattern": "*"}},
        "delete_files", "file_write", "high", "deletes files", "delete_files: *"),
    "a move with the input of a glob": Row(
        {"title": "move", "kind": "move", "rawInput": {"pattern": "*.log"}},
        "move", "file_write", "medium", "", "move: *.log"),
    "a server's purge": Row(
        {"title": "mcp__fs__purge", "rawInput": {"pattern": "*", "path": "."}},
        "mcp__fs__purge", "mcp", "high", "by its name destroys", "mcp__fs__purge: ."),
    "a shredder": Row(
        {"title": "shred", "rawInput": {"filePath": "x"}}, "shred", "other", "high", "by its name destroys", "shred: x"),
    "a statement for a database": Row(
        {"title": "mcp__db__execute", "rawInput": {"query": "DELETE FROM users"}},
        "mcp__db__execute", "mcp", "high", "changes a database: DELETE FROM users",
        "mcp__db__execute: DELETE FROM users", "denied"),
    "a file of seed 004 that is truncated": Row(
        {"name": "Truncate", "kind": "file", "rawInput": {"path": "a.py"}},
        "Truncate", "other", "high", "by its name destroys", "Truncate: a.py"),
    "a file of seed 004 that is renamed": Row(
        {"name": "Rename", "kind": "file", "rawInput": {"path": "a.py"}}, "Rename", "file_write", "medium", "", "Rename: a.py"),
    "a file of seed 004 that is saved": Row(
        {"name": "Save", "kind": "file", "rawInput": {"path": "a.py"}}, "Save", "file_write", "medium", "", "Save: a.py"),
    "a grep with the pattern of a glob": Row(
        {"title": "grep", "kind": "search", "rawInput": {"pattern": "TODO"}},
        "grep", "file_read", "low", "reads only", "Grep: TODO", "approved"),
    "a glob with the pattern of a grep": Row(
        {"title": "glob", "kind": "search", "rawInput": {"pattern": "src/(a|b)*.py"}},
        "glob", "file_read", "low", "reads only", "Search: src/(a|b)*.py", "approved"),
    "steps that run": Row(
        {"title": "do_steps", "rawInput": {"steps": [{"run": "rm -rf ~"}]}},
        "do_steps", "other", "high", "deletes files: ~", "do_steps, which runs: rm -rf ~"),
    "a read with a command": Row(
        {"name": "Read", "kind": "read", "rawInput": {"command": "rm -rf ~"}},
        "read", "file_read", "high", "deletes files: ~", "read, which runs: rm -rf ~"),
    "a list of lines": Row(
        {"name": "Bash", "kind": "execute", "rawInput": {"commands": ["touch /x"]}},
        "bash", "terminal", "high", "outside", "Run: touch /x"),
    "a character that cannot be seen": Row(
        {"name": "Read", "kind": "read", "rawInput": {"file_path": "notes\u3164.txt"}},
        "read", "file_read", "high", "cannot be seen: U+3164", "Read: notes\u3164.txt"),
    "the same in a command": Row(
        {"name": "Bash", "kind": "execute", "rawInput": {"command": "cat notes\u3164.txt"}},
        "bash", "terminal", "high", "cannot be seen", "Run: cat notes\u3164.txt"),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    hub = HubProcess(tmp_path_factory.mktemp("hub"), policy=POLICY)
    hub.start()
    try:
        yield hub.new_session("puppet")
    finally:
        hub.close()


def asked(session: Session, call: dict[str, Any]) -> list[dict[str, Any]]:
    """Announce a call, ask for it and, if it is let do so, end it; the events of that. A person says no."""
    before = session.view()["lastSeq"]
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    steps = [["update", {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "", **call}],
             ["ask", "session/request_permission", {"toolCall": {"toolCallId": "c", **call}, "options": OPTIONS}],
             ["update", ended]]
    with session.send(json.dumps(steps)) as stream:
        for packet in stream:
            if packet.type == "approval_requested" and session.view()["pendingApprovals"]:
                session.post(f"permissions/{packet.value['requestId']}", {"decision": "deny"})
    page: dict[str, Any] = session.wire.get(f"{session.path}/history?after={before}&limit=1000")
    return list(page["events"])


def one(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(event for event in events if event["type"] == kind)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_every_face_of_a_hub_says_the_same_of_a_call(session: Session, row: Row) -> None:
    events = asked(session, row.call)
    start, running, ask = one(events, "tool:start"), one(events, "tool:executing"), one(events, "approval:requested")
    assert (start["name"], start["category"], start["description"]) == (row.tool, row.category, row.line)
    for face in (running, ask):
        assert (face.get("toolName") or face["name"], face["riskLevel"]) == (row.tool, row.level)
        assert row.reason in face["_meta"]["risk"]["reason"]
        assert face["_meta"]["risk"]["reason"] == running["_meta"]["risk"]["reason"]
        assert face["_meta"]["reading"].get("category", "other") == row.category
    assert ask["description"] == row.line
    resolved = one(events, "approval:resolved")
    by_rule = resolved["resolvedBy"] == "policy"
    assert ("approved" if resolved["approved"] else "denied" if by_rule else "asked") == row.decided
    assert not any(event["type"].startswith(("web:", "git:", "file:")) for event in events)


@pytest.mark.parametrize("about", ["a delete with the input of a glob", "a server's purge", "steps that run",
                                   "a read with a command",
                                   "a character that cannot be seen"])
def test_the_packet_of_an_ask_and_its_push_say_what_its_event_says(session: Session, about: str) -> None:
    row, asks = ROWS[about], []
    steps = [["ask", "session/request_permission", {"toolCall": {"toolCallId": "c", "title": "", **row.call},
              "options": OPTIONS}]]
    with session.send(json.dumps(steps)) as stream:
        for packet in stream:
            if packet.type == "approval_requested":
                asks.append(packet.value)
                session.post(f"permissions/{packet.value['requestId']}", {"decision": "deny"})
    page: dict[str, Any] = session.wire.get(f"{session.path}/history?after={max(0, session.view()['lastSeq'] - 50)}&limit=1000")
    event = [event for event in page["events"] if event["type"] == "approval:requested"][-1]
    (told,) = asks
    assert (told["toolName"], told["toolCategory"], told["riskLevel"]) == (row.tool, row.category, row.level)
    assert told["riskReason"] == event["_meta"]["risk"]["reason"] and event["requestId"] == told["requestId"]
    note = note_of(session.id, Entry(seq=event["_meta"].get("seq", 1), at=1, event=json.dumps(event).encode()))
    assert note is not None and note.risk_level == row.level
    assert note.text.removeprefix("Use ").casefold().startswith((row.tool.casefold(), "rm -rf"))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_explain_and_the_audit_say_what_the_events_say(session: Session, row: Row) -> None:
    kind = "other" if row.call.get("kind") == "file" else row.call.get("kind")
    question = {"tool": row.tool, "input": row.call["rawInput"], "sessionId": session.id, **({"kind": kind} if kind else {})}
    said = session.wire.post("/policy/explain", question)
    assert (said["tool"], said["category"], said["risk"]) == (row.tool, row.category, row.level)
    assert row.reason in said["riskReason"]
    assert {"approved": "allow", "denied": "deny", "asked": "ask"}[row.decided] == said["action"]
    if row.decided == "denied":
        assert said["rule"]["reason"] == "not this server"


def test_the_audit_has_each_of_them_with_its_reason(session: Session) -> None:
    asked(session, ROWS["steps that run"].call)
    done = session.hub.command("audit", "export", session.id)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    found = [record for record in records if "do_steps" in json.dumps(record) and "deletes files: ~" in json.dumps(record)]
    assert found, done.stdout[-2000:]


def test_a_start_file_of_the_shell_is_one_where_the_home_is_the_sessions_folder(session: Session) -> None:
    hub = session.hub
    at_home = hub.new_session("puppet", cwd=hub.home)
    events = asked(at_home, {"name": "Bash", "kind": "execute", "rawInput": {"command": "echo hi > ~/.bashrc"}})
    ask = one(events, "approval:requested")
    assert (ask["riskLevel"], ask["description"]) == ("high", "Run: echo hi > ~/.bashrc")
    assert one(events, "approval:resolved")["resolvedBy"] == "user"
    assert one(events, "tool:executing")["_meta"]["risk"] == ask["_meta"]["risk"]
