"""The agent's plan: what it means to do, line by line."""

from __future__ import annotations

from typing import Final

from trunkline.dialects.acp.reading.large import LARGE_UPDATE
from trunkline.dialects.acp.updates import PlanEntry
from trunkline.dialects.context.events import TodoUpdateEvent
from trunkline.dialects.context.types import Todo as ContextTodo
from trunkline.dialects.packets.derive import plan_packet
from trunkline.session.fold import Todo
from trunkline.session.interpret.writer import Writer

TODOS: Final = 500
TODO_CHARS: Final = 1000
"""Lines of a plan, and characters of each, that the session's state and its event have; the update has all."""

PACKET_LINES: Final = 1000
"""Lines of a plan that its packet has. The longest seen in agents has 60."""

MORE: Final = PlanEntry(content="… (this plan has more lines than are told)", priority="low", status="pending")


def write_plan(writer: Writer, plan: list[PlanEntry], wire: bytes | None, raw: bytes | None) -> None:
    """A new plan replaces the old one; the same one again is emitted only where the agent itself sent it."""
    todos = [Todo(entry.content[:TODO_CHARS], entry.status, entry.priority) for entry in plan[:TODOS]]
    if todos == writer.fold.todos and wire is None:
        return
    writer.fold.todos = todos
    listed = [ContextTodo(content=todo.content, status=todo.status) for todo in todos]  # type: ignore[arg-type]
    is_cut = len(plan) > PACKET_LINES or (raw is not None and len(raw) >= LARGE_UPDATE)
    packet = plan_packet([*plan[:PACKET_LINES], MORE] if is_cut else plan, writer.at)
    writer.add(TodoUpdateEvent(todos=listed), update=wire, packet=packet, raw=raw)
