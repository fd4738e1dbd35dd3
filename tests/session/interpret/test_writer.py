"""The page that entries are written on: numbered, counted, and no event too long to be taken whole."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.dialects.context.events import ToolCallResultEvent
from trunkline.session.fold import Fold
from trunkline.session.interpret.writer import SECOND_US, TEXT_LIMIT, THINKING_CHANGES, Writer


@pytest.fixture
def writer() -> Writer:
    writer = Writer(Fold(session_id="s", agent="a", cwd="/w", created_at=0, updated_at=0, status="running"))
    writer.at = 1_790_000_000_000_000
    return writer


def test_entries_are_numbered_and_weighed_until_they_are_taken(writer: Writer) -> None:
    assert [writer.custom("one", {}), writer.custom("two", {"n": 2}, update=b"12345")] == [1, 2]
    assert writer.dirty
    assert writer.size == sum(entry.size() for entry in writer._out)
    entries = writer.take()
    assert [entry.seq for entry in entries] == [1, 2] and entries[1].update == b"12345"
    assert (writer.take(), writer.size, writer.fold.seq) == ([], 0, 2)


def test_an_output_goes_into_its_event_as_it_stood(writer: Writer) -> None:
    token = b'"a \\u00e9 \\"output\\":\\"\\""'
    writer.add(ToolCallResultEvent(tool_call_id="c", name="Bash", output="", duration=1), output=token)
    (entry,) = writer.take()
    assert token in entry.event
    assert msgspec.json.decode(entry.event)["output"] == 'a é "output":""'


def test_a_status_that_does_not_move_is_no_entry_unless_it_has_a_packet(writer: Writer) -> None:
    writer.status("running")
    assert writer.take() == []
    writer.status("running", packet=b"{}")
    writer.status("idle")
    still, moved = map(msgspec.json.decode, (entry.event for entry in writer.take()))
    assert (still["from"], still["to"]) == ("running", "running")
    assert (moved["from"], moved["to"], moved["reason"]) == ("running", "idle", "ready for a prompt")


def test_a_status_stands_still_while_something_will_move_it_once(writer: Writer) -> None:
    writer.still = True
    writer.status("idle")
    assert (writer.take(), writer.fold.status) == ([], "running")


def test_an_agent_that_changes_its_mind_too_often_is_not_followed_into_thinking(writer: Writer) -> None:
    said = [(writer.thinking(True), writer.thinking(False)) for _ in range(4)]
    assert said == [(True, True), (True, True), (False, True), (False, True)]
    assert len(writer.take()) == THINKING_CHANGES
    writer.at += SECOND_US
    assert writer.thinking(True), "a second later there is room again"


def test_who_waits_for_a_person_does_not_think(writer: Writer) -> None:
    writer.status("waiting_for_approval")
    writer.take()
    assert writer.thinking(True) and writer.take() == []


@pytest.mark.parametrize("sign", ["x", "é", "\U0001f600"])
def test_a_text_is_cut_between_characters_and_says_where_the_rest_is(writer: Writer, sign: str) -> None:
    size = len(sign.encode())
    fits = sign * (TEXT_LIMIT // size)
    assert writer.cut(fits) == (fits, None)
    writer.fold.seq = 7
    assert writer.cut(fits + sign) == (fits, {"truncated": {
        "bytes": TEXT_LIMIT + size, "url": "/sessions/s/messages?after=7&before=9"}})
    assert writer.truncated(9, has_packet=False) == {"truncated": {"bytes": 9}}
