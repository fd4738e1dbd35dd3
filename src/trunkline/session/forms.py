"""Answers as people give them, turned into what a question's form wants.

Rule: an answer that does not fit the form is refused with the field's name and what it takes; the agent never sees it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.dialects.signals import OTHER_WORDS
from trunkline.errors import Invalid

TRUE = frozenset({"true", "yes", "y", "on", "1"})
FALSE = frozenset({"false", "no", "n", "off", "0"})


def content_of(answer: str, schema: bytes | None) -> dict[str, Any]:
    """A form's content from one string: the value of its only field, or a JSON object with all of them."""
    fields = fields_of(schema)
    if not fields:
        return {"answer": answer}
    if not _is_object(answer) and (main := main_field(fields)) is not None:
        return _in_words(main, fields, answer)
    try:
        content = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        content = None
    if not isinstance(content, dict):
        raise Invalid(f"the question has several fields; answer with a JSON object of: {', '.join(fields)}")
    check_content(content, schema)
    return content


def check_content(content: dict[str, Any], schema: bytes | None) -> None:
    """Refuse a content that the form does not take: a missing field, a wrong type, a choice that is not offered."""
    fields = fields_of(schema)
    if not fields or schema is None:
        return
    required = _form(schema).get("required")
    for name in required if isinstance(required, list) else []:
        if name not in content:
            raise Invalid(f"the answer lacks {name}", details={"field": name})
    for name, value in content.items():
        if name not in fields:
            raise Invalid(f"the question has no field {name}; it has: {', '.join(fields)}", details={"field": name})
        _check(name, fields[name], value)


def fields_of(schema: bytes | None) -> dict[str, dict[str, Any]]:
    """The form's fields by name; none where there is no form."""
    if schema is None:
        return {}
    fields = _form(schema).get("properties")
    if not isinstance(fields, dict):
        return {}
    return {name: field for name, field in fields.items() if isinstance(field, dict)}


def main_field(fields: dict[str, dict[str, Any]]) -> str | None:
    """The field that a single answer is for: the only one, or the only one beside a field for other words."""
    names = [name for name in fields if name.removesuffix(OTHER_WORDS) == name or name.removesuffix(OTHER_WORDS) not in fields]
    return names[0] if len(names) == 1 else None


def choices_of(field: dict[str, Any]) -> list[Any]:
    """What a field offers to choose from; empty where anything goes."""
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    listed = field.get("oneOf") or field.get("anyOf")
    return [choice.get("const") for choice in listed if isinstance(choice, dict)] if isinstance(listed, list) else []


def _in_words(main: str, fields: dict[str, dict[str, Any]], answer: str) -> dict[str, Any]:
    """One string as a form's content: a choice where it is one, else in the field for other words."""
    try:
        return {main: _value(main, fields[main], answer)}
    except Invalid:
        if main + OTHER_WORDS not in fields:
            raise
        return {main + OTHER_WORDS: answer}


def _items(field: dict[str, Any]) -> dict[str, Any]:
    items = field.get("items")
    return items if isinstance(items, dict) else {}


def _form(schema: bytes) -> dict[str, Any]:
    form = msgspec.json.decode(schema)
    return form if isinstance(form, dict) else {}


def _is_object(answer: str) -> bool:
    return answer.lstrip().startswith("{")


def _value(name: str, field: dict[str, Any], answer: str) -> Any:
    kind = field.get("type")
    if kind == "boolean":
        word = answer.strip().lower()
        if word not in TRUE | FALSE:
            raise Invalid(f"{name} is true or false, not {answer!r}", details={"field": name})
        return word in TRUE
    if kind in ("integer", "number"):
        return _number(name, kind, answer)
    value: Any = [part.strip() for part in answer.split(",")] if kind == "array" else answer
    _check(name, field, value)
    return value


def _number(name: str, kind: str, answer: str) -> int | float:
    try:
        return int(answer) if kind == "integer" else float(answer)
    except ValueError:
        raise Invalid(f"{name} is a {kind}, not {answer!r}", details={"field": name}) from None


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,)}


def _check(name: str, field: dict[str, Any], value: Any) -> None:
    kind = field.get("type")
    wanted = _TYPES.get(kind) if isinstance(kind, str) else None
    if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")):
        raise Invalid(f"{name} must be a {kind}", details={"field": name})
    if isinstance(value, list):
        for item in value:
            _check_choice(name, _items(field), item)
        return
    _check_choice(name, field, value)


def _check_choice(name: str, field: dict[str, Any], value: Any) -> None:
    choices = choices_of(field)
    if choices and value not in choices:
        offered = ", ".join(str(choice) for choice in choices)
        raise Invalid(f"{name} must be one of: {offered}", details={"field": name})
