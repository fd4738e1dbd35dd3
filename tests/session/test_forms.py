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
