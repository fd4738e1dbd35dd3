"""What an agent can do, as flags: from the flags to the object and back."""

from __future__ import annotations

import msgspec
import pytest

from trunkline.agents import catalog
from trunkline.agents.catalog.features import BY_PROTOCOL, FLAGS, features_of, flags_of
from trunkline.errors import Invalid


@pytest.mark.parametrize("shown", [set(), set(FLAGS), {"git", "approval.preview"}, set(BY_PROTOCOL)])
def test_exactly_the_flags_that_were_shown_are_set(shown: set[str]) -> None:
    assert flags_of(features_of(shown)) == shown


def test_a_flag_is_its_path_in_the_object() -> None:
    tree = msgspec.to_builtins(features_of({"approval.preview"}))
    assert tree["approval"] == {"toolCalls": False, "preview": True} and tree["git"] is False


def test_what_is_no_flag_sets_nothing() -> None:
    assert flags_of(features_of({"approval", "nothing.of.ours"})) == set()


def test_namespaces_are_listed_in_order() -> None:
    assert msgspec.to_builtins(features_of((), namespaces=("b", "a")))["customEvents"] == ["a", "b"]


def test_features_and_flags_are_two_spellings_of_the_same() -> None:
    for flags in (set(), {"git"}, {"approval.preview", "thinking"}, {*FLAGS}):
        assert flags_of(features_of(flags)) == flags


def test_a_flag_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match=r"\[agents.x\]: features: no flag 'telepathy'; the flags are: .*approval.preview"):
        catalog.spec_from_table("x", {"command": ["x"], "features": ["telepathy"]})
