"""A session of OpenCode's, row by row: each told as far as it has come, and once."""

from __future__ import annotations

import json
from typing import Any

from tests.tooling.stores import DATA, read_lines
from trunkline.dialects.elsewhere.transcripts import Timed
from trunkline.dialects.notes import AgentNote, CostSpent, CustomNote, TokensSpent
from trunkline.dialects.opencode.rows import REMEMBERED, OpencodeRows, Row
from trunkline.dialects.signals import Signal, TurnEnd, Update

ASKED = {"role": "user", "time": {"created": 1}}
ANSWERED = {"role": "assistant", "time": {"created": 1, "completed": 9}, "finish": "stop"}
WORKING = {"role": "assistant", "time": {"created": 1}}


def row(row_id: str, data: Any) -> Row:
    return Row(row_id, 1000, 2000, data if isinstance(data, bytes) else json.dumps(data).encode())


def signals(told: list[Timed]) -> list[Signal]:
    return [signal for _, signal in told]


def updates(told: list[Timed]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for _, signal in told if isinstance(signal, Update)]


def tool(status: str, name: str = "bash", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": "c1", "state": {"status": status, "input": {"command": "ls"}, **state}}


def test_the_recorded_rows_are_told_in_order_with_their_times() -> None:
    rows = read_lines(DATA / "opencode" / "rows.jsonl")
    reading, told = OpencodeRows(), []
    for message in [each for each in rows if each["table"] == "message"]:
        parts = [each for each in rows if each.get("message_id") == message["id"]]
        told += reading.message(*((made := [Row(each["id"], each["time_created"], each["time_updated"], each["data"].encode())
                                            for each in (message, *parts)])[0], made[1:]))
    assert [each.get("content", {}).get("text") if isinstance(each.get("content"), dict) else each["status"]
            for each in updates(told)] == ["run: touch a1", "I will use a tool. ", "in_progress", "completed", "Done."]
    assert signals(told)[-1] == TurnEnd(stop="end_turn")
    assert sum(signal.body.input for signal in signals(told) if isinstance(signal, AgentNote)
               and isinstance(signal.body, TokensSpent)) == 200
    assert [at for at, _ in told] == sorted(at for at, _ in told) and told[0][0] == 1_794_841_055_424_000


def test_a_text_is_told_when_it_is_whole_and_once() -> None:
    reading = OpencodeRows()
    text = {"type": "text", "text": ""}
    assert reading.message(row("m", WORKING), [row("p", text)]) == []
    assert reading.message(row("m", WORKING), [row("p", {**text, "text": "Hal"})]) == []
    told = reading.message(row("m", WORKING), [row("p", {**text, "text": "Hello", "time": {"start": 5, "end": 6}})])
    assert [each["content"]["text"] for each in updates(told)] == ["Hello"] and told[0][0] == 5000
    assert reading.message(row("m", ANSWERED), [row("p", {**text, "text": "Hello"})]) == [(9000, TurnEnd(stop="end_turn"))]
    assert reading.message(row("m", ANSWERED), []) == []


def test_a_call_is_told_when_it_begins_and_when_it_ends() -> None:
    reading = OpencodeRows()
    assert reading.message(row("m", WORKING), [row("p", tool("pending"))]) == []
    (begun,) = updates(reading.message(row("m", WORKING), [row("p", tool("running", time={"start": 5}))]))
    assert (begun["status"], begun["title"], begun["kind"]) == ("in_progress", "ls", "execute")
    assert reading.message(row("m", WORKING), [row("p", tool("running", time={"start": 5}))]) == []
    (ended,) = updates(reading.message(row("m", WORKING), [row("p", tool("completed", output="a", metadata={"exit": 3}))]))
    assert (ended["status"], ended["rawOutput"]) == ("failed", {"exitCode": 3, "output": "a"})
    failed = updates(OpencodeRows().message(row("m", WORKING), [row("p", tool("error", "edit", error="no such file"))]))
    assert [each["status"] for each in failed] == ["in_progress", "failed"]


def test_the_list_of_todos_is_a_plan() -> None:
    todos = [{"content": "Look", "status": "completed"}, {"content": "Act", "status": "in_progress"}]
    part = tool("completed", "todowrite")
    part["state"]["input"] = {"todos": todos}
    (plan,) = updates(OpencodeRows().message(row("m", WORKING), [row("p", part)]))
    assert [(each["content"], each["status"]) for each in plan["entries"]] == [("Look", "completed"), ("Act", "in_progress")]


def test_what_a_person_sent_is_one_prompt_without_what_was_added_for_the_model() -> None:
    parts = [{"type": "text", "text": "Look at "}, {"type": "text", "text": "<file>", "synthetic": True},
             {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"},
             {"type": "file", "mime": "text/plain", "url": "file:///home/dev/a.txt", "filename": "a.txt"},
             {"type": "file", "mime": "text/plain", "url": "data:text/plain,x", "filename": "b.txt"}]
    told = OpencodeRows().message(row("m", ASKED), [row(f"p{number}", part) for number, part in enumerate(parts)])
    assert [each["content"]["type"] for each in updates(told)] == ["text", "image", "resource_link", "text"]
    assert {each["messageId"] for each in updates(told)} == {"m"}


def test_how_a_turn_ended_is_told() -> None:
    def end(**data: Any) -> list[Signal]:
        return signals(OpencodeRows().message(row("m", {**ANSWERED, **data}), []))

    assert end(finish="length") == [TurnEnd(stop="max_tokens")]
    assert end(finish="tool-calls") == []
    assert end(error={"name": "MessageAbortedError"}) == [TurnEnd(stop="cancelled")]
    note, over = end(error={"name": "APIError", "data": {"message": "no luck"}})
    assert isinstance(note, CustomNote) and b"no luck" in note.data and over == TurnEnd(stop="end_turn")


def test_what_it_cost_is_told() -> None:
    count = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}
    step = {"type": "step-finish", "cost": 0.25, "tokens": count}
    tokens, cost = signals(OpencodeRows().message(row("m", WORKING), [row("p", step)]))
    assert isinstance(tokens, AgentNote) and tokens.body == TokensSpent(1, 5, 4, 5, message_id="p")
    assert isinstance(cost, AgentNote) and cost.body == CostSpent(total=0.25)


def test_rows_that_are_broken_or_unknown_say_nothing_and_memory_has_an_end() -> None:
    reading = OpencodeRows()
    assert reading.message(row("m", b"{"), []) == []
    assert reading.message(row("m", WORKING), [row("p", b"\xff"), row("q", {"type": "ghost"}), row("r", {"type": "tool"})]) == []
    for number in range(REMEMBERED + 9):
        reading.message(row("m", WORKING), [row(f"s{number}", {"type": "retry"})])
    assert len(reading._told) == REMEMBERED
