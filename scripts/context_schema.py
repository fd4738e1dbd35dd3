"""docs/reference/agent-context.schema.json: the protocol as JSON Schema 2020-12, one definition per named type."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec

from scripts.context_types import ENUMS, ENVELOPE, STRUCTS, UNIONS, is_event, public_name
from trunkline.dialects.context.versions import ACP_VERSION

REF = "#/$defs/"


def context_schema() -> str:
    """The whole file. The schema itself takes any event; everything else is under ``$defs``."""
    _, components = msgspec.json.schema_components(STRUCTS, ref_template=REF + "{name}")
    enums = {name: {"title": name, "enum": list(get_args(enum))} for name, enum in ENUMS.items()}
    structs = {public_name(kind): _polished(kind, components[kind.__name__]) for kind in STRUCTS}
    unions = {name: {"title": name, "oneOf": [_ref(public_name(kind)) for kind in get_args(union)]}
              for name, union in UNIONS.items()}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Agent Context Protocol {ACP_VERSION}",
        **_ref("ACPEvent"),
        "$defs": {**enums, **structs, **unions},
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _polished(kind: type[msgspec.Struct], body: dict[str, Any]) -> dict[str, Any]:
    """A definition that says what holds on the wire: an event has its envelope, and nothing has a default."""
    fields = {name: _named(field) for name, field in body["properties"].items()}
    envelope = ENVELOPE if is_event(kind) else ()
    return {
        "title": public_name(kind),
        "description": body["description"].partition("\n")[0].replace("``", "`"),
        "type": "object",
        "properties": fields,
        "required": [*envelope, *body["required"]],
    }


def _named(schema: Any) -> Any:
    """A field's schema with enums, unions and structs as references to the protocol's names for them."""
    if not isinstance(schema, dict):
        return schema
    if name := _enum_names.get(frozenset(schema.get("enum", ()))):
        return _ref(name)
    if target := _struct_names.get(str(schema.get("$ref", "")).removeprefix(REF)):
        return _ref(target)
    members = schema.get("anyOf", [])
    if name := _union_names.get(frozenset(str(member.get("$ref", "")).removeprefix(REF) for member in members)):
        return _ref(name)
    inner = {"items": _named(schema["items"])} if "items" in schema else {}
    return {key: value for key, value in schema.items() if key != "default"} | inner


def _ref(name: str) -> dict[str, str]:
    return {"$ref": REF + name}


_enum_names = {frozenset(get_args(enum)): name for name, enum in ENUMS.items()}
_union_names = {frozenset(kind.__name__ for kind in get_args(union)): name for name, union in UNIONS.items()}
_struct_names = {kind.__name__: public_name(kind) for kind in STRUCTS}
