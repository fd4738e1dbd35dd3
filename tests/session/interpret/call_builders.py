"""Calls as agents tell them, played into a fold."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.told import Told, events
from tests.session.script import OPTIONS, update
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import PermissionAsk, Update
from trunkline.session.fold import Evidence, OpenCall
from trunkline.session.interpret import Interpreter
from trunkline.session.interpret.calls.facts import Facts, read_open_call


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


def diff(path: str, new: str, old: str | None = None, **more: Any) -> dict[str, Any]:
    """Content that shows a change of a file."""
    return {"type": "diff", "path": path, "newText": new, **({} if old is None else {"oldText": old}), **more}


def change(kind: str = "edit", **fields: Any) -> dict[str, Any]:
    """The change that the events of one call tell."""
    return only(made(kind, **fields), "file:change")


def facts_of(given: object = None, answer: object = None, *, cwd: str = "/w", evidence: Evidence | None = None,
             **fields: Any) -> Facts:
    """What is known of one call that was made with this input and answered with this output."""
    state = CallState(tool_call_id="c", raw_input=None if given is None else msgspec.json.encode(given),
                      raw_output=None if answer is None else msgspec.json.encode(answer), **fields)
    open_call = OpenCall(state, 0, evidence=evidence)
    return Facts(open_call, read_open_call(open_call, ToolNames()), cwd)
