"""The fold as it is stored."""

from __future__ import annotations

from tests.session.fold.waiting import DATA, HOME, waiting
from trunkline.session.fold import checkpoint, restore, view_of


def test_the_rules_know_it_also_after_a_restart() -> None:
    fold = waiting()
    view_of(fold)
    about = restore(checkpoint(fold)).approvals["req_1"].about
    assert about is not None and (about.guarded, about.home) == ((DATA,), HOME)
