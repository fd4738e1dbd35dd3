"""What an update says of a call that no other event tells."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, listening, more, text
from tests.session.interpret.told import Told, events, names
from tests.session.script import update
from trunkline.session.interpret.writer import TEXT_LIMIT


def running(**fields: Any) -> Told:
    told = listening()
    told.hear(call(status="in_progress", kind="execute", rawInput={"command": "make"}, **fields))
    return told


def heard(told: Told, **fields: Any) -> dict[str, Any]:
    """The one event of an update that no other event tells."""
    entries = told.hear(more(**fields))
    assert names(entries) == ["tool_call_update"]
    (event,) = events(entries)
    return event


def test_whatever_is_said_of_a_call_that_has_ended_is_told_whole() -> None:
    told = running()
    told.hear(more(status="completed", content=text("done")))
    late = {"status": "failed", "content": text("no"), "rawOutput": {"code": 3}, "_meta": {"by": "me"}, "own": [1]}
    event = heard(told, **late)
    assert event["data"]["update"] == {"sessionUpdate": "tool_call_update", "toolCallId": "c", **late}
    assert "_meta" not in event


@pytest.mark.parametrize("said", [
    {"locations": [{"path": "/w/a", "line": 3}]}, {"kind": "edit"}, {"_meta": {"vendor": {"pid": 7}}}, {"vendorField": {"a": 1}},
    {"rawOutput": {"progress": 3}}, {"content": [{"type": "terminal", "terminalId": "t"}]},
    {"content": [{"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}]},
], ids=lambda said: ",".join(said))
def test_what_no_later_event_has_is_told_while_the_call_runs(said: dict[str, Any]) -> None:
    assert heard(running(), **said)["data"]["update"] == said


def test_an_input_that_changes_while_somebody_is_asked_is_told() -> None:
    told = listening()
    told.hear(call(status="pending", rawInput={"command": "ls"}), ask())
    assert heard(told, rawInput={"command": "ls -l"})["data"]["update"] == {"rawInput": {"command": "ls -l"}}


def test_text_that_grows_is_told_once() -> None:
    told = running()
    for words in ("one", "one two"):
        data = heard(told, status="in_progress", rawInput={"command": "make"}, content=text(words))["data"]
        assert "update" not in data
        assert data["output"] in words


def test_what_a_terminal_prints_is_told_once_and_its_other_remarks_stay() -> None:
    event = heard(running(), _meta={"terminal_output": {"terminal_id": "t", "data": "lines"}, "n": 1})
    assert event["data"]["output"] == "lines"
    assert event["data"]["update"] == {"_meta": {"terminal_output": {"terminal_id": "t"}, "n": 1}}


def test_a_new_title_is_told_as_one_and_not_again() -> None:
    event = heard(running(), title="make all")
    assert event["_meta"] == {"title": "make all"}
    assert "update" not in event["data"]


def test_of_an_update_that_is_too_long_the_short_members_are_told_and_that_there_is_more() -> None:
    told = running()
    told.hear(more(status="completed"))
    event = heard(told, rawOutput={"text": "x" * TEXT_LIMIT}, _meta={"n": 1})
    assert event["data"]["update"]["_meta"] == {"n": 1}
    assert "rawOutput" not in event["data"]["update"]
    seq = told.fold.seq
    assert event["_meta"]["truncated"]["bytes"] > TEXT_LIMIT
    assert event["_meta"]["truncated"]["url"] == f"/sessions/s/messages?after={seq - 1}&before={seq + 1}"


def test_a_call_that_goes_on_repeating_long_members_is_told_so_many_bytes_of_them() -> None:
    told = running()
    found = [heard(told, rawOutput={"text": "x" * 100_000, "n": n}) for n in range(4)]
    assert ["update" in event["data"] for event in found] == [True, True, False, False]
    assert ["truncated" in event.get("_meta", {}) for event in found] == [False, False, True, True]


def test_members_of_an_agent_that_has_its_own_names_for_them_are_told_as_it_said_them() -> None:
    told = running()
    told.hear(more(status="completed"))
    event = heard(told, output={"code": 1}, vendor=2)
    assert event["data"]["update"] == {"sessionUpdate": "tool_call_update", "toolCallId": "c", "output": {"code": 1}, "vendor": 2}


def test_an_update_that_is_too_long_for_an_event_says_so() -> None:
    told = listening()
    event = events(told.hear(update(sessionUpdate="vendor_news", words="x" * TEXT_LIMIT)))[-1]
    assert event["eventName"] == "vendor_news"
    assert event["_meta"]["truncated"]["bytes"] == event["data"]["bytes"] > TEXT_LIMIT
