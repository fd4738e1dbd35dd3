"""Which entries end a turn, whatever else the journal says."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.tooling.rows import every_row
from trunkline.journal.base import Entry
from trunkline.server.acp.attachment.event_messages import ends_turn


def entry(**event: Any) -> Entry:
    kind = event.pop("type")
    return Entry(1, 1, msgspec.json.encode({"seq": 1, "sessionId": "s", "timestamp": "t", "type": kind, **event}))


@every_row(("event", "ends"), [
    ({"type": "session:status_changed", "_meta": {"turnId": "t1", "stopReason": "end_turn"}}, True),
    ({"type": "session:status_changed", "_meta": {"turnId": "t1"}}, False),
    ({"type": "session:status_changed", "_meta": {"turnId": "t2", "stopReason": "end_turn"}}, False),
    ({"type": "session:error", "error": {"code": "x"}, "_meta": {"turnId": "t1"}}, True),
    ({"type": "custom", "namespace": "trunkline", "eventName": "turn_ended",
      "_meta": {"turnId": "t1", "stopReason": "cancelled"}}, True),
    ({"type": "custom", "namespace": "trunkline", "eventName": "prompt_dropped", "data": {"turnId": "t1"}}, True),
    ({"type": "custom", "namespace": "trunkline", "eventName": "prompt_dropped", "data": {"turnId": "t2"}}, False),
    ({"type": "message:delta", "_meta": {"turnId": "t1", "stopReason": "end_turn"}}, False),
])
def test_a_turn_ends_with_its_stop_reason_its_failure_or_its_prompt(event: dict[str, Any], ends: bool) -> None:
    assert ends_turn(entry(**event), "t1") is ends
