"""What is not seen, or changes how the rest is seen: left out, shown, numbered or escaped."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.visible import (
    PICTURES,
    UNSEEN,
    UNSEEN_RANGES,
    escaped,
    looks_alike,
    numbered,
    one_line,
    printable,
    shown,
    unseen_in,
    within,
)

OBEYED = set(map(chr, (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
ANY = st.text(st.characters(exclude_categories=[]) | st.sampled_from(sorted(OBEYED)), max_size=40)


@given(ANY)
def test_whatever_comes_nothing_is_left_to_obey(text: str) -> None:
    for made in (printable(text), one_line(text), shown(text)):
        assert not set(made) & OBEYED
        made.encode()
    assert not UNSEEN.search(numbered(text))


@every_row(("text", "seen"), [
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


PAGE = Path(__file__).parents[2] / "web" / "src" / "text" / "unseen.ts"


def test_the_page_has_the_same_list() -> None:
    source = PAGE.read_text("utf-8")
    for name, ranges in (("UNSEEN", UNSEEN_RANGES), ("PICTURES", PICTURES)):
        declared = source.partition(f"const {name} =")[2].partition(";")[0]
        pairs = re.findall(r"\\u\{(\w+)\}-\\u\{(\w+)\}", declared)
        assert [(int(first, 16), int(last, 16)) for first, last in pairs] == list(ranges)


@every_row(("text", "number"), [
    ("cat notes\u3164.txt", "U+3164"), ("a\u200bb", "U+200B"), ("a\u202eb", "U+202E"), ("a\x1bb", "U+001B"), ("a\rb", "U+000D"),
    ("a\ufe0fb", "U+FE0F"), ("a\u200db", "U+200D"), ("a\u2800b", "U+2800"), ("x\U000e0041", "U+E0041"),
    ("a\U0001d173b", "U+1D173"), ("a\U0001bca0b", "U+1BCA0"), ("a\ufff0b", "U+FFF0"), ("a\U000e01f0b", "U+E01F0"),
    ("a\U00016fe4b", "U+16FE4"), ("a\u2d7fb", "U+2D7F"),
])
def test_what_is_not_seen_is_found_by_its_number(text: str, number: str) -> None:
    assert unseen_in(text) == number
    assert explain_risk("Bash", {"command": f"ls '{text}'"}).level == "high"


DRAWN = (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)
"""Signs that Unicode has among the format characters, and that are drawn: numbers and pounds stand upon them."""


def test_of_all_format_characters_only_those_are_seen_that_are_drawn() -> None:
    formats = [code for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert [code for code in formats if not unseen_in(f"a{chr(code)}b")] == [0x09, 0x0A, *DRAWN]


def test_what_is_reserved_for_characters_that_are_not_drawn_is_not_seen() -> None:
    reserved = (0x2065, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000))
    assert [code for code in reserved if not unseen_in(chr(code))] == []


@every_row("text", ["a\tb\nc", "né", "👩\u200d💻", "❤️", "☺️\u200d👍", "1️⃣", "日本語", "שלום", "ok ✅"])
def test_what_is_seen_is_left_alone(text: str) -> None:
    assert unseen_in(text) == looks_alike(text) == ""
    assert explain_risk("Bash", {"command": f"echo '{text}'"}).level == "low"


@every_row(("text", "word"), [
    ("cat p\u0430ssword.txt", "p\u0430ssword"), ("git push \u043erigin", "\u043erigin"), ("s\u03bfurce", "s\u03bfurce"),
    ("ｒｍ", "ｒｍ"), ("a／b", "a／b"), ("..∕etc", "..∕etc"), ("𝐫𝐦", "𝐫𝐦"),
])
def test_a_word_that_is_not_what_it_looks_like_is_found(text: str, word: str) -> None:
    assert looks_alike(text) == word
    judged = explain_risk("Bash", {"command": f"ls '{text}'"})
    assert judged.level == "high" and "look like others" in judged.reason


@every_row("text", [
    "привет", "сора", "API-шлюз", "git-а", "commitы", "10 μs", "Δt", "naïve", "日本語file", "修复：登录（测试）！",
])
def test_scripts_that_are_mixed_for_all_to_see_mislead_nobody(text: str) -> None:
    assert looks_alike(text) == ""
