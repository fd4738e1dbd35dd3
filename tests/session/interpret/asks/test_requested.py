"""An ask in words: its line, its calls, what is not sure about it."""

from __future__ import annotations

import msgspec

from tests.session.interpret.asks.confirming import asked, confirm, runs
from tests.session.interpret.call_builders import call, listening, of_type
from tests.session.interpret.told import Told, events
from tests.session.script import OPTIONS
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.interpret.asks import requested
from trunkline.session.interpret.asks.requested import DESCRIPTION_CHARS


def test_what_is_not_sure_is_told_wherever_the_level_is() -> None:
    told = listening()
    view, event = asked(told, call(toolCallId="a", kind="execute", title="Bash", rawInput={"command": "ls", "run_as": "root"}),
                        confirm())
    risk = event["_meta"]["risk"]
    assert risk["sure"] is False and "run_as" in risk["doubts"][0]
    assert (view.sure, view.doubts, view.calls[0].doubts) == (False, risk["doubts"], risk["doubts"])
    (executing, again) = of_type(events(told.entries), "tool:executing")
    assert executing["_meta"]["risk"] == again["_meta"]["risk"] == risk


def test_a_sure_call_says_nothing_of_being_sure() -> None:
    told = listening()
    _, event = asked(told, runs("a", "ls"), PermissionAsk("r", b'{"toolCallId":"a"}', OPTIONS))
    assert set(event["_meta"]["risk"]) == {"reason"} and "calls" not in event["_meta"] and "disk" not in event["_meta"]


def test_the_line_that_describes_several_calls_is_cut_and_the_calls_are_whole_beside_it() -> None:
    told = listening()
    view, event = asked(told, *(runs(f"call-{number}", f"touch {number}" + "x" * 100) for number in range(9)), confirm())
    assert len(event["description"]) == DESCRIPTION_CHARS == len(view.description)
    assert [each["command"][-100:] for each in event["_meta"]["calls"]] == ["x" * 100] * 9



def test_always_is_offered_for_so_many_paths_only() -> None:
    told = Told().turn()
    for number, count in enumerate((2, requested.ALWAYS_PATHS + 1)):
        places = [{"path": f"/w/{place}"} for place in range(count)]
        said = msgspec.json.encode({"toolCallId": f"p{number}", "kind": "read", "name": "read", "locations": places})
        told.hear(PermissionAsk(f"req-{number}", said, OPTIONS))
    few, many = told.fold.approvals.values()
    assert few.always is not None and many.always is None
