"""Blocks of a model's format that agents pass on in messages: parts of a message, never calls."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.session.interpret.told import Told, names
from tests.session.script import update
from tests.tooling.rows import every_row
from trunkline.dialects.context.unions import ToolResultPart, ToolUsePart
from trunkline.session.interpret.calls.blocks import tool_part
from trunkline.session.interpret.writer import TEXT_LIMIT


def chunk(kind: str = "agent_message_chunk", **block: Any) -> bytes:
    return msgspec.json.encode({"sessionUpdate": kind, "content": block})


def test_a_tool_use_is_a_part_of_the_agents_message() -> None:
    found = tool_part(chunk(type="tool_use", id="t1", name="Bash", input={"command": "make"}))
    assert found is not None
    role, part = found
    assert role == "assistant" and isinstance(part, ToolUsePart)
    assert (part.tool_call_id, part.name, bytes(part.input)) == ("t1", "Bash", b'{"command":"make"}')


@pytest.mark.parametrize(("block", "text", "failed"), [
    ({"tool_use_id": "t1", "content": "done"}, "done", msgspec.UNSET),
    ({"toolCallId": "t1", "content": [{"text": "a"}, {"type": "image"}, {"text": "b"}], "is_error": True}, "a\nb", True),
    ({"tool_use_id": "t1", "content": {"n": 1}, "isError": False, "is_error": True}, '{"n":1}', False),
])
def test_a_tool_result_is_a_part_with_its_text(block: dict[str, Any], text: str, failed: object) -> None:
    found = tool_part(chunk("user_message_chunk", type="tool_result", **block))
    assert found is not None
    role, part = found
    assert role == "user" and isinstance(part, ToolResultPart)
    assert (part.tool_call_id, part.content, part.is_error) == ("t1", text, failed)


@every_row("line", [
    chunk(type="tool_use", name="Bash"),  # of no call
    chunk("tool_call", type="tool_use", id="t1"), chunk(type="text", id="t1", text="hi"), b"{", b'{"content":3}',
    chunk(type="tool_use", id="t1", input={"x": "y" * TEXT_LIMIT}),
])
def test_what_is_no_such_block_is_none(line: bytes) -> None:
    assert tool_part(line) is None


def test_a_block_in_a_message_makes_no_call() -> None:
    told = Told().turn()
    entries = told.hear(update(sessionUpdate="agent_message_chunk", content={"type": "tool_use", "id": "t1", "name": "Bash"}))
    assert told.fold.calls == {} and not any(name.startswith("tool:") for name in names(entries))
