"""The members of one JSON object, each still encoded: untouched parts keep their bytes."""

from __future__ import annotations

from msgspec import Raw

from tests.tooling.rows import every_row
from trunkline.dialects.acp.reading.aliases.members import is_null, items_of, members_of, rename, text_of


@every_row("raw", [None, b"", b"3", b'"x', b"[" * 100_000])
def test_what_is_not_of_the_right_sort_is_none(raw: bytes | None) -> None:
    assert [members_of(raw), items_of(raw), text_of(raw)] == [None] * 3


def test_values_keep_their_bytes() -> None:
    assert members_of(b'{"a":  [1,  2]}') == {"a": Raw(b"[1,  2]")}
    assert items_of(b'[{"a": 1}, 2]') == [Raw(b'{"a": 1}'), Raw(b"2")]
    assert text_of(b'"\\u00e9"') == "é"


def test_a_wrong_name_becomes_the_right_one_unless_that_is_there() -> None:
    table = {"media": "mime", "kind": "type"}
    assert rename(table, {"media": Raw(b"1"), "x": Raw(b"2")}) == {"mime": Raw(b"1"), "x": Raw(b"2")}
    assert rename(table, {"media": Raw(b"1"), "mime": Raw(b"3")}) == {"mime": Raw(b"3")}
    assert rename(table, {"media": Raw(b"1"), "mime": Raw(b"null")}) == {"mime": Raw(b"1")}, "null says nothing"
    assert is_null(None) and is_null(Raw(b"null")) and not is_null(Raw(b"0"))
