"""What waits for somebody in the hub, kept current from what the hub sends."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline.client import ContextEvent
from trunkline.client.asks import OpenAsks
from trunkline.errors import Unavailable


@every_row("raw", [
    b'{"type":"approval:requested"}', b'{"type":"approval:requested","sessionId":"s","_meta":[]}',
    b'{"type":"interaction:question","sessionId":"s","options":3}', b'{"type":"custom","eventName":"question_resolved","data":7}',
    b'{"type":"approval:requested","sessionId":7}',
])
def test_an_ask_that_cannot_be_read_is_told_as_unavailable(raw: bytes) -> None:
    async def check() -> None:
        with pytest.raises(Unavailable):
            OpenAsks().on_event(ContextEvent(raw))

    run(check())


def event(kind: str, **fields: Any) -> ContextEvent:
    body = {"type": kind, "sessionId": "s", "seq": 1, "timestamp": "2026-01-01T00:00:00Z", **fields}
    return ContextEvent(msgspec.json.encode(body))


def permission(request_id: str, **fields: Any) -> ContextEvent:
    return event("approval:requested", requestId=request_id, toolCallId="c", toolName="Bash", description="Run: make",
                 riskLevel="low", toolInput={}, expiresAt="", **fields)


def ids(asks: OpenAsks) -> list[str]:
    return [each.approval.request_id if each.approval else each.question.question_id if each.question else ""
            for each in asks.pending]


def test_what_is_asked_is_open_until_it_is_resolved() -> None:
    async def check() -> None:
        asks = OpenAsks()
        asks.on_event(permission("r1", _meta={"title": "Make", "risk": {"reason": "it builds", "sure": False, "doubts": ["?"]}}))
        asks.on_event(event("interaction:question", questionId="q1", question="Which?", _meta={"url": "https://x.test"}))
        assert ids(asks) == ["r1", "q1"]
        view = asks.pending[0].approval
        assert view is not None and (view.title, view.risk_reason, view.sure, view.doubts) == ("Make", "it builds", False, ["?"])
        asks.on_event(event("approval:resolved", requestId="r1", approved=True))
        asks.on_event(event("custom", namespace="trunkline", eventName="question_resolved", data={"questionId": "q1"}))
        assert ids(asks) == []

    run(check())


def test_all_that_the_hub_says_is_open_takes_the_place_of_what_was_known() -> None:
    async def check() -> None:
        asks, other = OpenAsks(), OpenAsks()
        asks.on_event(permission("old"))
        other.on_event(permission("new"))
        asks.renew(other.pending)
        assert ids(asks) == ["new"]

    run(check())


def test_who_looks_late_sees_what_is_true_now_and_then_every_change() -> None:
    async def check() -> None:
        asks = OpenAsks()
        asks.on_event(permission("r1"))
        async with aclosing(asks.changes()) as changes:
            assert len(await anext(changes)) == 1
            asks.on_event(permission("r1"))  # known already: no change
            asks.on_event(event("message:delta", delta="r1"))
            asks.on_event(permission("r2"))
            assert len(await anext(changes)) == 2
            asks.end(Unavailable("the hub is gone"))
            with pytest.raises(Unavailable, match="gone"):
                await anext(changes)

    run(check())
