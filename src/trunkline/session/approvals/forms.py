"""Answers as people give them, turned into what a question's form wants.

Rule 1: an answer that does not fit the form is refused with the field's name and what it takes; the agent never sees it.
Rule 2: a ``pattern`` is left to the agent: a regular expression of somebody else's can take for ever.
Rule 3: a bound that is no number binds nothing; a form that cannot be read has no fields.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import OTHER_WORDS
from trunkline.errors import Invalid

TRUE = frozenset({"true", "yes", "y", "on", "1"})
FALSE = frozenset({"false", "no", "n", "off", "0"})


def content_of(answer: str, schema: bytes | None) -> dict[str, Any]:
    """A form's content from one string: the value of its only field, or a JSON object with all of them. A form without fields
    has room for no words: it is agreed to."""
    if schema is None:
        return {"answer": answer}
    fields = fields_of(schema)
    if not fields:
        return {}
    if not _is_object(answer) and (main := main_field(fields)) is not None:
        return _in_words(main, fields, answer)
    content = _decoded(answer)
    if not isinstance(content, dict):
        raise Invalid(f"the question has several fields; answer with a JSON object of: {', '.join(fields)}")
    check_content(content, schema)
    return content


def check_content(content: dict[str, Any], schema: bytes | None) -> None:
    """Refuse a content that the form does not take: a missing field, a wrong type, a choice that is not offered, a value out of
    bounds."""
    if schema is None:
        return
    fields, required = fields_of(schema), _form(schema).get("required")
    for name in required if isinstance(required, list) else []:
        if name not in content:
            raise Invalid(f"the answer lacks {name}", details={"field": name})
    for name, value in content.items():
        if name not in fields:
            raise Invalid(f"the question has no field {name}; it has: {', '.join(fields) or 'none'}", details={"field": name})
        if value != [] or not content.get(name + OTHER_WORDS):  # nothing was chosen, but said in other words
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
        other = main + OTHER_WORDS
        if other not in fields:
            raise
        return {other: _value(other, fields[other], answer)}


def _items(field: dict[str, Any]) -> dict[str, Any]:
    items = field.get("items")
    return items if isinstance(items, dict) else {}


def _form(schema: bytes) -> dict[str, Any]:
    form = _decoded(schema)
    return form if isinstance(form, dict) else {}


def _decoded(text: str | bytes) -> Any:
    """Somebody's JSON; None where it cannot be read."""
    try:
        return msgspec.json.decode(text)
    except BROKEN:
        return None


def _is_object(answer: str) -> bool:
    return answer.lstrip().startswith("{")


def _value(name: str, field: dict[str, Any], answer: str) -> Any:
    kind = field.get("type")
    value: Any = answer
    if kind == "boolean":
        return _truth(name, answer)
    if kind in ("integer", "number"):
        value = _number(name, kind, answer)
    elif kind == "array":
        value = [part.strip() for part in answer.split(",")]
    _check(name, field, value)
    return value


def _truth(name: str, answer: str) -> bool:
    word = answer.strip().lower()
    if word not in TRUE | FALSE:
        raise Invalid(f"{name} is true or false, not {answer!r}", details={"field": name})
    return word in TRUE


_NUMBERS = {"integer": re.compile(r"[+-]?[0-9]{1,300}"),
            "number": re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,4})?")}
"""How JSON and people write numbers; Python itself takes more (``1_0``, ``nan``)."""


def _number(name: str, kind: str, answer: str) -> int | float:
    if not _NUMBERS[kind].fullmatch(answer.strip()):
        raise Invalid(f"{name} is a {kind}, not {answer[:80]!r}", details={"field": name})
    return int(answer) if kind == "integer" else float(answer)


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,)}


def _check(name: str, field: dict[str, Any], value: Any) -> None:
    kind = field.get("type")
    wanted = _TYPES.get(kind) if isinstance(kind, str) else None
    if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")):
        raise Invalid(f"{name} must be a {kind}", details={"field": name})
    if isinstance(value, list):
        _check_bounds(name, len(value), field.get("minItems"), field.get("maxItems"), "{} choices")
        for item in value:
            _check(name, _items(field), item)
        return
    _check_choice(name, field, value)
    if isinstance(value, str):
        _check_bounds(name, len(value), field.get("minLength"), field.get("maxLength"), "{} characters")
        _check_format(name, field.get("format"), value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            raise Invalid(f"{name} must be a number that can be written down", details={"field": name})
        _check_bounds(name, value, field.get("minimum"), field.get("maximum"), "{}")


def _check_choice(name: str, field: dict[str, Any], value: Any) -> None:
    choices = choices_of(field)
    if choices and value not in choices:
        offered = ", ".join(str(choice) for choice in choices)
        raise Invalid(f"{name} must be one of: {offered}", details={"field": name})


def _check_bounds(name: str, size: int | float, least: Any, most: Any, unit: str) -> None:
    if _is_bound(least) and size < least:
        raise Invalid(f"{name} must be at least {unit.format(least)}", details={"field": name, "least": least})
    if _is_bound(most) and size > most:
        raise Invalid(f"{name} must be at most {unit.format(most)}", details={"field": name, "most": most})


def _is_bound(bound: Any) -> bool:
    return isinstance(bound, int | float) and not isinstance(bound, bool)


_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(_DATE.pattern + r"[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _is_uri(value: str) -> bool:
    return " " not in value and value.isprintable() and bool(urlsplit(value).scheme)


def _is_date(value: str) -> bool:
    return bool(_DATE.fullmatch(value) and date.fromisoformat(value))


def _is_date_time(value: str) -> bool:
    # The standard library reads no more than six digits of a second.
    return bool(_DATE_TIME.fullmatch(value) and datetime.fromisoformat(re.sub(r"\.[0-9]+", "", value.upper())))


_FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "email": (lambda value: bool(_EMAIL.fullmatch(value)), "an email address, such as ann@example.org"),
    "uri": (_is_uri, "an address with its scheme, such as https://example.org"),
    "date": (_is_date, "a date, such as 2026-01-31"),
    "date-time": (_is_date_time, "a time with its zone, such as 2026-01-31T12:00:00Z"),
}
"""The protocol's formats; any other binds nothing."""


def _check_format(name: str, named: Any, value: str) -> None:
    if not isinstance(named, str) or named not in _FORMATS:
        return
    fits, wanted = _FORMATS[named]
    try:
        fitting = fits(value)
    except ValueError:  # the parts are there, and are no day, no hour, no host
        fitting = False
    if not fitting:
        raise Invalid(f"{name} must be {wanted}", details={"field": name})
