"""One tool call over time: sparse, repeated and scrambled updates add up to what a person should see."""

from __future__ import annotations

import itertools

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.dialects.acp.strategies import instances
from tests.tooling.rows import every_row
from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.reading.decode import decode_update
from trunkline.dialects.acp.tools import Content, Diff, ToolCallLocation
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate

DIFF = Diff(path="/a", new_text="x")
TEXT = Content(content=TextContent(text="done"))


def announced(**members: object) -> CallState:
    call = CallState(tool_call_id="c")
    merge_call(call, ToolCall(tool_call_id="c", title="bash", **members))  # type: ignore[arg-type]
    return call


def test_an_announcement_without_kind_or_status_is_other_and_pending() -> None:
    call = announced()
    assert (call.title, call.first_title, call.kind, call.status, call.name) == ("bash", "bash", "other", "pending", None)
    assert not call.finished


def test_merging_says_what_changed_and_only_that() -> None:
    call = announced(kind="execute")
    update = ToolCallUpdate(
        tool_call_id="c", title="bash", kind="execute", status="in_progress", raw_input=Raw(b'{"a":1}'))
    assert merge_call(call, update) == {"status", "raw_input"}
    assert merge_call(call, update) == frozenset()


def test_the_first_title_is_kept_beside_the_latest() -> None:
    call = announced()
    assert merge_call(call, ToolCallUpdate(tool_call_id="c", title="echo hello")) == {"title"}
    assert (call.first_title, call.title) == ("bash", "echo hello")


def test_a_call_first_heard_of_by_an_update_takes_its_title() -> None:
    call = CallState(tool_call_id="c")
    merge_call(call, ToolCallUpdate(tool_call_id="c", status="in_progress"))
    assert call.first_title == ""
    merge_call(call, ToolCall(tool_call_id="c", title="Edit"))
    assert (call.first_title, call.status) == ("Edit", "in_progress")


@every_row(
    ("now", "said", "then"),
    [
        ("pending", "in_progress", "in_progress"),
        ("pending", "completed", "completed"),
        ("in_progress", "pending", "in_progress"),
        ("in_progress", "failed", "failed"),
        ("completed", "in_progress", "completed"),
        ("completed", "pending", "completed"),
        ("failed", "in_progress", "failed"),
        ("completed", "failed", "failed"),
        ("failed", "completed", "completed"),
        ("in_progress", None, "in_progress"),
    ],
)
def test_a_status_never_goes_back(now: str, said: str | None, then: str) -> None:
    call = CallState(tool_call_id="c", status=now)
    changed = merge_call(call, ToolCallUpdate(tool_call_id="c", status=said))  # type: ignore[arg-type]
    assert call.status == then
    assert ("status" in changed) == (now != then)
    assert call.finished == (then in ("completed", "failed"))


def test_arrays_replace_and_an_empty_content_keeps_what_was_shown() -> None:
    call = announced(content=[DIFF], locations=[ToolCallLocation(path="/a")])
    assert merge_call(call, ToolCallUpdate(tool_call_id="c", content=[TEXT])) == {"content"}
    assert merge_call(call, ToolCallUpdate(tool_call_id="c", content=[], locations=[])) == {"locations"}
    assert (call.content, call.locations) == ([TEXT], [])


def test_raw_values_are_kept_byte_for_byte_and_null_says_nothing() -> None:
    call = announced(raw_input=Raw(b'{"b" : 1.50}'), raw_output=Raw(b"null"))
    assert (call.raw_input, call.raw_output) == (b'{"b" : 1.50}', None)
    merge_call(call, ToolCallUpdate(tool_call_id="c", raw_input=Raw(b"null"), raw_output=Raw(b'"text"')))
    assert (call.raw_input, call.raw_output) == (b'{"b" : 1.50}', b'"text"')


def test_raw_values_do_not_hold_the_line_they_came_in() -> None:
    line = b'{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":{"a":1}}'
    call = CallState(tool_call_id="c")
    update = decode_update(line)
    assert isinstance(update, ToolCall)
    merge_call(call, update)
    assert type(call.raw_input) is bytes


def test_the_scrambled_order_of_a_real_agent_ends_completed() -> None:
    story: list[ToolCall | ToolCallUpdate] = [
        ToolCallUpdate(tool_call_id="c", status="pending"),
        ToolCallUpdate(tool_call_id="c", status="in_progress", raw_input=Raw(b'{"command":"ls"}')),
        ToolCall(tool_call_id="c", title="ls", kind="execute", status="pending"),
        ToolCallUpdate(tool_call_id="c", status="completed", content=[TEXT]),
    ]
    for order in itertools.permutations(story):
        call = CallState(tool_call_id="c")
        for update in order:
            merge_call(call, update)
        assert (call.title, call.kind, call.status, call.content) == ("ls", "execute", "completed", [TEXT])
        assert call.raw_input == b'{"command":"ls"}'


@given(st.lists(instances(ToolCall | ToolCallUpdate), max_size=5))
def test_any_state_survives_storage(updates: list[ToolCall | ToolCallUpdate]) -> None:
    call = CallState(tool_call_id="c")
    for update in updates:
        changed = merge_call(call, update)
        assert changed <= set(CallState.__struct_fields__)
        assert merge_call(call, update) == frozenset(), "the same again changes nothing"
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(call), type=CallState) == call
    assert msgspec.json.decode(msgspec.json.encode(call), type=CallState) == call
