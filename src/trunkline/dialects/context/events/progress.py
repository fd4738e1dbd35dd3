"""``progress:*``: the todo list, plan mode, and progress of any other kind."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import Number, Todo


class TodoUpdateEvent(EventBase, tag="progress:todo_update", kw_only=True, frozen=True):
    """The whole todo list, as it is now."""

    todos: list[Todo]


class PlanModeEvent(EventBase, tag="progress:plan_mode", kw_only=True, frozen=True):
    """Plan mode was entered or left."""

    active: bool
    plan: str | UnsetType = UNSET


class ProgressEvent(EventBase, tag="progress:update", kw_only=True, frozen=True):
    """Something moves on."""

    label: str
    current: Number | UnsetType = UNSET
    total: Number | UnsetType = UNSET
    percentage: Number | UnsetType = UNSET
