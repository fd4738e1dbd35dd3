"""Permissions under an id that is no call's, and the call that they are about."""

from __future__ import annotations

from tests.session.interpret.call_builders import ask, call, listening, more, of_type, only
from tests.session.interpret.told import events


def test_a_call_that_was_refused_under_another_id_did_not_run() -> None:
    told = listening()
    told.hear(call(kind="execute", status="pending", rawInput={"command": "touch x"}))
    told.hear(ask(toolCallId="hash", rawInput={"command": "touch x"}))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann")
    entries = told.take() + told.hear(more(status="completed", content=[]))
    assert only(events(entries), "tool:error")["error"]["code"] == "denied"


def test_the_same_command_again_without_an_ask_did_run() -> None:
    told = listening()
    told.hear(call(toolCallId="1", kind="execute", rawInput={"command": "ls"}))
    told.hear(ask(toolCallId="1", rawInput={"command": "ls"}))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann")
    told.hear(more(toolCallId="1", status="failed"))
    entries = told.hear(call(toolCallId="2", kind="execute", rawInput={"command": "ls"}, status="completed"))
    assert of_type(events(entries), "tool:result")
