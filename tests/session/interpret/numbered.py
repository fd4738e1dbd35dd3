"""Very many calls and asks, by their numbers."""

from __future__ import annotations

import msgspec

from tests.session.script import OPTIONS, update
from trunkline.dialects.signals import PermissionAsk, Update


def nth_call(number: int, **more: object) -> Update:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look", **more)


def nth_end(number: int, **more: object) -> Update:
    return update(sessionUpdate="tool_call_update", toolCallId=f"c{number}", status="completed", **more)


def nth_ask(number: int, call_id: str = "", padding: int = 0) -> PermissionAsk:
    asked = {"toolCallId": call_id or f"p{number}", "kind": "read", "rawInput": {"path": "a", "why": "x" * padding}}
    return PermissionAsk(f"req-{number}", msgspec.json.encode(asked), OPTIONS)
