"""What a device is told of an event: how much it shows, what it offers to do, for how long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call, reading_meta
from trunkline.dialects.calls.names import usual_name
from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    Event,
    MessageStartEvent,
    SessionStatusChangedEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.types import to_raw
from trunkline.dialects.context.unions import CommandPreview, DescriptionPreview, DiffPreview
from trunkline.journal.base import Entry
from trunkline.server.delivery.push.notes import (
    ASK_MOST_S,
    KEPT_S,
    NEWS_S,
    PREVIEW_MOST,
    TITLE_MOST,
    About,
    PushNote,
    is_past,
    note_of,
    payload_of,
)


def entry(event: Event) -> Entry:
    return Entry(1, 0, encode_event(1, "s", 1_000_000, event))


FOLDER = "/home/ada/project"


def approval(acts: Sequence[dict[str, str]] = (), **more: Any) -> ApprovalRequestedEvent:
    fields = {"request_id": "r1", "tool_call_id": "c", "tool_name": "Bash", "tool_input": {}, "risk_level": "high",
              "description": "Run: " + "x" * 500, "expires_at": "2026-01-01T00:10:00.000Z", **more}
    reading = read_call(usual_name(fields["tool_name"], None), None, fields["tool_input"])
    fields["meta"] = {"reading": reading_meta(reading), "acts": list(acts)}
    fields["tool_input"] = to_raw(fields["tool_input"])
    return ApprovalRequestedEvent(**fields)


def command(line: str, cwd: str = FOLDER, risk: str = "low", **more: Any) -> ApprovalRequestedEvent:
    """An ask to run something."""
    return approval(risk_level=risk, description=f"Run: {line[:200]}", tool_input={"command": line, **more},
                    preview=CommandPreview(command=line, working_dir=cwd))


def told(event: Event, title: str = "T", scope: Any = "approve") -> dict[str, Any]:
    """The push of an event in a session in FOLDER."""
    note = note_of("s", entry(event))
    assert note is not None
    said: dict[str, Any] = json.loads(payload_of(note, About(title, "", FOLDER), scope))
    return said


def test_an_approval_is_told_with_a_short_preview_and_ways_to_answer_for_who_may() -> None:
    said = told(command("x" * 500, risk="high"), "T" * 500)
    assert said["kind"] == "approval" and said["requestId"] == "r1" and said["riskLevel"] == "high"
    assert said["actions"] == ["deny"] and said["tag"] == "ask:r1"
    assert len(said["title"]) == TITLE_MOST and len(said["body"]) == PREVIEW_MOST
    assert "actions" not in told(command("ls"), scope="view")


@every_row(("risk", "line", "offered"), [
    ("low", "npm test", ["approve", "deny"]), ("medium", "npm test", ["approve", "deny"]),
    ("high", "npm test", ["deny"]), ("critical", "npm test", ["deny"]),
    ("low", "x" * PREVIEW_MOST, ["deny"]), ("low", "ls\nrm -r .", ["deny"]), ("low", "echo 'a  b'", ["deny"]),
    ("low", "\u200b" * 100, ["deny"])])
def test_approving_is_offered_only_for_a_command_that_is_not_risky_and_whole(risk: str, line: str, offered: list[str]) -> None:
    assert told(command(line, risk=risk))["actions"] == offered


@every_row(("event", "body"), [
    (approval(risk_level="low", tool_name="WebFetch", description="Fetch the docs", tool_input={"url": "https://evil.example/?q=secret"},
              preview=DescriptionPreview(text="Fetch the docs")), "Use WebFetch: Fetch the docs"),
    (approval(risk_level="medium", tool_name="Edit", description="Edit src/a.py", tool_input={"path": "src/a.py"},
              preview=DiffPreview(path="src/a.py", diff="-a\n+b")), "Change a file: src/a.py"),
    (approval(risk_level="low", tool_name="edit", preview=DiffPreview(path="a.py", diff="-a\n+b"),
              acts=[{"type": "diff", "path": "b.py", "diff": "+c"}]), "Change a file, and 1 more to see: a.py, b.py"),
    (approval(risk_level="low", tool_name="edit", preview=CommandPreview(command="make", working_dir=FOLDER),
              acts=[{"type": "diff", "path": "b.py", "diff": "+c"}]), "edit, which runs: make"),
    (approval(risk_level="medium", tool_name="mcp__mail__send", description="mcp__mail__send",
              tool_input={"to": "x", "body": "y"}, preview=DescriptionPreview(text="mcp__mail__send")),
     "Use mcp__mail__send"),
    (approval(risk_level="low", tool_name="Read", description="Run: ls", tool_input={"value": "ls"}), "Use Read: Run: ls"),
    (approval(risk_level="low", tool_name="mcp__box__run", tool_input={"command": "ls"},
              preview=CommandPreview(command="ls", working_dir=FOLDER)), "mcp__box__run, which runs: ls"),
    (command("ls", file_path="/etc/passwd"), "Bash, which runs: ls"),
    (approval(risk_level="low", description="Run: ls", preview=CommandPreview(command="ls", working_dir=FOLDER)),
     "Bash, which runs: ls"),
])
def test_what_a_note_does_not_show_wholly_is_only_denied_or_opened_and_its_kind_is_told(event: Event, body: str) -> None:
    said = told(event)
    assert (said["body"], said["actions"]) == (body, ["deny"])


def test_what_only_its_terminal_can_answer_offers_nothing_and_says_so() -> None:
    asked = command("ls")
    said = told(replace(asked, meta={**(asked.meta or {}), "answerThere": True}))
    assert "actions" not in said and said["body"] == "Waits in its terminal: Run: ls"


@every_row(("cwd", "body", "offered"), [
    (FOLDER, "Run: make", ["approve", "deny"]), ("/etc", "Run in /etc: make", ["approve", "deny"]),
    ("", "Run in /: make", ["approve", "deny"]), (f"{FOLDER}/..", f"Run in {FOLDER}/..: make", ["approve", "deny"]),
    ("/" + "d" * PREVIEW_MOST, None, ["deny"])])
def test_a_command_that_runs_elsewhere_than_in_its_session_says_where(cwd: str, body: str | None, offered: list[str]) -> None:
    said = told(command("make", cwd, description="Build it", timeout=5, background=False))
    assert said["actions"] == offered and (body is None or said["body"] == body)


def test_what_nobody_would_see_is_spelled_out() -> None:
    said = told(command("ls \u202e#\u200b\x1b[1m"), "a\u2066b")
    assert (said["body"], said["title"]) == ("Run: ls U+202E#U+200BU+001B[1m", "aU+2066b")


def test_how_long_and_how_urgently_it_is_told() -> None:
    note = note_of("s", entry(approval()))
    assert note is not None and note.urgency == "high"
    until = note.until or 0
    assert (note.ttl_s(until - 300), note.ttl_s(until + 1), note.ttl_s(until - 10**6)) == (300, -1, ASK_MOST_S)
    question = note_of("s", entry(UserQuestionEvent(question_id="q1", question="Why?")))
    assert question is not None and (question.ttl_s(0), question.urgency) == (ASK_MOST_S, "high")
    failed = PushNote(kind="failed", session_id="s")
    assert (failed.ttl_s(0), failed.urgency) == (KEPT_S, "normal")


def test_all_about_one_ask_has_one_topic_and_other_asks_have_others() -> None:
    asked = note_of("s", entry(approval()))
    answer = ApprovalResolvedEvent(request_id="r1", tool_call_id="c", approved=True, resolved_by="user")
    resolved = note_of("s", entry(answer))
    assert asked is not None and resolved is not None and resolved.resolves
    assert asked.topic == resolved.topic and asked.tag == resolved.tag
    assert len(asked.topic) <= 32 and set(asked.topic) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    other = note_of("s", entry(approval(request_id="r2")))
    assert other is not None and other.topic != asked.topic


def test_a_turn_that_was_cancelled_and_other_changes_are_nobodys_concern() -> None:
    def changed(**meta: Any) -> PushNote | None:
        return note_of("s", entry(SessionStatusChangedEvent(from_="running", to="idle", meta=meta)))

    assert changed(turnId="t", stopReason="end_turn") == PushNote(kind="finished", session_id="s")
    assert changed(turnId="t", stopReason="cancelled") is None
    assert changed() is None
    assert note_of("s", entry(MessageStartEvent(message_id="m", role="assistant"))) is None


def test_the_history_of_a_session_that_was_just_attached_is_no_news() -> None:
    ended, asked = PushNote(kind="finished", session_id="s"), PushNote(kind="approval", session_id="s", ask="r1")
    assert is_past(ended, 0, NEWS_S + 1) and not is_past(ended, 0, NEWS_S - 1)
    assert not is_past(asked, 0, NEWS_S + 1), "whether it waits is looked up"
