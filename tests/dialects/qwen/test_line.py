"""Qwen Code's event file, by a recorded session: what each line means, and what the program takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.elsewhere.lines import (
    Appeared,
    AskOver,
    Asks,
    Said,
    Says,
    ServerEvent,
    Told,
    Vanished,
    WaitsThere,
    server_line,
)
from trunkline.dialects.qwen.line import ASKS_MOST, QwenLine, new_line
from trunkline.dialects.signals import PermissionAsk
from trunkline.errors import Unsupported

RECORDED = (Path(__file__).parents[2] / "data" / "terminal" / "wire-qwen-0.24.4-dual-output.jsonl").read_bytes().splitlines()
SESSION = "bbf2b947-91da-4590-9a68-1d36816c85d0"


def told(line: QwenLine, *lines: Any) -> list[Any]:
    events = [event for each in lines
              for event in line.receive(each if isinstance(each, bytes) else json.dumps({"session_id": "s", **each}).encode())]
    return [event.event if isinstance(event, Told) else event for event in events]


def stream(kind: str, **event: Any) -> dict[str, Any]:
    return {"type": "stream_event", "parent_tool_use_id": None, "event": {"type": kind, **event}}


def asks(key: str, tool: str = "run_shell_command", call: str = "c") -> dict[str, Any]:
    return {"type": "control_request", "request_id": key,
            "request": {"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": call, "input": {"command": "touch a"}}}


def test_a_recorded_session_is_told_from_its_beginning_to_its_end() -> None:
    events = told(new_line(), *RECORDED)
    assert events[0] == Appeared(SESSION) and events[-1] == Vanished(SESSION)
    said = [event.text for event in events if isinstance(event, Says)]
    assert said == ["I will use a tool. ", "I will use a tool. ", "Done.", "I will use a tool. ", "Done."]
    assert len([event for event in events if isinstance(event, Said)]) == len(said)
    asked = [event for event in events if isinstance(event, Asks)]
    calls = [json.loads(event.ask.tool_call) for event in asked if isinstance(event.ask, PermissionAsk)]
    assert [call["rawInput"]["command"] for call in calls] == ["touch w1", "touch w2", "touch w3"]
    assert all(call["toolCallId"].startswith("call_") for call in calls)
    over = [event for event in events if isinstance(event, AskOver)]
    keys = [event.key for event in asked]
    # The first was denied elsewhere: nothing says so but the next prompt.
    assert over == [AskOver(keys[0]), AskOver(keys[1], True), AskOver(keys[2], True)]


def test_an_answer_is_a_line_and_only_to_what_is_asked() -> None:
    line = new_line()
    told(line, asks("k1"), asks("k2"), asks("k3"), asks("k4"))
    assert line.decided("s", "k1", "allow", None) == (b'{"type":"confirmation_response","request_id":"k1","allowed":true}\n', "")
    assert line.decided("s", "k2", "always", None)[0] is not None, "the rule is ours"
    assert line.decided("s", "k3", "deny", "use b") == (
        b'{"type":"confirmation_response","request_id":"k3","allowed":false}\n', "That was not allowed: use b")
    assert line.decided("s", "k1", "allow", None) == (None, ""), "it is answered"
    assert line.decided("s", "k4", None, "nobody") == (None, "") == line.decided("s", "what", "allow", None)
    assert line.answered("s", "k4", "accept", b"{}") is None


def test_a_prompt_is_one_line_whatever_its_text() -> None:
    sent = new_line().prompt("s", "t", "a\nb\u2028c")
    assert sent.count(b"\n") == 1 and sent.endswith(b"\n")
    assert json.loads(sent) == {"type": "submit", "text": "a\nb\u2028c"}
    with pytest.raises(Unsupported):
        new_line().cancel("s")


def test_a_plan_is_shown_as_it_is_and_approved_once() -> None:
    given = {"plan": "1. Touch a file."}
    request = {"subtype": "can_use_tool", "tool_name": "exit_plan_mode", "tool_use_id": "c", "input": given}
    line = new_line()
    _, ask = told(line, {"type": "control_request", "request_id": "k", "request": request})
    assert [option.option_id for option in ask.ask.options] == ["allow", "deny"]
    call = json.loads(ask.ask.tool_call)
    assert call["title"] == "Ready to carry out the plan?" and call["content"][0]["content"]["text"] == "1. Touch a file."


def test_a_question_is_left_to_the_terminal() -> None:
    line = new_line()
    assert told(line, asks("k", tool="ask_user_question")) == [Appeared("s"), WaitsThere("")]
    questions = [{"question": "Which color?"}, {"question": "How many?"}, "junk"]
    request = {"subtype": "can_use_tool", "tool_name": "ask_user_question", "input": {"questions": questions}}
    assert told(line, {"type": "control_request", "request_id": "l", "request": request}) == [
        WaitsThere("Which color?\nHow many?")]
    assert line.decided("s", "k", "allow", None) == (None, ""), "a yes would be one without an answer"


def test_a_second_block_of_an_answer_is_a_further_line_of_it_and_thoughts_are_told_as_such() -> None:
    line = new_line()
    events = told(line, stream("message_start", message={"id": "m"}),
                  stream("content_block_start", content_block={"type": "thinking", "thinking": ""}),
                  stream("content_block_delta", delta={"type": "thinking_delta", "thinking": "Hm."}),
                  stream("content_block_start", content_block={"type": "text", "text": ""}),
                  stream("content_block_delta", delta={"type": "text_delta", "text": "One."}),
                  stream("content_block_start", content_block={"type": "tool_use", "id": "c"}),
                  stream("content_block_delta", delta={"type": "input_json_delta", "partial_json": "{}"}),
                  stream("content_block_start", content_block={"type": "text", "text": ""}),
                  stream("content_block_delta", delta={"type": "text_delta", "text": "Two."}), stream("message_stop"))
    assert events[1] == Says("m", "Hm.", thinking=True) and events[-1] == Said()
    assert "".join(event.text for event in events if isinstance(event, Says) and not event.thinking) == "One.\nTwo."


def test_what_began_before_we_were_there_and_what_sub_agents_say_is_not_told() -> None:
    line = new_line()
    told(line, stream("message_start", message={"id": "m"}))
    line.missed()
    delta = stream("content_block_delta", delta={"type": "text_delta", "text": "x"})
    assert told(line, stream("content_block_start", content_block={"type": "text"}), delta, stream("message_stop")) == []
    assert told(line, {**stream("message_start", message={"id": "n"}), "parent_tool_use_id": "c"}, delta) == []


def test_words_behind_a_blocks_end_are_another_answers_and_left_to_the_file() -> None:
    line = new_line()
    delta = {"type": "text_delta", "text": "Done."}
    events = told(line, stream("message_start", message={"id": "m"}),
                  stream("content_block_start", content_block={"type": "text", "text": ""}),
                  stream("content_block_delta", delta=delta), stream("content_block_stop"),
                  stream("content_block_delta", delta={"type": "text_delta", "text": "I will use a tool. "}),
                  stream("content_block_start", content_block={"type": "text", "text": ""}),
                  stream("content_block_delta", delta=delta), stream("content_block_stop"), stream("message_stop"))
    assert events == [Appeared("s"), Says("m", "Done."), Said()]


def test_another_session_takes_the_place_of_the_one_before() -> None:
    line = new_line()
    told(line, asks("k"))
    events = told(line, {"type": "user", "session_id": "t", "message": {"content": []}})
    assert events == [Vanished("s"), Appeared("t")] and line.decided("s", "k", "allow", None) == (None, "")


def test_results_end_what_was_asked_about_their_calls_alone() -> None:
    line = new_line()
    told(line, asks("k1", call="c1"), asks("k2", call="c2"))
    result = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1"}]}}
    assert told(line, result) == [AskOver("k1")]
    assert told(line, {"type": "control_response", "response": {"subtype": "error", "request_id": "k2"}}) == [AskOver("k2")]


def test_asks_are_bounded() -> None:
    line = new_line()
    events = told(line, *(asks(f"k{number}") for number in range(ASKS_MOST + 5)))
    assert len([event for event in events if isinstance(event, Asks)]) == ASKS_MOST == len(line.open_asks())


NAMES = st.sampled_from(("type", "subtype", "session_id", "event", "message", "request", "response", "delta", "content_block",
                         "text", "request_id", "tool_name", "tool_use_id", "input", "content", "data", "id"))
WORDS = st.sampled_from(("stream_event", "user", "system", "control_request", "control_response", "can_use_tool", "message_start",
                         "content_block_delta", "message_stop", "session_end", "s", "t"))
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=5),
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6))


LINES = st.binary(max_size=60) | st.dictionaries(NAMES, VALUES).map(lambda value: json.dumps(value).encode())


@given(st.lists(LINES, max_size=12))
def test_nothing_that_comes_raises_and_every_ask_names_its_session(lines: list[bytes]) -> None:
    line = new_line()
    events: list[ServerEvent] = [event for each in lines for event in line.receive(each)]
    line.missed()
    assert all(event.session_id for event in events if isinstance(event, Told | Appeared | Vanished))


def test_it_is_found_by_its_name() -> None:
    assert isinstance(server_line("qwen"), QwenLine)


@every_row(("text", "expected"), [
    (b"", False), (b"{}", False), (b'{"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}', False),
    (b'{"hooks": {"PermissionRequest": [{"hooks": [{"command": "ours"}]}]}}', False),
    (b'{"hooks": {"PermissionRequest": [{"hooks": [{"command": "theirs"}]}]}}', True),
    (b'{"hooks": {"PermissionRequest": [{"hooks": [{"type": "http", "url": "http://localhost"}]}]}}', True),
    (b'{"hooks": []}', True), (b"[]", True), (b"{ // mine\n}", True), (b"\xff", True),
])
def test_a_hook_of_others_that_decides_is_seen_and_what_cannot_be_read_may_have_one(text: bytes, expected: bool) -> None:
    assert new_line().has_foreign(text, lambda command: command == "ours") is expected


def test_settings_of_the_person_the_project_and_the_administrator_and_extensions_are_looked_at() -> None:
    files = new_line().watched_files("/home/dev/.qwen", "/home/dev/project")
    assert {"/home/dev/.qwen/settings.json", "/home/dev/.qwen/extensions", "/home/dev/project/.qwen/settings.json",
            "/etc/qwen-code/settings.json"} <= set(files)
