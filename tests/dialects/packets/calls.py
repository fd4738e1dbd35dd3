"""Tool calls for tests: what an agent's updates add up to, and any sequence of them."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate

AT = 1_769_109_210_917_345
STAMP = "2026-01-22T19:13:30.917345+00:00"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def call_of(*updates: dict[str, Any]) -> CallState:
    """The state after these updates; the first is the announcement. ``toolCallId`` is t1."""
    call = CallState(tool_call_id="t1")
    for number, fields in enumerate(updates):
        kind = "tool_call_update" if number else "tool_call"
        title = {} if number else {"title": ""}
        update = decode_update(msgspec.json.encode({"sessionUpdate": kind, "toolCallId": "t1", **title, **fields}))
        assert isinstance(update, ToolCall | ToolCallUpdate), update
        merge_call(call, update)
    return call


TEXT = {"type": "text", "text": "a\nb"}
CONTENT: list[dict[str, Any]] = [
    {"type": "content", "content": TEXT},
    {"type": "content", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}},
    {"type": "content", "content": {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}},
    {"type": "content", "content": {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3}},
    {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}},
    {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}}},
    {"type": "diff", "path": "/a", "newText": "n", "oldText": None},
    {"type": "diff", "path": "/b", "newText": "n", "oldText": "o"},
    {"type": "terminal", "terminalId": "term-1"},
]
INPUT_KEYS = (
    "command filePath file_path path content old_string oldString new_string pattern todos subagent_type patchText url query x"
).split()
inputs = json_values | st.dictionaries(st.sampled_from(INPUT_KEYS), json_values, max_size=4)
outputs = json_values | st.dictionaries(st.sampled_from(["output", "error", "metadata"]), st.text(max_size=20), max_size=2)
KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]

updates = st.fixed_dictionaries(
    {},
    optional={
        "title": st.text(max_size=12) | st.sampled_from(["bash", "write", "todowrite", "apply_patch", "/a/b.ts"]),
        "name": st.sampled_from(["Bash", "todo_write", "mcp__x__y", "task"]),
        "kind": st.sampled_from(KINDS),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": st.lists(st.sampled_from(CONTENT), max_size=4),
        "locations": st.lists(st.fixed_dictionaries({"path": st.text()}, optional={"line": st.integers(0, 9)}), max_size=2),
        "rawInput": inputs,
        "rawOutput": outputs,
    },
)
call_states = st.lists(updates, min_size=1, max_size=5).map(lambda told: call_of(*told))
