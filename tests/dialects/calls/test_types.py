"""What follows from a reading: what it is judged as, and whether all that it does is known."""

from __future__ import annotations

from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.calls.types import CallReading


def reading(**fields: Any) -> CallReading:
    return CallReading(tool="t", **fields)


def test_a_doubt_or_a_cut_makes_it_unsure() -> None:
    assert reading().sure and not reading(doubts=("what?",)).sure and not reading(cut=True).sure


@every_row(("fields", "looks"), [
    ({"acts": frozenset({"read"})}, True), ({"acts": frozenset({"read", "search"})}, True), ({}, False),
    ({"acts": frozenset({"read", "write"})}, False), ({"acts": frozenset({"read"}), "command": "make"}, False),
    ({"acts": frozenset({"read"}), "doubts": ("what?",)}, False),
])
def test_only_what_nothing_contradicts_only_looks(fields: dict[str, Any], looks: bool) -> None:
    assert reading(**fields).only_looks is looks


@every_row(("fields", "category"), [
    ({"category": "file_read", "command": "make"}, "terminal"), ({"category": "git", "command": "make"}, "git"),
    ({"category": "file_read", "acts": frozenset({"read", "write"})}, "file_edit"),
    ({"category": "search", "acts": frozenset({"search", "fetch"})}, "other"),
    ({"category": "file_read", "kind": "search", "acts": frozenset({"read"})}, "search"),
    ({"category": "file_write", "acts": frozenset({"write"})}, "file_write"),
])
def test_it_is_judged_by_what_it_brings_and_not_by_its_name(fields: dict[str, Any], category: str) -> None:
    assert reading(**fields).judged_as == category


def test_who_sees_the_command_has_seen_everything_only_where_there_is_nothing_else() -> None:
    plain: dict[str, Any] = {"role": "terminal", "command": "make"}
    assert reading(**plain).only_runs
    for more in ({"beside": True}, {"unseen": "U+202E"}, {"command_from": "title"}, {"doubts": ("what?",)}, {"role": "edit"}):
        assert not reading(**{**plain, **more}).only_runs


def test_a_kind_or_an_input_names_no_tool() -> None:
    assert reading(named_by="title").is_named and not reading(named_by="kind").is_named
