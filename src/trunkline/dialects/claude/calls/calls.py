"""Tool calls of a conversation, from the first sign of one to its result; and the plan, where tools write one.

Rule 1: a call is announced once, emitted whole when its input is complete, and ended once.
Rule 2: the todo list is emitted as a call and as a plan. The plan goes first: whoever looks at the call knows it already.
Rule 3: what a sub-agent does names the call that started it. Its todo list is its own, and no plan of the conversation's.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from trunkline.dialects.claude.calls import results, tools
from trunkline.dialects.notes import AgentNote, ArgsDelta
from trunkline.dialects.outside import Json
from trunkline.dialects.signals import Signal, Update

BROKEN_OFF: Final = "The model's answer broke off before this call was complete."

_encode = msgspec.json.Encoder().encode


class OpenToolCall(msgspec.Struct):
    """A call that has not ended."""

    name: str
    given: Json
    parent: str | None
    is_whole: bool = False
    edited: bool = False
    title: str = ""


class ToolCalls:
    """The open calls of one CLI process."""

    def __init__(self) -> None:
        self._open: dict[str, OpenToolCall] = {}
        self._tasks: dict[str, Json] = {}
        """The plan's steps as the Task tools keep them, by their ids."""
        self._has_plan = False

    def is_open(self, call_id: str) -> bool:
        """Whether a call has begun and not ended."""
        return call_id in self._open

    def name_of(self, call_id: str) -> str:
        """The tool of an open call; empty where there is none."""
        call = self._open.get(call_id)
        return call.name if call is not None else ""

    def input_of(self, call_id: str) -> Json:
        """The input of an open call as the model wrote it; empty where there is none."""
        call = self._open.get(call_id)
        return call.given if call is not None else {}

    def begin(self, call_id: str, name: str, parent: str | None) -> list[Signal]:
        """The model begins to write a call."""
        if not call_id or call_id in self._open:
            return []
        self._open[call_id] = OpenToolCall(name, {}, parent)
        return [_update(under(tools.begun(call_id, name), parent))]

    def delta(self, call_id: str, piece: str) -> list[Signal]:
        """The next piece of a call's input."""
        call = self._open.get(call_id)
        if call is None or call.is_whole or not piece:
            return []
        return [AgentNote(ArgsDelta(call_id, piece))]

    def whole(self, call_id: str, name: str, given: Json, parent: str | None, title: str = "") -> list[Signal]:
        """A call's input is complete. ``title`` is the CLI's own, where it has one."""
        if not call_id:
            return []
        begun = self._open.get(call_id)
        if begun is not None and begun.is_whole and begun.given == given:
            return []
        self._open[call_id] = OpenToolCall(name, given, parent, is_whole=True, title=title)
        update = tools.announced(call_id, name, given) if begun is None else tools.completed(call_id, name, given)
        if title:
            update["title"] = title
        plan = tools.plan(given) if name == tools.TODOS and parent is None else None
        self._has_plan = self._has_plan or plan is not None
        return [*([_update(plan)] if plan is not None else []), _update(under(update, parent))]

    def edited(self, call_id: str, given: Json) -> None:
        """A person allowed a call with another input."""
        call = self._open.get(call_id)
        if call is not None and call.given != given:
            call.given, call.edited = given, True

    def end(self, call_id: str, answer: Any, record: Any, *, failed: bool, parent: str | None) -> list[Signal]:
        """A call has ended."""
        call = self._open.pop(call_id, None) or OpenToolCall("", {}, parent)
        update = results.ended(call_id, call.name, call.given, answer, record, failed)
        if call.edited:
            changed = tools.described(call_id, call.name, call.given)
            update |= {"rawInput": call.given, "title": changed["title"]}
        signals: list[Signal] = [_update(under(update, call.parent))]
        return signals if failed or call.parent is not None else signals + self._planned(call, record)

    def break_off(self, call_ids: list[str]) -> list[Signal]:
        """These were begun and never will be complete."""
        signals: list[Signal] = []
        for call_id in call_ids:
            call = self._open.get(call_id)
            if call is not None and not call.is_whole:
                del self._open[call_id]
                update = results.ended(call_id, call.name, {}, BROKEN_OFF, None, True)
                signals.append(_update(under(update, call.parent)))
        return signals

    def turn_ended(self) -> None:
        """What the main conversation left open will not end any more."""
        self._open = {call_id: call for call_id, call in self._open.items() if call.parent is not None}

    def cleared(self) -> list[Signal]:
        """Another conversation begins, without a plan."""
        had_plan, self._has_plan = self._has_plan, False
        self._open.clear()
        self._tasks.clear()
        return [_update({"sessionUpdate": "plan", "entries": []})] if had_plan else []

    def _planned(self, call: OpenToolCall, record: Any) -> list[Signal]:
        """The plan, where a call has changed it."""
        kept = record if isinstance(record, dict) else {}
        before = _encode(self._tasks)
        match call.name:
            case "TaskCreate":
                self._created(call.given, kept)
            case "TaskUpdate":
                self._changed(call.given, kept)
            case "TaskList":
                self._listed(kept)
        if _encode(self._tasks) == before:
            return []
        self._has_plan = True
        entries = [{"content": task["content"], "priority": "medium", "status": task["status"]} for task in self._tasks.values()]
        return [_update({"sessionUpdate": "plan", "entries": entries})]

    def _created(self, given: Json, record: Json) -> None:
        task = record.get("task")
        task = task if isinstance(task, dict) else {}
        task_id = tools.text_in(task, "id") or str(len(self._tasks) + 1)
        subject = tools.text_in(task, "subject") or tools.text_in(given, "subject")
        if subject:
            self._tasks[task_id] = {"content": subject, "status": "pending"}

    def _changed(self, given: Json, record: Json) -> None:
        task = self._tasks.get(tools.text_in(given, "taskId") or tools.text_in(record, "taskId"))
        if task is None or record.get("success") is False:
            return
        status = tools.text_in(given, "status")
        if status == "deleted":
            self._tasks = {task_id: each for task_id, each in self._tasks.items() if each is not task}
            return
        task["content"] = tools.text_in(given, "subject") or task["content"]
        task["status"] = tools.plan_status(given) if status else task["status"]

    def _listed(self, record: Json) -> None:
        listed = record.get("tasks")
        if not isinstance(listed, list):
            return
        self._tasks = {tools.text_in(task, "id"): {"content": tools.text_in(task, "subject"), "status": tools.plan_status(task)}
                       for task in listed if isinstance(task, dict) and tools.text_in(task, "id")}


def under(update: Json, parent: str | None) -> Json:
    """An update of a call that a sub-agent makes, under the call that started the sub-agent."""
    if parent is not None:
        meta: Json = update.setdefault("_meta", {})
        meta["claudeCode"] = {**meta.get("claudeCode", {}), "parentToolUseId": parent}
    return update


def _update(update: Json) -> Update:
    return Update(_encode(update))
