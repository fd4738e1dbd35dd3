"""Rows about programs: which of them is about a call, and that the first that fits is the only one."""

from __future__ import annotations

from collections.abc import Callable

from trunkline.dialects.risk.call import Trait
from trunkline.dialects.risk.row_matching import by_verb, row


def options(*given: str) -> Callable[..., bool]:
    """A call with these options, short ones by their letters."""
    def has(letters: str, *names: str) -> bool:
        return any(f"-{letter}" in given for letter in letters) or any(name in given for name in names)

    return has


def test_a_row_is_about_its_verbs_and_one_without_is_about_all() -> None:
    some, every = row("up down", "medium", "r", "x up"), row("", "medium", "r", "x")
    assert some.fits("up", (), options()) and not some.fits("left", (), options())
    assert every.fits("left", (), options()) and every.fits("", (), options())


def test_options_must_be_there_or_must_not() -> None:
    one = row("up", "high", "r", "x up", given="-f --force", unless="--dry-run")
    assert one.fits("up", (), options("-f")) and one.fits("up", (), options("--force"))
    assert not one.fits("up", (), options()) and not one.fits("up", (), options("-f", "--dry-run"))


def test_the_word_behind_the_verb_and_any_further_word_may_count() -> None:
    behind = row("db", "high", "r", "x db drop", then="drop")
    assert behind.fits("db", ("--quiet", "drop"), options()) and not behind.fits("db", ("show", "drop"), options())
    alone = row("db", "low", "r", "x db", then="")
    assert alone.fits("db", (), options()) and not alone.fits("db", ("drop",), options())
    like = row("get", "medium", "r", "x get", word=r"^https?://")
    assert like.fits("get", ("a", "https://x.test"), options()) and not like.fits("get", ("a",), options())


def test_what_a_row_does_is_its_traits() -> None:
    assert row("", "medium", "r", "x", effect="sends secret").traits == Trait.SENDS | Trait.SECRET
    assert row("", "medium", "r", "x").traits == Trait.NONE


def test_rows_are_found_by_their_verbs_in_their_order() -> None:
    first, second, third = row("a b", "low", "1", "x"), row("", "low", "2", "x"), row("b", "low", "3", "x")
    assert by_verb([first, second, third]) == {"a": [first], "b": [first, third], "": [second]}
