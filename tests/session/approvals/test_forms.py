from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.tooling.rows import every_row
from trunkline.errors import Invalid
from trunkline.session.approvals.forms import check_content, content_of


def form(required: list[str] | None = None, **fields: Any) -> bytes:
    return msgspec.json.encode({"type": "object", "properties": fields, "required": required or []})


@every_row(("field", "answer", "value"), [
    ({"type": "string"}, "anything", "anything"),
    ({"type": "string", "enum": ["red", "blue"]}, "blue", "blue"),
    ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a", "a"),
    ({"type": "boolean"}, "Yes", True),
    ({"type": "boolean"}, "false", False),
    ({"type": "integer"}, "42", 42),
    ({"type": "number"}, "1.5", 1.5),
    ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, "x, y", ["x", "y"]),
    ({"type": "integer", "minimum": 2, "maximum": 2}, " 2 ", 2),
    ({"type": "integer"}, "-7", -7),
    ({"type": "number", "minimum": -1}, "-1e-2", -0.01),
    ({"type": "string", "minLength": 1, "maxLength": 1}, "\N{PARTY POPPER}", "\N{PARTY POPPER}"),
    ({"type": "string", "format": "email"}, "ann@example.org", "ann@example.org"),
    ({"type": "string", "format": "uri"}, "mailto:ann@example.org", "mailto:ann@example.org"),
    ({"type": "string", "format": "date"}, "2024-02-29", "2024-02-29"),
    ({"type": "string", "format": "date-time"}, "2026-02-01T12:00:00.123456789+01:00", "2026-02-01T12:00:00.123456789+01:00"),
    ({"type": "string", "format": "zip", "minLength": "3", "pattern": "^(a+)+$"}, "x", "x"),
])
def test_a_plain_string_fills_the_only_field(field: dict[str, Any], answer: str, value: Any) -> None:
    assert content_of(answer, form(it=field)) == {"it": value}


@every_row(("field", "answer", "names"), [
    ({"type": "string", "enum": ["red", "blue"]}, "green", "red, blue"),
    ({"type": "boolean"}, "perhaps", "true or false"),
    ({"type": "integer"}, "many", "integer"),
    ({"type": "array", "items": {"type": "string", "enum": ["x"]}}, "x, z", "one of: x"),
    ({"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2}, "x", "at least 2 choices"),
    ({"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1}, "x, y", "at most 1 choices"),
    ({"type": "integer", "minimum": 2}, "1", "at least 2"),
    ({"type": "integer", "maximum": 2}, "3", "at most 2"),
    ({"type": "number", "minimum": 0.5}, "0.25", r"at least 0\.5"),
    ({"type": "integer"}, "1_0", "integer"),
    ({"type": "integer"}, "1.0", "integer"),
    ({"type": "integer"}, "\u0661", "integer"),
    ({"type": "integer"}, "9" * 5000, "integer"),
    ({"type": "number"}, "nan", "number"),
    ({"type": "number"}, "-Infinity", "number"),
    ({"type": "number"}, "1e999", "written down"),
    ({"type": "number"}, "1_0.5", "number"),
    ({"type": "string", "maxLength": 3}, "abcd", "at most 3 characters"),
    ({"type": "string", "minLength": 3}, "ab", "at least 3 characters"),
    ({"type": "string", "format": "email"}, "nope", "email"),
    ({"type": "string", "format": "email"}, "a@b c", "email"),
    ({"type": "string", "format": "uri"}, "nope", "scheme"),
    ({"type": "string", "format": "uri"}, "http://[::1", "scheme"),
    ({"type": "string", "format": "uri"}, "https://a b", "scheme"),
    ({"type": "string", "format": "date"}, "2026-02-30", "date"),
    ({"type": "string", "format": "date"}, "20260201", "date"),
    ({"type": "string", "format": "date-time"}, "2026-02-01 12:00", "zone"),
    ({"type": "string", "format": "date-time"}, "2026-02-01T25:00:00Z", "zone"),
])
def test_an_answer_that_does_not_fit_is_refused_with_what_fits(field: dict[str, Any], answer: str, names: str) -> None:
    with pytest.raises(Invalid, match=names):
        content_of(answer, form(it=field))


def test_several_fields_take_a_json_object() -> None:
    schema = form(["name"], name={"type": "string"}, age={"type": "integer"})
    assert content_of('{"name": "x", "age": 3}', schema) == {"name": "x", "age": 3}
    with pytest.raises(Invalid, match="JSON object of: name, age"):
        content_of("x", schema)
    with pytest.raises(Invalid, match="lacks name"):
        content_of('{"age": 3}', schema)
    with pytest.raises(Invalid, match="no field size"):
        content_of('{"name": "x", "size": 3}', schema)
    with pytest.raises(Invalid, match="age must be a integer"):
        check_content({"name": "x", "age": True}, schema)


def test_a_form_without_fields_is_agreed_to_and_holds_nothing() -> None:
    for schema in (form(), b'{"type":"object"}'):
        assert content_of("", schema) == content_of("yes", schema) == {}
        check_content({}, schema)
        with pytest.raises(Invalid, match="it has: none"):
            check_content({"answer": ""}, schema)


def test_an_object_is_held_against_the_form_like_one_answer() -> None:
    schema = form(count={"type": "integer", "minimum": 2}, ratio={"type": "number"})
    for content, names in (({"count": 1}, "at least 2"), ({"ratio": float("nan")}, "written down")):
        with pytest.raises(Invalid, match=names):
            check_content(content, schema)
    check_content({"count": 2, "ratio": 10**400}, schema)


def test_what_is_nested_too_deeply_is_refused_like_any_other_answer() -> None:
    with pytest.raises(Invalid, match="JSON object of: it"):
        content_of('{"a":' * 3000, form(it={"type": "string"}))
    assert content_of("x", b'{"properties":' + b'{"a":' * 3000 + b"1" + b"}" * 3001) == {}


def test_choices_that_were_left_for_other_words_need_not_be_enough() -> None:
    schema = form(answer={"type": "array", "items": {"enum": ["x"]}, "minItems": 1}, answer_other={"type": "string"})
    check_content({"answer": [], "answer_other": "neither"}, schema)
    with pytest.raises(Invalid, match="at least 1"):
        check_content({"answer": []}, schema)


def test_without_a_form_the_answer_is_free_text() -> None:
    assert content_of("whatever", None) == {"answer": "whatever"}


def test_a_choice_beside_a_field_for_other_words_takes_one_string_as_either() -> None:
    asked = {"type": "object", "properties": {"answer": {"type": "string", "oneOf": [{"const": "Red"}, {"const": "Blue"}]},
                                              "answer_other": {"type": "string"}}}
    schema = msgspec.json.encode(asked)
    assert content_of("Red", schema) == {"answer": "Red"}
    assert content_of("a dark green", schema) == {"answer_other": "a dark green"}
    assert content_of('{"answer": "Blue", "answer_other": "almost"}', schema) == {"answer": "Blue", "answer_other": "almost"}


def test_several_choices_beside_a_field_for_other_words_are_told_by_commas() -> None:
    items = {"anyOf": [{"const": "S"}, {"const": "L"}]}
    asked = {"type": "object", "properties": {"answer": {"type": "array", "items": items}, "answer_other": {"type": "string"}}}
    assert content_of("S, L", msgspec.json.encode(asked)) == {"answer": ["S", "L"]}
    assert content_of("neither", msgspec.json.encode(asked)) == {"answer_other": "neither"}


def test_two_fields_of_their_own_still_want_an_object() -> None:
    asked = {"type": "object", "properties": {"size": {"type": "string", "enum": ["S"]}, "comment": {"type": "string"}}}
    with pytest.raises(Invalid, match="several fields"):
        content_of("S", msgspec.json.encode(asked))
