"""A line of the CLI's stdout as a frame: one odd member costs that member, and nothing raises."""

from __future__ import annotations

import json

import pytest

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from tests.tooling.rows import every_row
from trunkline.dialects.notes import AgentNote, CustomNote
from trunkline.dialects.signals import Malformed, TurnEnd, Update


@every_row("line", [
    b"not json", b"[1]", b"7", b'"x"', b"{}", b'{"type":7}', b'{"type":""}', b"{" * 9000, b"\xff\xfe",
    b'{"type":"user","message":{"content":"\\ud800"}}'])
def test_a_line_that_is_no_frame_is_malformed(line: bytes) -> None:
    (told,) = translator().receive(line)
    assert isinstance(told, Malformed) and told.size == len(line) and len(told.line) <= 4096


def test_nothing_is_nothing() -> None:
    assert translator().receive(b"") == [] and translator().receive(b" \r\n") == []


@pytest.mark.parametrize("line", [f.frame("tomorrow", x=1), f.system("tomorrow", x=1), f.frame("system")])
def test_a_type_that_nobody_knows_is_kept_as_it_came(line: bytes) -> None:
    (note,) = translator().receive(line)
    assert isinstance(note, CustomNote) and note.data == line


def test_a_result_of_an_odd_shape_ends_its_turn_all_the_same() -> None:
    odd = f.result(stop_reason=7, usage=[], modelUsage="x", errors={}, total_cost_usd="free", origin=1, user_message_uuids=3)
    assert f.ends(f.hear(f.prompted(), odd)) == ["end_turn"]


def test_numbers_of_any_length_are_told_as_they_are() -> None:
    (update,) = f.updates(f.hear(translator(), f.whole("m", f.use("c", "X", n=int("9" * 40), x=1e300))))
    assert update["rawInput"] == {"n": int("9" * 40), "x": 1e300}


def test_an_answer_of_an_odd_shape_is_an_answer_all_the_same() -> None:
    translate = translator()
    odd = {"subtype": "success", "request_id": "a", "response": {"x": 1}, "error": 5}
    f.hear(translate, f.frame("control_response", response=odd))
    (answer,) = translate.control.take_answers()
    assert (answer.request_id, answer.ok, json.loads(answer.body)) == ("a", True, {"x": 1})


NO_TEXT = [b'{"type":"system","subtype":"init","cwd":"\xff"}', b'{"type":"system","subtype":"init","tools":["\xc3"]}',
           b'{"type":"control_response","response":{"request_id":"r","subtype":"success","response":{"a":"\xff"}}}',
           b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","input":{"\xfe":1}}}',
           b'{"type":"tomorrow","x":"\xed\xa0\x80"}']


@every_row("line", NO_TEXT)
def test_a_frame_that_is_no_utf8_is_malformed_and_goes_nowhere(line: bytes) -> None:
    translate = f.prompted()
    (told,) = translate.receive(line)
    assert isinstance(told, Malformed) and told.why.startswith("not UTF-8")
    assert translate.control.take_answers() == [] and translate.control.take_output() == []


@pytest.mark.parametrize("number", [b"1e400", b"-1e309", b"9" * 400, b"9" * 5000])
def test_a_number_that_nobody_can_hold_costs_its_member_or_the_line(number: bytes) -> None:
    for line in (b'{"type":"system","subtype":"api_retry","attempt":%b,"retry_delay_ms":%b}',
                 b'{"type":"result","num_turns":%b,"x":%b}'):
        for signal in f.prompted().receive(line % (number, number)):
            assert isinstance(signal, Malformed | AgentNote | CustomNote | TurnEnd | Update)
