"""A session file of Claude Code, line by line: real lines, and lines that nobody should write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.acp.schema import faults
from trunkline.dialects.claude.transcript import ClaudeTranscript, answer_text, instant, prompt_text, read_line
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update

FILE = next((Path(__file__).parents[2] / "data" / "claude" / "projects").rglob("*.jsonl"))
LINES = FILE.read_bytes().splitlines()


def told(lines: list[bytes]) -> list[tuple[int, Signal]]:
    transcript = ClaudeTranscript()
    return [each for line in lines for each in transcript.line(line)] + transcript.settle()


def updates(lines: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for _, signal in told(lines) if isinstance(signal, Update)]


def notes(lines: list[bytes], kind: str) -> list[dict[str, Any]]:
    return [json.loads(signal.to_json()) for _, signal in told(lines)
            if isinstance(signal, AgentNote | CustomNote) and signal.kind == kind]


def line(kind: str, content: Any, *, uuid: str = "u1", **more: Any) -> bytes:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return json.dumps({"type": kind, "uuid": uuid, "timestamp": "2026-01-01T00:00:00.000Z", "message": message, **more}).encode()


def test_a_real_session_is_told_with_both_sides_its_tools_and_its_plan() -> None:
    kinds = [update["sessionUpdate"] for update in updates(LINES)]
    assert kinds.count("user_message_chunk") == 2
    assert kinds.count("agent_thought_chunk") == 1
    assert kinds.count("agent_message_chunk") == 3
    assert kinds.count("plan") == 1, "the todo list is a plan, not a call"
    calls = [update for update in updates(LINES) if update["sessionUpdate"] == "tool_call"]
    assert [call["name"] for call in calls] == ["Read", "Edit", "Write", "Bash", "Grep", "Task"]
    assert [call["kind"] for call in calls] == ["read", "edit", "edit", "execute", "search", "think"]
    ends = {update["toolCallId"]: update["status"] for update in updates(LINES) if update["sessionUpdate"] == "tool_call_update"}
    assert set(ends) == {call["toolCallId"] for call in calls}, "every call ends"
    assert sorted(ends.values()) == ["completed"] * 5 + ["failed"], "the command failed"


def test_every_update_is_one_of_the_protocol() -> None:
    for update in updates(LINES):
        assert not faults("SessionUpdate", json.dumps(update).encode()), update


def test_a_change_is_shown_within_the_whole_file_and_a_new_file_has_no_old_text() -> None:
    changed, made = [item for update in updates(LINES) if update["sessionUpdate"] == "tool_call_update"
                     for item in update["content"] if item["type"] == "diff"]
    assert (changed["oldText"], changed["newText"]) == ("hello\nworld\n", "hello\nmoon\n")
    assert "oldText" not in made and made["newText"] == "print(1)\n"


def test_a_turn_ends_once_as_of_the_line_that_ended_it() -> None:
    ends = [(at, signal) for at, signal in told(LINES) if isinstance(signal, TurnEnd)]
    answers = [instant(read.timestamp) for raw in LINES if (read := read_line(raw)) and read.type == "assistant"
               and read.message["stop_reason"] == "end_turn"]
    assert [(at, signal.stop) for at, signal in ends] == [(at, "end_turn") for at in answers]


def test_a_turn_that_a_stop_sequence_ended_keeps_that_word() -> None:
    ends = [signal for reason in ("stop_sequence", "end_turn") for _, signal in told([
        line("assistant", [{"type": "text", "text": "so"}], message={"stop_reason": reason})]) if isinstance(signal, TurnEnd)]
    assert [(end.stop, end.agent_stop) for end in ends] == [("end_turn", "stop_sequence"), ("end_turn", None)]


def test_a_thought_that_is_not_shown_is_told_as_one() -> None:
    hidden = line("assistant", [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "So."}])
    assert notes([hidden], "redacted_thinking") == [{}]


def test_the_usage_that_every_line_of_a_message_repeats_is_told_once() -> None:
    ids = {read.message["id"] for raw in LINES if (read := read_line(raw)) and read.type == "assistant"}
    spent = notes(LINES, "tokens")
    assert len(spent) == len(ids)
    assert {each["messageId"] for each in spent} == ids
    assert spent[0] == {"input": 100, "output": 20, "cacheRead": 50, "cacheWrite": 7, "messageId": spent[0]["messageId"]}


def test_the_model_is_told_when_it_changes() -> None:
    assert len(notes(LINES, "model")) == 1
    again = [line("assistant", [], message={"model": name, "id": name}) for name in ("a", "a", "b", "<synthetic>")]
    assert [note["id"] for note in notes(again, "model")] == ["a", "b"]


def test_signals_carry_the_time_of_their_line() -> None:
    times = [at for at, _ in told(LINES)]
    assert times == sorted(times) and min(times) > 1_700_000_000_000_000


def test_an_interruption_is_a_cancelled_turn() -> None:
    signals = told([line("user", "go"), line("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}])])
    assert [signal.stop for _, signal in signals if isinstance(signal, TurnEnd)] == ["cancelled"]


def test_what_no_person_wrote_is_no_message() -> None:
    hidden = [
        line("user", "<command-name>/clear</command-name>"), line("user", "<local-command-stdout>x</local-command-stdout>"),
        line("user", "a caveat", isMeta=True), line("user", "from below", isSidechain=True), line("user", ""),
        line("user", "Summary of what was said", isCompactSummary=True),
        line("assistant", [{"type": "text", "text": "from below"}], isSidechain=True),
        b'{"type":"attachment","attachment":{"type":"prompt_snapshot","content":"secret"},"uuid":"a"}',
        b'{"type":"file-history-snapshot","messageId":"x"}',
    ]
    assert updates(hidden) == []
    assert all(not prompt_text(read) for raw in hidden if (read := read_line(raw)))


def test_an_image_that_a_person_sent_is_told_as_one() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    first, second = updates([line("user", [{"type": "text", "text": "look"}, image])])
    assert first["content"] == {"type": "text", "text": "look"} and first["messageId"] == second["messageId"]
    assert second["content"] == {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def test_titles_are_told() -> None:
    lines = [b'{"type":"custom-title","customTitle":"Mine"}', b'{"type":"ai-title","aiTitle":"Its own"}', b'{"type":"ai-title"}']
    assert [update["title"] for update in updates(lines)] == ["Mine", "Its own"]


def test_a_torn_line_is_told_as_such_and_the_next_one_is_read() -> None:
    torn = LINES[2][:40]
    signals = told([torn, line("user", "go")])
    assert isinstance(signals[0][1], Malformed) and signals[0][1].size == 40
    assert len(signals) == 2


def test_a_message_that_goes_on_after_a_pause_counts_once() -> None:
    usage = {"usage": {"input_tokens": 1, "output_tokens": 2}, "id": "m1", "stop_reason": "end_turn"}
    transcript = ClaudeTranscript()
    transcript.line(line("assistant", [{"type": "text", "text": "one"}], message=usage))
    first = [signal for _, signal in transcript.settle()]
    transcript.line(line("assistant", [{"type": "text", "text": "two"}], message=usage))
    second = [signal for _, signal in transcript.settle()]
    assert [type(signal) for signal in first] == [AgentNote, TurnEnd]
    assert not any(isinstance(signal, AgentNote) for signal in second)


KEYS = ["type", "text", "id", "name", "input", "content", "tool_use_id", "usage", "input_tokens", "model", "stop_reason",
        "source", "todos", "edits"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=12)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image"])},
    optional={name: JSON for name in ("text", "thinking", "id", "name", "input", "content", "source", "tool_use_id")})
MESSAGE = st.fixed_dictionaries({}, optional={
    "content": st.lists(BLOCK, max_size=3) | JSON, "usage": JSON, "id": JSON, "model": JSON, "stop_reason": JSON})
WRITTEN = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "summary", "custom-title", "x"])},
    optional={"message": MESSAGE | JSON, "toolUseResult": JSON, "timestamp": st.text(max_size=5), "isMeta": st.booleans(),
              "uuid": st.text(max_size=3)})


@given(st.lists(WRITTEN.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=20), max_size=8))
def test_no_line_breaks_the_reader(lines: list[bytes]) -> None:
    for _, signal in told(lines):
        assert isinstance(signal, Update | AgentNote | CustomNote | TurnEnd | Malformed)
        if isinstance(signal, Update):
            msgspec.json.decode(signal.raw)
    for read in filter(None, map(read_line, lines)):
        prompt_text(read)
        answer_text(read)
