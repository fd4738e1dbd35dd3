"""docs/reference/agent-context.ts: the protocol as TypeScript types, for the page and for anybody's client."""

from __future__ import annotations

import inspect as python
from collections.abc import Iterable
from typing import Any, get_args

import msgspec
from msgspec import inspect

from scripts.context_types import ENUMS, ENVELOPE, OBJECTS, STRUCTS, UNIONS, VARIANTS, is_event, public_name
from trunkline.dialects.context.versions import ACP_MIN_VERSION, ACP_VERSION

HEAD = f"""\
// The Agent Context Protocol {ACP_VERSION} as TypeScript types. Generated from the code by `make docs`; do not edit.
// Optional means absent, never null. What Trunkline adds beyond the protocol rides in `_meta`.

export const ACP_VERSION = '{ACP_VERSION}';
export const ACP_MIN_VERSION = '{ACP_MIN_VERSION}';
"""

TAIL = """\
/** The events whose type begins so: `ACPEventByPrefix<'tool:'>`. */
export type ACPEventByPrefix<P extends string> = Extract<ACPEvent, { type: `${P}${string}` }>;

/** What every event has. */
export type ACPEventBase = Pick<ACPEvent, 'seq' | 'sessionId' | 'timestamp' | '_meta'>;
"""

_enum_names = {frozenset(get_args(enum)): name for name, enum in ENUMS.items()}
_union_names = {frozenset(get_args(union)): name for name, union in UNIONS.items()}
_struct_names = {kind: public_name(kind) for kind in STRUCTS}


def context_typescript() -> str:
    """The whole file."""
    enums = [f"export type {name} = {_choice(map(_quoted, get_args(enum)))};\n" for name, enum in ENUMS.items()]
    structs = [_interface(kind) for kind in (*OBJECTS, *VARIANTS)]
    unions = [f"export type {name} ={_tall(map(public_name, get_args(union)))};\n" for name, union in UNIONS.items()]
    return "\n".join([HEAD, *enums, *structs, *unions, TAIL])


def _interface(kind: type[msgspec.Struct]) -> str:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    lines = [f"/** {(python.getdoc(kind) or '').partition(chr(10))[0].replace('``', '`')} */"]
    lines.append(f"export interface {public_name(kind)} {{")
    if info.tag_field:
        lines.append(f"  {info.tag_field}: {_quoted(info.tag)};")
    for field in info.fields:
        always = field.required or (is_event(kind) and field.encode_name in ENVELOPE)
        lines.append(f"  {field.encode_name}{'' if always else '?'}: {_written(field.type)};")
    return "\n".join([*lines, "}\n"])


def _written(kind: inspect.Type) -> str:
    """A type as TypeScript writes it; the named ones by their names."""
    match kind:
        case inspect.Metadata(extra_json_schema={"type": "object"}) | inspect.DictType():
            return "Record<string, unknown>"
        case inspect.StructType(cls=cls):
            return _struct_names[cls]
        case inspect.ListType(item_type=item):
            inner = _written(item)
            return f"({inner})[]" if " " in inner and not inner.startswith("Record<") else f"{inner}[]"
        case inspect.LiteralType(values=values):
            return _enum_names.get(frozenset(values)) or _choice(map(_quoted, values))
        case inspect.UnionType(types=types):
            return _union(types)
        case _:
            return _PLAIN[type(kind)]


_PLAIN: dict[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.BoolType: "boolean",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.NoneType: "null",
    inspect.RawType: "unknown",
}


def _union(types: tuple[inspect.Type, ...]) -> str:
    structs = frozenset(one.cls for one in types if isinstance(one, inspect.StructType))
    if len(structs) > 1:
        return _union_names[structs]
    return _choice(dict.fromkeys(_written(one) for one in types))


def _choice(words: Iterable[str]) -> str:
    return " | ".join(words)


def _tall(words: Iterable[str]) -> str:
    """A choice of one line each."""
    return "".join(f"\n  | {word}" for word in words)


def _quoted(value: Any) -> str:
    return f"'{value}'"
