"""``file:*``: files that the agent created, changed or deleted."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trunkline.dialects.context.events.base import EventBase
from trunkline.dialects.context.types import ChangeType, FileBatchChange


class FileChangeEvent(EventBase, tag="file:change", kw_only=True, frozen=True):
    """One file changed."""

    path: str
    change_type: ChangeType
    diff: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    lines_added: int | UnsetType = UNSET
    lines_removed: int | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class FileChangeBatchEvent(EventBase, tag="file:batch", kw_only=True, frozen=True):
    """Several files changed together."""

    changes: list[FileBatchChange]
    description: str | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
