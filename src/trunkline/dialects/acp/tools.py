"""The parts of a tool call: kinds, statuses, content, locations."""

from __future__ import annotations

from typing import Literal

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.shape import Shape, Uint

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolCallStatus = Literal["pending", "in_progress", "completed", "failed"]


class Content(Shape, frozen=True, kw_only=True, tag_field="type", tag="content"):
    """A block to show as the tool's output."""

    content: ContentBlock


class Diff(Shape, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    """A change to one file; without ``old_text`` the file is new."""

    path: str
    new_text: str
    old_text: str | None = None


class Terminal(Shape, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """The live output of a terminal, by id."""

    terminal_id: str


ToolCallContent = Content | Diff | Terminal


class ToolCallLocation(Shape, frozen=True, kw_only=True):
    """A place in a file that a tool works on; lines count from 1."""

    path: str
    line: Uint | None = None
