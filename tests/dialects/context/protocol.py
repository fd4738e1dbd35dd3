"""The protocol's own field list (``tests/data/agent_context_fields.json``), with names resolved, and values made from it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FIELDS = Path(__file__).parents[2] / "data" / "agent_context_fields.json"


@cache
def protocol() -> dict[str, Any]:
    loaded = json.loads(FIELDS.read_text())
    assert isinstance(loaded, dict)
    return loaded


def resolve(kind: Any) -> Any:
    """A field's type with every name replaced by what it stands for, down to strings, numbers, booleans and enums."""
    if isinstance(kind, dict):
        return {name: resolve(inner) for name, inner in kind.items()}
    if isinstance(kind, list):
        return [resolve(kind[0])] if isinstance(kind[0], dict) else kind
    if kind.endswith("[]") and "|" not in kind:
        return [resolve(kind[:-2])]
    if kind in protocol()["types"]:
        return resolve(protocol()["types"][kind])
    if kind in protocol()["unions"]:
        union = protocol()["unions"][kind]
        return {"by": union["by"], "variants": {tag: resolve(body) for tag, body in union["variants"].items()}}
    return protocol()["enums"].get(kind, kind)


def sample(kind: Any, *, optional: bool) -> Any:
    """A JSON value of a resolved type, with or without its optional fields."""
    if isinstance(kind, dict):
        if kind.keys() == {"by", "variants"}:
            tag, body = next(iter(kind["variants"].items()))
            return {kind["by"]: tag, **sample(body, optional=optional)}
        kept = {name: inner for name, inner in kind.items() if optional or not name.endswith("?")}
        return {name.rstrip("?"): sample(inner, optional=optional) for name, inner in kept.items()}
    if isinstance(kind, list):
        return kind[-1] if isinstance(kind[0], str) and kind != ["string"] else [sample(kind[0], optional=optional)] * 2
    return SCALARS[kind]


SCALARS: dict[str, Any] = {
    "string": 'a "word", ünïcode',
    "string|null": None,
    "date": "2025-06-01T12:30:00.000Z",
    "number": 12,
    "boolean": False,
    "boolean|string[]": ["src/**/*.ts"],
    "object": {"b": [1, {"a": None}], "a": 1.5},
    "any": [1, "x", None],
}
