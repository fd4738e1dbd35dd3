"""Numbers as others write them, and what reading their bytes raises."""

from __future__ import annotations

import tomllib

import msgspec
import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.outside import BROKEN, NOT_TOML, Whole, is_whole_number, whole_number
from trunkline.errors import Invalid

NO_NUMBERS = ["", "²", "٣", "1_0", "+1", "-1", " 1", "1 ", "1\n", "0x1", "1e3", "1.0", "9" * 19, "9" * 5000]


@every_row("text", NO_NUMBERS)
def test_what_is_no_plain_number_is_refused_with_its_name(text: str) -> None:
    assert not is_whole_number(text) and not is_whole_number(text.encode())
    with pytest.raises(Invalid, match="after must be a whole number") as refused:
        whole_number("after", text)
    assert refused.value.details == {"field": "after"} and len(refused.value.message) < 100


def test_a_plain_number_is_one_and_has_bounds() -> None:
    assert whole_number("after", "007") == 7 and whole_number("after", "9" * 18) == 10**18 - 1
    with pytest.raises(Invalid, match="between 1 and 5, not 6"):
        whole_number("limit", "6", least=1, most=5)


@every_row("raw", [
    b"", b"{", b'"\xff"', b'{"\xff":1}', b'"\\ud800"', b"1e400", b"9" * 5000, b"NaN", b"[" * 100_000, b"1",
])
def test_whatever_a_decoder_raises_is_on_the_list(raw: bytes) -> None:
    with pytest.raises(BROKEN):
        msgspec.json.decode(raw, type=dict[str, str])


def test_half_a_character_is_on_the_list_too() -> None:
    with pytest.raises(BROKEN):
        msgspec.json.decode("\ud800")


@every_row("text", ["a", "a = " + "9" * 5000, "a = " + "[" * 5000, "a = 2020-13-99", "a = \x00"])
def test_whatever_a_reader_of_toml_raises_is_on_the_list(text: str) -> None:
    with pytest.raises(NOT_TOML):
        tomllib.loads(text)


@pytest.mark.parametrize("digits", [20, 400, 4000])
def test_nobody_counts_with_a_number_that_is_too_large(digits: int) -> None:
    with pytest.raises(BROKEN):
        msgspec.json.decode(b"9" * digits, type=Whole)
