"""A call as it is read when it is announced."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.reading.decode import decode_tool_call_update
from trunkline.dialects.calls import CallReading, ToolNames, name_call, read_call
from trunkline.dialects.packets.detect import tool_by_input
from trunkline.dialects.packets.titles import input_view


def read(call: dict[str, Any], names: ToolNames | None = None) -> CallReading:
    """A call as it is read when it is announced."""
    names = names or ToolNames()
    state = CallState(tool_call_id="c")
    merge_call(state, decode_tool_call_update(msgspec.json.encode({"toolCallId": "c", **call})))
    shape = tool_by_input(input_view(state.raw_input), state.kind)
    tool, by = name_call(state.name, state.first_title, state.kind, shape, names)
    return read_call(tool, state.kind, call.get("rawInput"), named_by=by, names=names, title=state.title)
