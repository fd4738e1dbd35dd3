"""Differences of texts: exact, readable, and never a burden."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.session.interpret.effects import diff
from trunkline.session.interpret.effects.diff import DIFF_LINES, compare, line_count, whole

TEXT = st.lists(st.sampled_from(["a", "b", "c", "", "d e"]), max_size=40).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n"]))


def applied(old: str, diff: str) -> str:
    """What ``patch`` would make of a text: context and removed lines must stand there."""
    before, after = old.split("\n"), list[str]()
    at = 0
    for line in diff.split("\n")[2:-1]:
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head[1]) - (0 if head[2] == "0" else 1)
            after += before[at:start]
            at = start
            continue
        if line[0] in " -":
            assert before[at] == line[1:], f"{line!r} does not stand at {at}"
            at += 1
        if line[0] in " +":
            after.append(line[1:])
    return "\n".join(after + before[at:])


@given(TEXT, TEXT)
def test_a_diff_turns_the_old_text_into_the_new_one(old: str, new: str) -> None:
    found = compare(old, new, "f")
    assert found.text is not None
    if old == new:
        assert found == (0, 0, 0, "", True)
        return
    lines = found.text.split("\n")
    assert lines[:2] == ["--- a/f", "+++ b/f"]
    assert found.added == sum(line.startswith("+") for line in lines[2:])
    assert found.removed == sum(line.startswith("-") for line in lines[2:])
    if old.endswith("\n") and new.endswith("\n"):
        assert applied(old, found.text) == new


@given(TEXT, TEXT, st.sampled_from([0, 100]))
def test_a_whole_diff_is_as_short_and_turns_the_old_text_into_the_new_one(old: str, new: str, quick: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(diff, "QUICK", quick)
        text = whole(old, new, "f")
    found = compare(old, new, "f")
    assert (text == "") == (old == new)
    assert found.added == sum(line.startswith("+") for line in text.split("\n")[2:])
    assert found.removed == sum(line.startswith("-") for line in text.split("\n")[2:])
    if old.endswith("\n") and new.endswith("\n"):
        assert applied(old, text) == new if text else old == new


@pytest.mark.parametrize("lines", [(40_000, 40_000), (8_000, 8_000), (200_000, 100), (100, 200_000)])
def test_a_whole_diff_of_texts_with_nothing_in_common_but_words_takes_little(lines: tuple[int, int]) -> None:
    chance = random.Random(1)
    old, new = ("".join(f"line{chance.randrange(150)}\n" for _ in range(count)) for count in lines)
    began = time.process_time()
    assert applied(old, whole(old, new, "f")) == new
    assert time.process_time() - began < 3.0, "difflib takes 6 s, and minutes"


@given(TEXT, TEXT)
def test_the_counts_are_those_of_the_shortest_edit(old: str, new: str) -> None:
    before = old.split("\n") if old else []
    after = new.split("\n") if new else []
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for row, line in enumerate(before):
        for column, other in enumerate(after):
            same = line == other and (row + 1 < len(before)) == (column + 1 < len(after))
            table[row + 1][column + 1] = table[row][column] + 1 if same else max(table[row][column + 1], table[row + 1][column])
    found = compare(old, new, "f")
    kept = table[-1][-1]
    # An end of line after the last line is no line of its own.
    slack = 1 if old.endswith("\n") or new.endswith("\n") else 0
    assert abs(found.added - (len(after) - kept)) <= slack and abs(found.removed - (len(before) - kept)) <= slack
    assert found.exact


def test_a_file_that_was_not_there_is_all_new() -> None:
    assert compare(None, "x\n", "f") == (1, 0, 2, "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", True)


def test_a_file_that_is_gone_is_all_old() -> None:
    found = compare("x\ny", None, "f")
    assert (found.removed, found.text) == (
        2, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n\\ No newline at end of file\n")


def test_two_edits_far_apart_are_two_hunks_with_context() -> None:
    old = "".join(f"{n}\n" for n in range(10_000))
    found = compare(old, old.replace("\n5\n", "\nfive\n").replace("\n9000\n", "\nnine\n"), "f")
    assert (found.added, found.removed, found.exact) == (2, 2, True)
    assert found.text is not None and found.text.count("@@ -") == 2 and "@@ -8998,7 +8998,7 @@" in found.text


def test_a_diff_over_the_limit_is_counted_and_not_shown() -> None:
    found = compare("".join(f"{n}\n" for n in range(1000)), "".join(f"{n * 2}\n" for n in range(1000)), "f")
    assert found.text is None and found.exact
    assert (found.added, found.removed) == (500, 500), "the even numbers below 1000 are in both"
    assert found.lines > DIFF_LINES


def test_huge_texts_are_counted_from_above_without_comparing_them_all() -> None:
    found = compare("".join(f"{n}\n" for n in range(20_000)), "".join(f"{n * 7 % 20_011}\n" for n in range(20_000)), "f")
    assert not found.exact and found.text is None and found.added <= 20_000


def test_one_long_line_is_not_shown() -> None:
    assert compare("x" * 100_000, "y" * 100_000, "f").text is None


def test_lines_end_at_line_feeds_alone() -> None:
    assert line_count("a\u2028b\x0bc\n") == 1
    assert compare("a\u2028b\n", "a\u2028c\n", "f").added == 1
