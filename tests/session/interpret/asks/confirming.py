"""Calls that wait, and an ask that says nothing of its own."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.call_builders import call, only
from tests.session.interpret.told import Told, events
from tests.session.script import OPTIONS
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.fold import ApprovalView

CONFIRM: dict[str, Any] = {"kind": "other", "title": "Confirm Agent Actions", "toolCallId": "confirmation-1"}


def confirm(request_id: str = "r", **fields: Any) -> PermissionAsk:
    """An ask that says nothing of its own."""
    return PermissionAsk(request_id, msgspec.json.encode({**CONFIRM, **fields}), OPTIONS)


def runs(call_id: str, command: str, **fields: Any) -> Any:
    return call(toolCallId=call_id, kind="execute", title=command, rawInput={"command": command}, **fields)


def asked(told: Told, *signals: Any) -> tuple[ApprovalView, dict[str, Any]]:
    """The approval that comes of these, and its event."""
    found = events(told.hear(*signals))
    return next(reversed(told.fold.approvals.values())), only(found, "approval:requested")


def decide(told: Told, approved: bool, request_id: str = "r") -> None:
    told.at().asks.resolve(request_id, approved=approved, resolved_by="user", who="ann")
