"""What in the journal is worth telling."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    CustomEvent,
    Event,
    MessageDeltaEvent,
    NotificationEvent,
    SessionErrorEvent,
    SessionPausedEvent,
    SessionStatusChangedEvent,
    UserQuestionEvent,
)
from trunkline.dialects.context.types import ErrorInfo, to_raw
from trunkline.journal.base import Entry
from trunkline.server.delivery.webhooks.notices import TEXT_MOST, Notice, body_of, notice_of
from trunkline.session.fold import Fold, view_of

AT = 1_700_000_000_000_000
VIEW = view_of(Fold(session_id="ses_1", agent="demo", cwd="/x", created_at=1, updated_at=1, title="Herons"))


def told(event: Event) -> Notice | None:
    return notice_of("ses_1", Entry(3, AT, encode_event(3, "ses_1", AT, event)))


def sent(event: Event, page: str = "https://hub.example/") -> Any:
    notice = told(event)
    assert notice is not None
    return json.loads(body_of(notice, VIEW, page))


def test_an_approval_is_told_with_a_link_that_opens_exactly_that_one() -> None:
    event = ApprovalRequestedEvent(
        request_id="req/1", tool_call_id="c", tool_name="Bash", tool_input=to_raw({"command": "ls"}),
        description="Run: ls", risk_level="low", expires_at="2026-01-01T00:00:00.000Z")
    assert sent(event) == {"type": "approval", "timestamp": "2023-11-14T22:13:20.000Z", "data": {
        "sessionId": "ses_1", "title": "Herons", "agent": "demo",
        "link": "https://hub.example/#/sessions/ses_1/approvals/req%2F1",
        "requestId": "req/1", "toolName": "Bash", "description": "Run: ls", "riskLevel": "low",
        "expiresAt": "2026-01-01T00:00:00.000Z"}}


def test_a_question_waits_for_a_person_too() -> None:
    body = sent(UserQuestionEvent(question_id="q1", question="Which one?"))
    assert (body["type"], body["data"]["question"]) == ("approval", "Which one?")
    assert body["data"]["link"] == "https://hub.example/#/sessions/ses_1/questions/q1"


def test_the_end_of_a_turn_is_told_and_other_changes_of_the_status_are_not() -> None:
    meta = {"turnId": "t1", "stopReason": "end_turn"}
    body = sent(SessionStatusChangedEvent(from_="running", to="idle", reason="end_turn", meta=meta))
    assert (body["type"], body["data"]["stopReason"], body["data"]["turnId"]) == ("finished", "end_turn", "t1")
    assert body["data"]["link"] == "https://hub.example/#/sessions/ses_1"
    assert told(SessionStatusChangedEvent(from_="idle", to="running", meta={"turnId": "t1"})) is None
    assert told(SessionStatusChangedEvent(from_="running", to="idle", reason="agent_exited")) is None


def test_the_end_of_a_turn_is_told_in_a_held_session_too() -> None:
    data, meta = to_raw({"turnId": "t1"}), {"turnId": "t1", "stopReason": "cancelled"}
    body = sent(CustomEvent(namespace="trunkline", event_name="turn_ended", data=data, meta=meta))
    assert (body["type"], body["data"]["stopReason"], body["data"]["turnId"]) == ("finished", "cancelled", "t1")
    assert told(CustomEvent(namespace="elsewhere", event_name="turn_ended", data=data, meta=meta)) is None


def test_a_failure_is_told_by_its_code() -> None:
    error = ErrorInfo(code="agent_exited", message="m" * 5_000, recoverable=True)
    body = sent(SessionErrorEvent(error=error))
    assert (body["type"], body["data"]["code"], len(body["data"]["message"])) == ("error", "agent_exited", TEXT_MOST)


def test_a_cap_is_told_and_other_news_of_the_agent_are_not() -> None:
    cap: dict[str, Any] = {"cap": "tokens", "share": 0.8, "spent": 80, "limit": 100}
    body = sent(NotificationEvent(level="warning", title="Cap", message="80 of 100 tokens", meta=cap))
    assert (body["type"], body["data"]["message"]) == ("cap", "80 of 100 tokens")
    assert body["data"].items() >= cap.items()
    assert told(NotificationEvent(level="info", title="News", message="x")) is None


def test_everything_else_is_not_worth_it() -> None:
    assert told(MessageDeltaEvent(message_id="m", role="assistant", delta="approval:requested")) is None
    assert told(SessionPausedEvent()) is None


def test_an_event_that_cannot_be_read_is_passed_over() -> None:
    raw = msgspec.Raw(b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}")
    event = ApprovalRequestedEvent(request_id="r", tool_call_id="c", tool_name="n", tool_input=raw, description="d",
                                   risk_level="low", expires_at="e")
    assert told(event) is None
