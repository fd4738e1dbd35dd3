from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trunkline.errors import Invalid
from trunkline.session.forms import check_content, content_of


def form(required: list[str] | None = None, **fields: Any) -> bytes:
    return msgspec.json.encode({"type": "object", "properties": fields, "required": required or []})


@pytest.mark.parametrize(("field", "answer", "value"), [
    ({"type": "string"}, "anything", "anything"),
    ({"type": "string", "enum": ["red", "blue"]}, "blue", "blue"),
    ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a", "a"),
    ({"type": "boolean"}, "Yes", True),
    ({"type": "boolean"}, "false", False),
    ({"type": "integer"}, "42", 42),
    ({"type": "number"}, "1.5", 1.5),
    ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, "x, y", ["x", "y"]),
])
def test_a_plain_string_fills_the_only_field(field: dict[str, Any], answer: str, value: Any) -> None:
    assert content_of(answer, form(it=field)) == {"it": value}


@pytest.mark.parametrize(("field", "answer", "names"), [
    ({"type": "string", "enum": ["red", "blue"]}, "green", "red, blue"),
    ({"type": "boolean"}, "perhaps", "true or false"),
    ({"type": "integer"}, "many", "integer"),
    ({"type": "array", "items": {"type": "string", "enum": ["x"]}}, "x, z", "one of: x"),
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
