"""How tool calls end: by their result, by their error, or with their turn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, diff, listening, of_type, only
from tests.session.interpret.told import events


def test_an_edit_that_was_allowed_and_never_reported_is_told_as_unconfirmed() -> None:
    told = listening()
    told.hear(ask(kind="edit", content=[diff("/w/a", "x")]))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    told.take()
    told.at().turns.end("end_turn")
    found = events(told.take())
    assert not of_type(found, "tool:error"), "nobody said that it failed"
    assert only(found, "tool:result")["_meta"] == {"ask": {"unconfirmed": True}}
    assert only(found, "file:change")["_meta"] == {"unconfirmed": True}
    assert told.fold.errors == 0


@pytest.mark.parametrize("asked", [
    {"rawInput": {"path": "/w/a", "content": "x"}}, {"content": [diff("/w/a", "x")], "locations": [{"path": "/w/a"}]}])
def test_an_ask_under_an_id_of_its_own_is_joined_to_the_call_that_it_was_about(asked: dict[str, Any]) -> None:
    told = listening()
    told.hear(ask(**{"kind": "edit", **asked, "toolCallId": "edit-approval-1"}))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    told.hear(call(kind="edit", status="completed", rawInput={"path": "/w/a", "content": "x"}))
    told.take()
    told.at().turns.end("end_turn")
    found = events(told.take())
    assert only(found, "tool:result")["_meta"] == {"ask": {"joinedTo": "c"}}
    assert not of_type(found, "tool:error") and not of_type(found, "file:change"), "the call itself has told it"


def test_a_call_that_the_agent_began_and_never_ended_is_still_abandoned() -> None:
    told = listening()
    told.hear(call(kind="edit", status="in_progress"), ask(kind="edit"))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    told.at().turns.end("end_turn")
    assert only(events(told.take()), "tool:error")["error"]["code"] == "abandoned"


@pytest.mark.parametrize("decide", [True, False])
def test_an_edit_that_nobody_allowed_is_not_told(decide: bool) -> None:
    told = listening()
    told.hear(ask(kind="edit", content=[diff("/w/a", "x")]))
    if decide:
        told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann")
    told.at().turns.end("end_turn")
    assert not of_type(events(told.take()), "file:change")
