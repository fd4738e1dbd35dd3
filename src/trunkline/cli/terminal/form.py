"""A question's form, one field at a time: what JSON Schema says of a flat object, as far as questions use it.

Rule 1: an empty answer takes the field's default; without one it is refused, unless the field may stay away.
Rule 2: the form is an agent's, and may be of any shape: what cannot be read of it is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trunkline.dialects.outside import is_whole_number

DECLINE = ":decline"
"""Typed instead of an answer, it refuses to answer the question."""

_TRUE = frozenset({"y", "yes", "true", "1", "on"})
_FALSE = frozenset({"n", "no", "false", "0", "off"})


class Choice(msgspec.Struct, frozen=True):
    """One of a field's allowed values and how it is called."""

    value: Any
    title: str


class Field(msgspec.Struct, frozen=True):
    """One thing to fill in."""

    name: str
    title: str
    type: str = "string"
    choices: tuple[Choice, ...] = ()
    default: Any = None
    required: bool = True

    def read(self, typed: str) -> Any:
        """The value that was typed; ValueError says what was expected."""
        if not typed:
            return self._empty()
        if self.type == "array":
            return [self._one(part.strip()) for part in typed.split(",") if part.strip()]
        return self._one(typed)

    def _empty(self) -> Any:
        if self.default is None and self.required:
            raise ValueError("an answer is needed")
        return self.default

    def _one(self, typed: str) -> Any:
        if self.choices:
            return self._chosen(typed)
        if self.type == "boolean":
            return _boolean(typed)
        if self.type in ("integer", "number"):
            return _number(typed, whole=self.type == "integer")
        return typed

    def _chosen(self, typed: str) -> Any:
        if is_whole_number(typed) and 1 <= int(typed) <= len(self.choices):
            return self.choices[int(typed) - 1].value
        for choice in self.choices:
            if typed.lower() in (str(choice.value).lower(), choice.title.lower()):
                return choice.value
        raise ValueError(f"expected a number from 1 to {len(self.choices)}")


def fields_of(question: Mapping[str, Any]) -> list[Field]:
    """The fields of a question: its form's, which may have none; without a form one that takes an option or any text."""
    schema = question.get("schema")
    if not isinstance(schema, Mapping):
        options = tuple(Choice(str(option), str(option)) for option in _listed(question.get("options")))
        return [Field("answer", "answer", choices=options)]
    properties, required = schema.get("properties"), _listed(schema.get("required"))
    if not isinstance(properties, Mapping):
        return []
    return [_field(str(name), rules, name in required) for name, rules in properties.items() if isinstance(rules, Mapping)]


def _field(name: str, rules: Mapping[str, Any], required: bool) -> Field:
    title = str(rules.get("title") or rules.get("description") or name)
    default = rules.get("default")
    shown = f"{title} [{default}]" if default is not None else title
    return Field(name, shown, str(rules.get("type", "string")), _choices(rules), default, required)


def _choices(rules: Mapping[str, Any]) -> tuple[Choice, ...]:
    items = rules.get("items")
    if rules.get("type") == "array" and isinstance(items, Mapping):
        return _choices(items)
    if isinstance(rules.get("enum"), list):
        names = _listed(rules.get("enumNames")) or rules["enum"]
        return tuple(Choice(value, str(name)) for value, name in zip(rules["enum"], names, strict=False))
    titled = [one for one in _listed(rules.get("oneOf") or rules.get("anyOf")) if isinstance(one, Mapping)]
    return tuple(Choice(one["const"], str(one.get("title", one["const"]))) for one in titled if "const" in one)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _boolean(typed: str) -> bool:
    word = typed.lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("expected yes or no")
    return word in _TRUE


def _number(typed: str, *, whole: bool) -> int | float:
    try:
        return int(typed) if whole else float(typed)
    except ValueError:
        raise ValueError("expected a whole number" if whole else "expected a number") from None
