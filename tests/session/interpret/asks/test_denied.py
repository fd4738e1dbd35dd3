"""What is reported of a call that was not allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, listening, more, of_type, only
from tests.session.interpret.told import events

NO = {"by": "ann", "resolvedBy": "user", "reason": "not on a Friday"}


@pytest.mark.parametrize(("output", "message"), [
    ([], "The tool call was not allowed by ann: not on a Friday"),
    ([{"type": "content", "content": {"type": "text", "text": "refused"}}], "refused"),
])
def test_a_denied_call_ends_with_who_denied_it_and_why(output: list[Any], message: str) -> None:
    told = listening()
    told.hear(ask(toolCallId="c", rawInput={"command": "make"}))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann", reason="not on a Friday")
    ended = only(events(told.hear(more(status="failed", content=output))), "tool:error")
    assert (ended["error"]["code"], ended["error"]["message"], ended["_meta"]["denied"]) == ("denied", message, NO)


def test_a_denied_call_that_the_agent_leaves_open_or_ran_under_another_id_says_so_too() -> None:
    told = listening()
    told.hear(call(kind="execute", status="pending", rawInput={"command": "touch x"}))
    told.hear(ask(toolCallId="hash", rawInput={"command": "touch x"}))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann", reason="not on a Friday")
    entries = told.take() + told.hear(more(status="completed", content=[]))
    told.at().tools.close_all(cancelled=False)
    assert [event["_meta"]["denied"] for event in of_type(events(entries + told.take()), "tool:error")] == [NO, NO]


def test_a_call_that_was_asked_for_again_and_allowed_is_not_a_denied_one() -> None:
    told = listening()
    told.hear(ask(toolCallId="c", rawInput={"command": "make"}))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann", reason="not on a Friday")
    told.hear(ask(toolCallId="c", rawInput={"command": "make"}))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    ended = only(events(told.hear(more(status="failed", content=[]))), "tool:error")
    assert (ended["error"]["message"], ended.get("_meta")) == ("The tool failed.", None)
