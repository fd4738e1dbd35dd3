"""Calls as agents tell them, played into a fold."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.told import Told, events
from tests.session.script import OPTIONS, update
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import PermissionAsk, Update
from trunkline.session.interpret import Interpreter


def call(**fields: Any) -> Update:
    """An announcement."""
    return update(sessionUpdate="tool_call", **{"toolCallId": "c", "title": "a call", **fields})


def more(**fields: Any) -> Update:
    """What changed about it."""
    return update(sessionUpdate="tool_call_update", **{"toolCallId": "c", **fields})


def ask(request_id: str = "r", **fields: Any) -> PermissionAsk:
    """A permission for it."""
    return PermissionAsk(request_id, msgspec.json.encode({"toolCallId": "c", **fields}), OPTIONS)


def text(words: str) -> list[dict[str, Any]]:
    """Content that shows a text."""
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def listening(names: ToolNames | None = None, cwd: str = "/w") -> Told:
    """A fold in a turn, with an agent's names for its tools."""
    told = Told()
    told.fold.cwd = cwd
    told.interpret = Interpreter(told.fold, tools=names)
    return told.turn()


def made(kind: str = "other", *, status: str = "completed", told: Told | None = None, names: ToolNames | None = None,
         **fields: Any) -> list[dict[str, Any]]:
    """The events of one call that runs and ends."""
    told = told or listening(names)
    ending = {key: fields.pop(key) for key in ("rawOutput", "content", "_meta") if key in fields}
    entries = told.hear(call(kind=kind, status="in_progress", **fields))
    return events(entries + told.hear(more(status=status, **ending)))


def of_type(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The events of one type."""
    return [event for event in found if event["type"] == kind]


def only(found: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The one event of a type."""
    (event,) = of_type(found, kind)
    return event
