"""What the hub's own terminals print for calls."""

from __future__ import annotations

from tests.session.interpret.call_builders import call, listening, more, only
from tests.session.interpret.told import Told, events
from tests.session.script import update


def test_a_terminal_is_told_of_by_the_running_call_that_shows_it() -> None:
    told = Told().turn()
    assert not told.at().tools.terminals.emit_printed("t1", 0, "early")
    told.hear(update(sessionUpdate="tool_call", toolCallId="c", title="Build", kind="execute", status="in_progress",
                     content=[{"type": "terminal", "terminalId": "t1"}]))
    assert told.at().tools.terminals.emit_printed("t1", 0, "early")
    assert not told.at().tools.terminals.emit_printed("t2", 0, "of nobody")
    (event,) = events(told.take())
    assert event["eventName"] == "terminal_output"
    assert event["data"] == {"toolCallId": "c", "terminalId": "t1", "offset": 0, "output": "early"}


def test_what_the_hubs_own_terminal_printed_is_the_calls_output() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress"), more(content=[{"type": "terminal", "terminalId": "term-1"}]))
    told.at().tools.terminals.keep("term-1", "made\n", 0)
    found = only(events(told.hear(more(status="completed"))), "tool:result")
    assert (found["output"], found["structured"]["exitCode"]) == ("made\n", 0)
