"""Possessive repetitions of groups, on engines that misread them."""

from __future__ import annotations

import re

import pytest

from trunkline.dialects.shell.engine import compiled, without_possessive_groups


@pytest.mark.parametrize(("written", "meant"), [
    ("a", "a"),
    (r"[\w]++b", r"[\w]++b"),
    ("(?:ab)*+", "(?>(?:ab)*)"),
    ("(ab)++c", "(?>(ab)+)c"),
    ("((?:a|b)?+)x", "((?>(?:a|b)?))x"),
    ("(?:a(?:b)*+)++", "(?>(?:a(?>(?:b)*))+)"),
    (r"\((?:a)*+\)*+", r"\((?>(?:a)*)\)*+"),
    (r"[)(]*+(?:[]()]|[^])]|[\])])++", r"[)(]*+(?>(?:[]()]|[^])]|[\])])+)"),
    ("(?>(?:a)+)*+", "(?>(?>(?:a)+)*)"),
])  # fmt: skip
def test_a_possessive_group_is_written_as_the_atomic_group_that_it_stands_for(written: str, meant: str) -> None:
    assert without_possessive_groups(written) == meant
    re.compile(meant)


def test_nothing_is_lost_of_what_a_group_matched_and_nothing_is_given_back() -> None:
    words = compiled(r"((?:[a-z]|\$[a-z]++)++)( (?:[a-z]|\$[a-z]++)++)*+")
    found = words.fullmatch("rm $x y")
    assert found is not None and found[1] == "rm"
    assert compiled(rb"(?:a|ab)*+c").fullmatch(b"abc") is None, "what was taken first is kept"
