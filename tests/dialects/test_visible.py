"""What is not seen, or changes how the rest is seen: left out, shown, numbered or escaped."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.dialects.visible import UNSEEN, escaped, numbered, one_line, printable, shown, within

OBEYED = set(map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
ANY = st.text(st.characters(exclude_categories=[]) | st.sampled_from(sorted(OBEYED)), max_size=40)


@given(ANY)
def test_whatever_comes_nothing_is_left_to_obey(text: str) -> None:
    for made in (printable(text), one_line(text), shown(text)):
        assert not set(made) & OBEYED
        made.encode()
    assert not UNSEEN.search(numbered(text))


@pytest.mark.parametrize(("text", "seen"), [
    ("run \u202eti\u202c", "run [U+202E]ti[U+202C]"), ("\x1b[2J", "␛[2J"), ("\x9b", "\ufffd"), ("\ud800", "\ufffd"),
    ("\x7f", "␡"),
    ("שלום \u200fabc", "שלום \u200fabc"), ("👩\u200d💻", "👩\u200d💻"), ("a\tb\nc", "a\tb\nc"),
])
def test_prose_keeps_what_languages_need_and_shows_the_rest(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_a_command_has_the_number_of_every_character_that_is_not_seen() -> None:
    assert numbered("ls\u200b -l\u3164\U000e0041") == "lsU+200B -lU+3164U+E0041"


@given(st.recursive(ANY.filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text)),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)))
def test_escaped_json_is_the_same_json_and_says_nothing_to_a_terminal(value: object) -> None:
    made = escaped(json.dumps(value, ensure_ascii=False).encode())
    assert json.loads(made) == value
    assert not set(made.decode()) & OBEYED


@given(ANY, st.integers(0, 60))
def test_a_text_is_cut_between_characters(text: str, most: int) -> None:
    cut = within(text, most)
    assert len(cut.encode()) <= most
