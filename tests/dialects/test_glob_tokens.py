"""Patterns that were taken apart are remembered, up to a bound."""

from __future__ import annotations

from trunkline.dialects import glob_tokens


def test_only_short_texts_are_kept_taken_apart_and_only_so_many() -> None:
    read: list[str] = []
    taken_apart = glob_tokens.remembered(lambda text: read.append(text))
    short, long = "x" * glob_tokens.KEPT_CHARS, "x" * (glob_tokens.KEPT_CHARS + 1)
    for text in (short, short, long, long):
        taken_apart(text)
    assert read == [short, long, long]
    for number in range(glob_tokens.KEPT_MOST):
        taken_apart(str(number))
    read.clear()
    taken_apart(short)
    assert read == [short], "the oldest was forgotten"
