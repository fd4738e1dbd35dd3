"""Reads the TypeScript and JavaScript that seed 002 is written in: object types, unions, literals, and calls with their results.

Rule: enough of the language for the seed, no more; what is not understood fails the test that reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

_STRING_OR_COMMENT = re.compile(r"('(?:[^'\\]|\\.)*')|//[^\n]*")
_LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|\b([A-Za-z_]\w*)(?=\s*:)|,(?=\s*[\]}])")
_FIELD = re.compile(r"(?:readonly )?(\w+)(\?)?\s*:\s*(.*)", re.S)
_METHOD = re.compile(r"(\w+)\((.*)\)\s*:\s*(.*)", re.S)
_CALL = re.compile(r"^(\w+)\((.*)\);\s*//\s*\S+\s+('[^']*')", re.M)


class Member(msgspec.Struct, frozen=True):
    """A field of an object type, or a method: ``arguments`` is None for a field."""

    name: str
    optional: bool
    type: str
    arguments: str | None = None


def without_comments(code: str) -> str:
    return _STRING_OR_COMMENT.sub(lambda found: found[1] or "", code)


def literal(code: str) -> Any:
    """The value of a JavaScript literal: single quotes, bare keys, comments and trailing commas."""

    def as_json(found: re.Match[str]) -> str:
        if found[1] is not None:
            return json.dumps(found[1])
        return json.dumps(found[2]) if found[2] else ""

    return json.loads(_LITERAL.sub(as_json, without_comments(code)))


def assigned(code: str) -> Any:
    """The literal in ``const name: Type = …;``."""
    return literal(code.partition(" = ")[2].rstrip().rstrip(";"))


def calls(code: str) -> list[tuple[str, list[Any], str]]:
    """The calls of a block with what they give, by its comments: name, arguments, result."""
    return [(name, literal(f"[{arguments}]"), literal(result)) for name, arguments, result in _CALL.findall(code)]


def parts(text: str, separators: str) -> Iterator[str]:
    """The pieces between separators that stand outside all brackets."""
    depth = start = 0
    for at, character in enumerate(text):
        depth += (character in "{[(<") - (character in "}])" or (character == ">" and text[at - 1] != "="))
        if character in separators and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def body_of(code: str, name: str) -> str:
    """What stands between the braces of an interface."""
    found = re.search(rf"interface {name}\b[^{{]*\{{(.*?)^\}}", without_comments(code), re.S | re.M)
    assert found, f"no interface {name}"
    return found[1]


def members(body: str) -> dict[str, Member]:
    """The fields and methods of an object type, by name."""
    found = {}
    for text in filter(None, parts(body, ";")):
        if method := _METHOD.fullmatch(text):
            found[method[1]] = Member(method[1], False, method[3], method[2])
        else:
            field = _FIELD.fullmatch(text)
            assert field, text
            found[field[1]] = Member(field[1], bool(field[2]), field[3])
    return found


def variants(code: str, name: str) -> list[dict[str, Member]]:
    """The object types that a union is made of."""
    found = re.search(rf"type {name}\s*=(.*)", without_comments(code), re.S)
    assert found, f"no type {name}"
    return [members(text.strip("{} \n")) for text in parts(found[1].rstrip().rstrip(";"), "|") if text]


def sample(kind: str) -> Any:
    """A value of a TypeScript type."""
    if kind.startswith("Array<{"):
        return [example(members(kind.removeprefix("Array<{").removesuffix("}>")))]
    if kind.startswith("'"):
        return literal(next(parts(kind, "|")))
    return {"string": "some text", "number": 7, "boolean": True, "unknown": {"any": [1, None]},
            "Record<string, unknown>": {"a": 1}}[kind]


def example(fields: dict[str, Member], *, optional: bool = True) -> dict[str, Any]:
    """A JSON object of an object type, with or without its optional fields."""
    return {field.name: sample(field.type) for field in fields.values() if optional or not field.optional}


def snake(name: str) -> str:
    """A camelCase name as Python spells it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
