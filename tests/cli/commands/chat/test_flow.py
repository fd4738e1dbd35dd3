"""Markdown in pieces: what is handed on when, and that the pieces are the whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.cli.commands.chat.flow import HELD_CHARS, HELD_LINES, Flow


def fed(*pieces: str) -> tuple[list[str], Flow]:
    """What a flow hands on, piece by piece."""
    flow, handed = Flow(), []
    for piece in pieces:
        flow.add(piece)
        if done := flow.finished():
            handed.append(done)
    return handed, flow


def test_a_paragraph_is_handed_on_when_the_next_block_begins() -> None:
    handed, flow = fed("One ", "two.\n", "\n", "# He", "ad\n")
    assert handed == ["One two.\n\n"]
    assert flow.held == "# Head\n"
    assert flow.end() == "# Head\n"
    assert flow.end() == ""


def test_a_list_item_with_a_second_paragraph_is_not_torn_apart() -> None:
    handed, flow = fed("- one\n\n", "  more of one\n\n", "next")
    assert handed == ["- one\n\n  more of one\n\n"]
    assert flow.held == "next"


def test_a_blank_line_inside_of_code_ends_nothing() -> None:
    handed, flow = fed("```py\na = 1\n\nb = 2\n", "```\n")
    assert handed == ["```py\na = 1\n\nb = 2\n```\n"]
    assert flow.held == ""


def test_a_fence_is_closed_only_by_its_own_kind() -> None:
    handed, _ = fed("````\n```\n\nx\n", "~~~\n", "````\n")
    assert handed == ["````\n```\n\nx\n~~~\n````\n"]


def test_long_code_is_handed_on_in_parts_that_are_code_each() -> None:
    lines = [f"line {number}\n" for number in range(HELD_LINES * 3)]
    handed, flow = fed("```py\n", *lines, "```\n")
    assert len(handed) > 2
    assert all(part.startswith("```py\n") and part.endswith("```\n") for part in handed)
    inside = "".join(part.removeprefix("```py\n").removesuffix("```\n") for part in handed)
    assert inside == "".join(lines)
    assert flow.held == ""


def test_what_comes_at_once_is_handed_on_in_pieces_that_are_the_whole() -> None:
    flow, code = Flow(), "```py\n" + "a = 1\n" * 20_000 + "```\n"
    flow.add("word word\n\n" * 20_000 + code)
    pieces = list(iter(flow.finished, ""))
    assert max(map(len, pieces)) <= HELD_CHARS + 10 and len(flow.held) <= HELD_CHARS
    words, lines = "".join(pieces).count("word word"), (*"".join(pieces).split("\n"), *flow.end().split("\n")).count("a = 1")
    assert (words, lines) == (20_000, 20_000)


def test_a_paragraph_without_an_end_is_cut_between_words() -> None:
    handed, flow = fed("word " * (HELD_CHARS // 2))
    assert handed and all(part.endswith(" ") for part in handed)
    assert len(flow.held) <= HELD_CHARS * 2


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(["a", " ", "\n", "\n\n", "- x\n", "# h\n", "  y\n", "| t |\n"]), max_size=60))
def test_outside_of_code_the_pieces_are_the_whole(pieces: list[str]) -> None:
    handed, flow = fed(*pieces)
    assert "".join(handed) + flow.end() == "".join(pieces)
