"""Holds a JSON value against a TypeScript interface of the seeds, and makes what the tests feed in.

Rule: a value fits an interface when it has every field that is not optional, no field that is not named (but those allowed), and
each value is of the written type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.spec import seeds
from tests.spec.seeds import Field
from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.reading.decode import decode_update, normalise_update
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate

AT = 1_769_109_210_917_345
STAMP = "2026-01-22T19:13:30.917345+00:00"
"""The moment of the seeds' example, as microseconds and as a packet writes it."""

ADDED = ("type", "timestamp")
"""Every packet has these two, also where a seed leaves one away."""

_PLAIN: dict[str, type | tuple[type, ...]] = {
    "string": str, "number": (int, float), "boolean": bool, "null": type(None), "any": object, "unknown": object,
}


Names = Mapping[str, Mapping[str, Field]]
"""The interfaces that stand beside one another in a block."""


def fits(value: Any, fields: Mapping[str, Field], names: Names, *, allowed: Sequence[str] = ADDED) -> None:
    """Assert that a JSON object fits an interface."""
    assert isinstance(value, dict), value
    missing = {name for name, field in fields.items() if not field.optional} - value.keys()
    assert not missing, f"lacks {sorted(missing)}"
    unknown = value.keys() - fields.keys() - set(allowed)
    assert not unknown, f"has {sorted(unknown)} besides"
    for name in value.keys() & fields.keys():
        field = fields[name]
        if field.fields:
            fits(value[name], field.fields, names, allowed=())
        else:
            assert of_type(value[name], field.type, names), f"{name}: {value[name]!r} is no {field.type}"


def of_type(value: Any, kind: str, names: Names) -> bool:
    """Whether a value is of a TypeScript type, as the seeds write them."""
    return any(_is(value, part.strip(), names) for part in kind.split("|"))


def _is(value: Any, kind: str, names: Names) -> bool:
    if kind in ("{}", "[]"):
        return bool(value == json.loads(kind))
    if kind.startswith('"'):
        return bool(value == kind.strip('"'))
    if kind.endswith("[]"):
        return isinstance(value, list) and all(_is(one, kind[:-2], names) for one in value)
    if match := re.fullmatch(r"Record<string, (.*)>", kind):
        return isinstance(value, dict) and all(of_type(one, match[1], names) for one in value.values())
    if kind in _PLAIN:
        return isinstance(value, _PLAIN[kind]) and (kind != "number" or not isinstance(value, bool))
    if kind in names:
        fits(value, names[kind], names, allowed=())
    return True  # a union that the seed names but spells out elsewhere; its own block is held against it there


def sample(fields: Mapping[str, Field], names: Names, *, optional: bool = True) -> dict[str, Any]:
    """A JSON object that fits an interface, with or without its optional fields."""
    return {name: _sample(field, names) for name, field in fields.items() if optional or not field.optional}


def _sample(field: Field, names: Names) -> Any:
    if field.fields:
        return sample(field.fields, names)
    kind = field.type.partition("|")[0].strip()
    if kind.startswith('"'):
        return kind.strip('"')
    if kind.endswith("[]"):
        return [sample(names[kind[:-2]], names)] if kind[:-2] in names else []
    if kind.startswith("Record<") or kind == "{}":
        return {}
    return {"string": f"some {field.name}", "number": 7, "boolean": True}[kind]


def packet(encoded: bytes) -> dict[str, Any]:
    """A packet as a client reads it; every one is one line."""
    assert b"\n" not in encoded
    value = json.loads(encoded)
    assert isinstance(value, dict)
    return value


def unstamped(encoded: bytes) -> dict[str, Any]:
    """A packet without what the hub adds to every one, after a look that it is there."""
    value = packet(encoded)
    assert value.pop("timestamp") == STAMP
    return value


def as_agent(update: Mapping[str, Any]) -> bytes:
    """An update as an agent writes it."""
    return json.dumps(update).encode()


def told(*updates: Mapping[str, Any]) -> CallState:
    """What some tool call updates add up to."""
    call: CallState | None = None
    for update in updates:
        decoded = decode_update(normalise_update(as_agent(update)))
        assert isinstance(decoded, ToolCall | ToolCallUpdate), decoded
        call = call or CallState(tool_call_id=decoded.tool_call_id)
        merge_call(call, decoded)
    assert call is not None
    return call


def told_like(example: Mapping[str, Any]) -> CallState:
    """The state of the call that an example packet shows, told as an agent would: announced first, then updated."""
    name = example["title"] if "\n" not in example["title"] else "apply_patch"
    call = {"sessionUpdate": "tool_call", "toolCallId": example["toolCallId"], "title": name, "kind": example["kind"]}
    members = ("title", "kind", "status", "rawInput", "rawOutput", "content", "locations")
    update = {key: example[key] for key in members if example.get(key) is not None}
    return told(call, {"sessionUpdate": "tool_call_update", "toolCallId": example["toolCallId"], **update})


def contains(whole: Any, part: Any) -> bool:
    """Whether ``whole`` says all that ``part`` says; objects may say more, lists may not."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], value) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def struct_takes(kind: type[msgspec.Struct], value: Mapping[str, Any]) -> Any:
    """The value after a trip through one of our structs, as JSON."""
    return json.loads(msgspec.json.encode(msgspec.convert(value, kind)))


def interface(id: str, name: str) -> tuple[dict[str, Field], dict[str, dict[str, Field]]]:
    """An interface of a code block, and all interfaces beside it."""
    names = seeds.interfaces(seeds.code(id))
    return names[name], names
