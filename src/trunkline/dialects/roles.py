"""Moved: what tools are for is in ``dialects/calls/names.py``."""

from __future__ import annotations

from trunkline.dialects.calls.names import ToolNames, name_of_kind, role_of_kind, usual_name
from trunkline.dialects.calls.names import role_of_name as role_of_tool
from trunkline.dialects.calls.types import ToolRole

__all__ = ["ToolNames", "ToolRole", "name_of_kind", "role_of_kind", "role_of_tool", "usual_name"]
