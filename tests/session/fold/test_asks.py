"""What waits for a person: what is shown of it, and what an answer decides."""

from __future__ import annotations

from tests.session.fold.waiting import waiting
from trunkline.dialects.context.unions import CommandPreview, DescriptionPreview
from trunkline.session.fold import AskedCall
from trunkline.session.policy.decide import PolicyAsk


def call(number: int, about: PolicyAsk | None) -> AskedCall:
    return AskedCall(tool_call_id=f"c{number}", tool_name="bash", description="", risk_level="low", about=about)


def test_an_ask_that_says_something_is_about_its_own_call() -> None:
    view = waiting().approvals["req_1"]
    assert (view.call_ids, view.abouts) == (("c1",), (view.about,))


def test_an_ask_for_several_calls_decides_each_of_them_and_not_itself() -> None:
    view = waiting().approvals["req_1"]
    about = view.about
    view.calls = [call(2, about), call(3, None), call(4, about)]
    assert view.call_ids == ("c2", "c3", "c4")
    assert view.abouts == (about, about), "of the one in the middle nothing is known"


def test_where_the_rules_have_nothing_to_look_at_there_is_nothing() -> None:
    view = waiting().approvals["req_1"]
    view.about = None
    assert view.abouts == ()


def test_what_it_does_first_is_shown_before_what_it_does_beside_that() -> None:
    view = waiting().approvals["req_1"]
    assert view.previews == []
    view.acts = [DescriptionPreview(text="and a file")]
    assert view.previews == view.acts
    view.preview = CommandPreview(command="npm test", working_dir="/srv/app")
    assert view.previews == [view.preview, *view.acts]
