"""What a running call prints, told piece by piece."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.interpret.told import Told, events
from tests.session.script import update
from trunkline.dialects.acp.calls import CallState
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.calls import output
from trunkline.session.interpret.calls.output import news_of


def shown(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def put(before: str, news: dict[str, Any]) -> str:
    """What a client shows after a piece."""
    return before[:news["offset"]] + news["output"] if news else before


@given(st.lists(st.tuples(st.booleans(), st.text("ab\n", max_size=100))))
def test_whoever_puts_the_pieces_in_their_places_has_what_the_call_shows(steps: list[tuple[bool, str]]) -> None:
    call, text, seen = OpenCall(CallState(tool_call_id="c"), 0), "", ""
    for goes_on, more in steps:
        text = text + more if goes_on else more
        seen = put(seen, news_of(call, text))
        assert seen[:len(text)] == text


def test_of_a_long_piece_the_end_is_told_and_of_a_long_output_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PIECE_CHARS", 10)
    monkeypatch.setattr(output, "RUNNING_OUTPUT_CHARS", 25)
    call = OpenCall(CallState(tool_call_id="c"), 0)
    assert news_of(call, "0123456789abc") == {"offset": 3, "output": "3456789abc"}
    assert news_of(call, "0123456789abcdef") == {"offset": 13, "output": "def"}
    assert news_of(call, "0123456789abcdef") == {}
    assert news_of(call, "x" * 30) == {"offset": 20, "output": "x" * 10}
    assert news_of(call, "x" * 40) == {"offset": 30, "output": "x" * 10}
    assert news_of(call, "x" * 50) == {}


def test_a_running_call_tells_what_it_prints_and_its_result_all_of_it() -> None:
    told = Told().turn()
    told.hear(update(sessionUpdate="tool_call", toolCallId="c", title="Build", kind="execute", status="in_progress",
                     rawInput={"command": "make"}, content=shown("one\n")))
    told.hear(update(sessionUpdate="tool_call_update", toolCallId="c", content=shown("one\ntwo\n")))
    told.hear(update(sessionUpdate="tool_call_update", toolCallId="c", content=shown("one\ntwo\ntwo and a half\n")))
    told.hear(update(sessionUpdate="tool_call_update", toolCallId="c", status="completed", content=shown("one\ntwo\nthree\n")))
    data = [event["data"] for event in events(told.entries) if event["type"] == "custom" and "output" in event["data"]]
    assert [(each["toolCallId"], each["offset"], each["output"]) for each in data] == [
        ("c", 0, "one\ntwo\n"), ("c", 8, "two and a half\n")]
    result = next(event for event in events(told.entries) if event["type"] == "tool:result")
    assert result["output"] == "one\ntwo\nthree\n"
