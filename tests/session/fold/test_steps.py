"""A checkpoint and the steps after it are the fold, at the cost of what changed.

``tests/session/interpret/told.py`` holds both against each other after everything that any test of the interpreter tells."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.told import Told
from tests.session.script import OPTIONS, update
from trunkline.dialects.signals import PermissionAsk, Update
from trunkline.session.fold import Steps, checkpoint, restore


def call(number: int) -> Update:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look", kind="read",
                  rawInput={"path": f"/w/{number}.txt"})


def permission(request_id: str) -> PermissionAsk:
    return PermissionAsk(request_id, b'{"toolCallId":"c9","kind":"execute","rawInput":{"command":"make"}}', OPTIONS)


def test_what_one_change_costs_does_not_depend_on_what_is_open() -> None:
    sizes = []
    for open_calls in (1, 1000):
        told = Told().turn()
        told.hear(*(call(number) for number in range(open_calls)))
        told.hear(update(sessionUpdate="tool_call_update", toolCallId="c0", status="in_progress"))
        sizes.append(len(told.steps[-1]))
    assert abs(sizes[0] - sizes[1]) < 20, "but for a longer number"
    assert 100 < sizes[0] < 1000


def test_nothing_changed_is_an_empty_step() -> None:
    told = Told().turn()
    told.take()
    assert told.steps[-1] == b"{}"


def test_a_step_twice_is_the_step_once() -> None:
    told = Told().turn()
    before = checkpoint(told.fold)
    told.hear(call(1), permission("req-1"))
    step = told.steps[-1]
    assert restore(before, [step, step]) == restore(before, [step]) == restore(checkpoint(told.fold))


def test_what_was_resolved_is_gone_from_the_steps_too() -> None:
    told = Told().turn()
    told.hear(permission("req-1"))
    before = checkpoint(told.fold)
    told.at().asks.resolve("req-1", approved=True, resolved_by="user", who="ann")
    told.take()
    again = restore(before, [told.steps[-1]])
    assert not again.approvals and again.decided["req-1"].by == "ann" and again.chain == told.fold.chain


def test_what_a_checkpoint_has_already_is_in_no_step() -> None:
    told = Told().turn()
    told.hear(call(1))
    assert Steps(restore(checkpoint(told.fold)), known=True).take() == b"{}"


@pytest.mark.parametrize("number", [1, 5])
def test_all_steps_from_the_first_on_are_the_fold_without_any_checkpoint(number: int) -> None:
    told = Told()
    for each in range(number):
        told.turn(f"prompt {each}")
        told.hear(call(each))
        told.at().turns.end("end_turn")
        told.take()
    assert restore(b"{}", told.steps) == restore(checkpoint(told.fold))
    assert msgspec.json.decode(told.steps[0])["sessionId"] == "s"
