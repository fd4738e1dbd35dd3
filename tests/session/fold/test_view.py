"""The fold as clients see it: what waits is shown, and what is only for the rules is not."""

from __future__ import annotations

import msgspec

from tests.session.fold.waiting import HOME, waiting
from trunkline.hub.shapes import pending_in
from trunkline.session.fold import AskedCall, Fold, Turn, view_of
from trunkline.session.fold.view import TurnView, for_clients


def test_clients_do_not_learn_where_the_hub_keeps_its_files() -> None:
    fold = waiting()
    view = view_of(fold)
    for seen in (view, *pending_in(fold)):
        text = msgspec.json.encode(seen).decode()
        assert "npm test" in text
        assert HOME not in text and "guarded" not in text


def test_the_calls_of_an_ask_are_shown_without_what_the_rules_look_at() -> None:
    view = waiting().approvals["req_1"]
    view.calls = [AskedCall(tool_call_id="c1", tool_name="bash", description="npm test", risk_level="low", about=view.about)]
    shown = for_clients(view)
    assert [(call.tool_call_id, call.about) for call in shown.calls] == [("c1", None)]
    assert view.calls[0].about is not None, "the rules still have it"


def test_the_running_turn_is_shown_by_its_beginning_and_a_file_that_is_followed_as_watched() -> None:
    fold = Fold(session_id="ses_1", agent="demo", cwd="/srv/app", created_at=0, updated_at=0)
    assert (view_of(fold).turn, view_of(fold).watch_only) == (None, False)
    fold.turn = Turn(turn_id="t1", started_at="2026-01-01T00:00:00Z", by="ann", seq=4)
    fold.watches = "/somewhere/session.jsonl"
    assert view_of(fold).turn == TurnView("t1", "2026-01-01T00:00:00Z", "ann", 4)
    assert view_of(fold).watch_only


def test_later_changes_of_the_fold_leave_a_view_as_it_was() -> None:
    fold = waiting()
    view = view_of(fold)
    del fold.approvals["req_1"]
    fold.todos.clear()
    assert [each.request_id for each in view.pending_approvals] == ["req_1"]
