"""Tables that know which of their keys may have changed: nothing that changed is missed."""

from __future__ import annotations

from trunkline.dialects.acp.calls import CallState
from trunkline.session.fold import OpenCall
from trunkline.session.fold.tables import Calls, Table


def test_what_is_put_in_taken_out_or_cleared_was_touched_once() -> None:
    table: Table[int] = Table({"a": 1, "b": 2, "c": 3})
    assert list(table.take_touched()) == [], "what it was made with is known"
    table["a"] = 4
    table["a"] = 5
    del table["b"]
    assert table.pop("d", 0) == 0
    assert list(table.take_touched()) == ["a", "b", "d"]
    assert list(table.take_touched()) == [], "it is told once"
    table.clear()
    assert list(table.take_touched()) == ["a", "c"] and table == {}


def test_everything_can_be_called_touched() -> None:
    table = Table({"a": 1, "b": 2})
    table.touch_all()
    assert list(table.take_touched()) == ["a", "b"]


def test_whoever_gets_a_call_by_its_id_may_have_changed_it_and_whoever_looks_through_all_has_not() -> None:
    calls = Calls({key: OpenCall(CallState(tool_call_id=key), 0) for key in "abc"})
    calls["a"].executing = True
    found = calls.get("b")
    assert found is not None and calls.get("x") is None and calls.get("x", 7) == 7
    assert [call.since for call in calls.values()] == [0, 0, 0]
    assert list(calls.take_touched()) == ["a", "b"]
