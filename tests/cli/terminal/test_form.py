"""A question's form, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tooling.rows import every_row
from trunkline.cli.terminal.form import fields_of


def _field(rules: dict[str, Any], *, required: bool = True) -> Any:
    schema = {"type": "object", "properties": {"f": rules}, "required": ["f"] if required else []}
    (field,) = fields_of({"schema": schema})
    return field


@every_row(
    ("rules", "typed", "value"),
    [
        ({"type": "string"}, "text", "text"),
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "0", False),
        ({"type": "string", "enum": ["a", "b"]}, "2", "b"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]}, "first", "a"),
        ({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}, "red", "r"),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}, "1, c", ["a", "c"]),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}, "1", ["x"]),
        ({"type": "integer", "default": 3}, "", 3),
    ],
)
def test_what_is_typed_becomes_the_fields_type(rules: dict[str, Any], typed: str, value: object) -> None:
    read = _field(rules).read(typed)
    assert (read, type(read)) == (value, type(value))


@every_row(
    ("rules", "typed"),
    [({"type": "integer"}, "1.5"), ({"type": "number"}, "x"), ({"type": "boolean"}, "perhaps"), ({"type": "string"}, ""),
     ({"type": "string", "enum": ["a"]}, "2"), ({"type": "string", "enum": ["a"]}, "b")],
)
def test_what_does_not_fit_is_refused_with_a_word_of_help(rules: dict[str, Any], typed: str) -> None:
    with pytest.raises(ValueError, match=r"expected|needed"):
        _field(rules).read(typed)


def test_a_field_that_may_stay_away_may_be_empty() -> None:
    assert _field({"type": "string"}, required=False).read("") is None


def test_a_question_without_a_form_takes_an_option_or_any_text() -> None:
    (free,) = fields_of({"question": "why?"})
    assert free.read("because") == "because"
    (choice,) = fields_of({"question": "which?", "options": ["this", "that"]})
    assert choice.read("2") == "that"


def test_a_form_without_fields_asks_for_nothing() -> None:
    assert fields_of({"question": "agreed?", "schema": {"type": "object"}}) == []
    assert fields_of({"question": "agreed?", "schema": {"type": "object", "properties": {}}}) == []


@every_row("schema", [
    {"properties": {"a": {}}, "required": None},
    {"properties": {"a": {}}, "required": 7},
    {"properties": {"a": {"oneOf": [1]}}},
    {"properties": {"a": {"enum": [1], "enumNames": 3}}},
    {"properties": {"a": {"type": "array", "items": 1}}},
    {"properties": {"a": 4}},
    {"properties": []},
])
def test_a_form_of_any_shape_is_read_as_far_as_it_can_be(schema: object) -> None:
    assert [field.name for field in fields_of({"schema": schema})] in ([], ["a"])
    assert fields_of({"options": 5})[0].choices == ()
