"""goose's messages, by recorded rows: what each says, once, and when a turn is over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import msgspec
from hypothesis import given

from trunkline.dialects.goose.messages import GooseMessages, Row, answer_of, prompt_of
from trunkline.dialects.signals import TurnEnd, Update

DATA = Path(__file__).parents[2] / "data" / "stores" / "goose" / "rows.jsonl"


def row(number: int, role: str, *parts: Any, metadata: Any = None, created: int = 1794841794) -> Row:
    return Row(number, f"m{number}", role, created, json.dumps(parts).encode(), json.dumps(metadata or {}).encode())


def recorded() -> list[Row]:
    lines = [json.loads(line) for line in DATA.read_text().splitlines()]
    return [Row(each["id"], each["message_id"], each["role"], each["created_timestamp"], each["content_json"].encode(),
                each["metadata_json"].encode()) for each in lines if each["table"] == "messages"]


def told(reading: GooseMessages, *rows: Row) -> list[Any]:
    """The updates of these rows."""
    return [json.loads(signal.raw) for each in rows for _, signal in reading.message(each) if isinstance(signal, Update)]


def test_recorded_rows_are_a_prompt_an_answer_and_a_call() -> None:
    reading = GooseMessages()
    updates = told(reading, *recorded())
    assert [each["sessionUpdate"] for each in updates[:4]] == [
        "user_message_chunk", "agent_message_chunk", "tool_call", "tool_call_update"]
    prompt, said, call, result = updates[:4]
    assert prompt["content"]["text"] == "run: touch a1" and said["content"]["text"] == "I will use a tool. "
    assert (call["toolCallId"], call["kind"], call["rawInput"]) == ("call_d85286af472149d5", "execute", {"command": "touch a1"})
    assert (result["toolCallId"], result["status"], result["rawOutput"]["exitCode"]) == (call["toolCallId"], "completed", 0)
    assert reading.settle() == [], "behind a result the turn goes on"
    assert [prompt_of(each) for each in recorded()] == ["run: touch a1", "", "", ""]
    assert [answer_of(each) for each in recorded()] == ["", "", "I will use a tool.", ""]


def test_rows_that_are_written_anew_are_not_told_again() -> None:
    reading = GooseMessages()
    told(reading, *recorded())
    anew = [msgspec.structs.replace(each, number=each.number + 100) for each in recorded()]
    assert told(reading, *anew) == []


def test_an_answer_without_a_call_ends_its_turn_once_nothing_follows() -> None:
    reading = GooseMessages()
    reading.message(row(1, "assistant", {"type": "text", "text": "I will."}))
    reading.message(row(2, "assistant", {"type": "toolRequest", "id": "c", "toolCall": {"value": {"name": "shell"}}}))
    assert reading.settle() == []
    reading.message(row(3, "assistant", {"type": "text", "text": "Done."}))
    assert [signal for _, signal in reading.settle()] == [TurnEnd(stop="end_turn")] and reading.settle() == []


def test_a_result_that_failed_says_so() -> None:
    failed = {"type": "toolResponse", "id": "c", "toolResult": {"status": "error", "error": "denied"}}
    broken = {"type": "toolResponse", "id": "d", "toolResult": {"value": {"structuredContent": {"exit_code": 3}}}}
    updates = told(GooseMessages(), row(1, "user", failed), row(2, "user", broken))
    assert [(each["status"], each.get("rawOutput")) for each in updates] == [
        ("failed", {"output": "denied"}), ("failed", {"exitCode": 3})]


def test_what_people_do_not_see_is_not_told_and_thoughts_are_thoughts() -> None:
    reading = GooseMessages()
    assert told(reading, row(1, "user", {"type": "text", "text": "hidden"}, metadata={"userVisible": False})) == []
    (thought,) = told(reading, row(2, "assistant", {"type": "thinking", "thinking": "Hm."}))
    assert thought["sessionUpdate"] == "agent_thought_chunk"


@given(st.binary(max_size=100) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "text", "id", "toolCall", "toolResult", "value", "content", "status", "arguments"]), inner,
        max_size=5),
    max_leaves=15).map(lambda value: json.dumps(value).encode()), st.sampled_from(["user", "assistant", "", "tool"]))
def test_nothing_raises(content: bytes, role: str) -> None:
    reading = GooseMessages()
    reading.message(Row(1, "", role, -5, content, content))
    reading.settle()
