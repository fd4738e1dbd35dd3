"""Texts and thoughts: in pieces, whole, and never both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def test_pieces_are_told_and_the_whole_block_is_not_told_again() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0), f.say(0, "Hel"), f.say(0, "lo"), f.whole("m", f.text("Hello")),
                  f.stop())
    assert [update["content"]["text"] for update in f.updates(told)] == ["Hel", "lo"]
    assert {update["messageId"] for update in f.updates(told)} == {"m"}


def test_a_whole_block_is_told_where_no_pieces_came() -> None:
    told = f.hear(translator(), f.whole("m", {"type": "thinking", "thinking": "Hm."}), f.whole("m", f.text("Hello")))
    assert [(update["sessionUpdate"], update["content"]["text"]) for update in f.updates(told)] == [
        ("agent_thought_chunk", "Hm."), ("agent_message_chunk", "Hello")]


def test_an_old_build_that_sends_one_frame_with_several_blocks_is_told_whole() -> None:
    told = f.hear(translator(), f.whole("m", f.text("First."), f.use("c", "Bash", command="ls"), f.text("Then.")))
    assert [update["sessionUpdate"] for update in f.updates(told)] == ["agent_message_chunk", "tool_call", "agent_message_chunk"]


def test_what_the_pieces_left_out_is_told_from_the_whole_block() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0), f.say(0, "Hel"), f.whole("m", f.text("Hello")))
    assert f.said(told) == "Hello"


def test_thoughts_are_told_apart_from_words() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0, "thinking", thinking="", signature=""), f.think(0, "Hm."), f.block(1),
                  f.say(1, "Yes."), f.whole("m", {"type": "thinking", "thinking": "Hm."}), f.whole("m", f.text("Yes.")))
    assert [update["sessionUpdate"] for update in f.updates(told)] == ["agent_thought_chunk", "agent_message_chunk"]


def test_redacted_thinking_leaves_a_note() -> None:
    told = f.hear(translator(), f.whole("m", {"type": "redacted_thinking", "data": "x"}))
    assert f.notes(told, "redacted_thinking") == [{}]


@pytest.mark.parametrize("again", ["The answer is 42.", "The answer"])
def test_an_answer_that_is_asked_for_again_goes_on_where_it_broke_off(again: str) -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "The ans"), f.system("api_retry", attempt=1),
                  f.begin("m2"), f.block(0), *[f.say(0, letter) for letter in again], f.whole("m2", f.text(again)), f.stop())
    assert f.said(told) == again
    assert {update["messageId"] for update in f.updates(told)} == {"m1"}, "it is one message"


def test_an_answer_that_says_something_else_the_second_time_is_a_message_of_its_own() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "The ans"), f.begin("m2"), f.block(0), f.say(0, "The "),
                  f.say(0, "reply is 42."), f.whole("m2", f.text("The reply is 42.")), f.stop())
    by_id = {update["messageId"]: "" for update in f.updates(told)}
    for update in f.updates(told):
        by_id[update["messageId"]] += update["content"]["text"]
    assert by_id == {"m1": "The ans", "m2": "The reply is 42."}


def test_an_answer_that_was_closed_without_its_end_broke_off_too() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "The ans"), f.event("message_stop"), f.begin("m2"),
                  f.block(0), f.say(0, "The answer."), f.whole("m2", f.text("The answer.")), f.stop(input_tokens=3))
    assert f.said(told) == "The answer." and len(f.notes(told, "tokens")) == 1


def test_an_answer_that_ends_is_followed_by_another_that_begins_alike() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "Yes."), f.whole("m1", f.text("Yes.")), f.stop(),
                  f.begin("m2"), f.block(0), f.say(0, "Yes. And"), f.whole("m2", f.text("Yes. And")), f.stop())
    assert f.said(told) == "Yes.Yes. And"


def test_an_answer_that_comes_whole_after_its_stream_broke_off_is_not_told_twice() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "The ans"), f.whole("m2", f.text("The answer.")))
    assert f.said(told) == "The answer."


def test_what_the_cli_says_itself_after_a_broken_stream_is_no_repetition() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "API"),
                  f.whole("s", f.text("API Error"), model="<synthetic>"))
    assert f.said(told) == "APIAPI Error"


def test_a_call_that_a_broken_stream_left_behind_ends_as_failed() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0, "tool_use", id="c1", name="Bash", input={}), f.write(0, '{"comm'),
                  f.begin("m2"), f.block(0, "tool_use", id="c2", name="Bash", input={}))
    assert [(update["toolCallId"], update["status"]) for update in f.updates(told)] == [
        ("c1", "pending"), ("c1", "failed"), ("c2", "pending")]


def test_two_sub_agents_and_the_agent_itself_are_kept_apart() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0), f.say(0, "I "), f.begin("a", "task1"), f.block(0, parent="task1"),
                  f.say(0, "one", "task1"), f.whole("b", f.text("two"), parent="task2"), f.say(0, "say"))
    said = [(update["messageId"], update["content"]["text"], update.get("_meta", {}).get("claudeCode", {}).get("parentToolUseId"))
            for update in f.updates(told)]
    assert said == [("m", "I ", None), ("a", "one", "task1"), ("b", "two", "task2"), ("m", "say", None)]


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_however_a_text_is_cut_it_is_told_once(texts: list[str], data: st.DataObject) -> None:
    """Any number of attempts, each broken off anywhere, and then the whole answer: it is read once."""
    whole = "".join(texts)
    lines: list[bytes] = []
    for number in range(data.draw(st.integers(0, 2))):
        broken = whole[:data.draw(st.integers(0, len(whole)))]
        lines += [f.begin(f"m{number}"), f.block(0), *[f.say(0, letter) for letter in broken]]
    pieces = data.draw(st.booleans())
    lines += [f.begin("last"), f.block(0), *([f.say(0, text) for text in texts] if pieces else [])]
    lines += [f.whole("last", f.text(whole)), *f.stop()]
    assert f.said(f.hear(translator(), lines)) == whole


def test_an_answer_that_begins_again_under_its_own_id_is_told_once() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0), f.say(0, "Hello wo"), f.begin("m"), f.block(0), f.say(0, "Hello world"),
                  f.whole("m", f.text("Hello world")), f.stop())
    assert f.said(told) == "Hello world"


def test_an_attempt_that_thinks_first_where_the_one_before_spoke_is_a_message_of_its_own() -> None:
    told = f.hear(translator(), f.begin("m1"), f.block(0), f.say(0, "Yes"), f.begin("m2"), f.block(0, "thinking"),
                  f.think(0, "Hm."), f.block(1), f.say(1, "Yes."), f.stop())
    assert [update["messageId"] for update in f.updates(told)] == ["m1", "m2", "m2"]
