"""What programs import from ``trunkline.dialects.packets``: reading packets in every spelling, from whoever wrote them.

Rule 1: the hub itself imports each name from the module that owns it; this file is only loaded when a program wants a name.
"""

from __future__ import annotations

from trunkline.dialects.packets.detect import (
    display_title,
    file_path,
    is_new_file,
    is_task,
    is_todo_write,
    packet_type,
    tool_kind,
)
from trunkline.dialects.packets.tools import tool_input, tool_output

__all__ = [
    "display_title",
    "file_path",
    "is_new_file",
    "is_task",
    "is_todo_write",
    "packet_type",
    "tool_input",
    "tool_kind",
    "tool_output",
]
