"""web/src/generated: what the hub says over HTTP and over the WebSocket, as TypeScript types for the page.

Rule 1: the types are those of the route table and of the frames; a route that is added there is here after `make docs`.
Rule 2: a field may be absent only where the hub leaves it out: it is unset, its default is omitted, or it is part of a request.
Rule 3: what the hub passes on as it came (raw JSON) has its type from ``RAW``.
"""

from __future__ import annotations

import inspect as python
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

import msgspec
from msgspec import inspect

from scripts import context_types
from scripts.context_typescript import context_typescript
from trunkline.dialects.acp import options
from trunkline.dialects.calls.types import CarriedReading
from trunkline.hub import PendingAsk
from trunkline.server.context.snapshot import SessionState
from trunkline.server.context.ws import frames
from trunkline.server.later import found_in
from trunkline.server.openapi import ErrorBody
from trunkline.server.routes import ROUTES
from trunkline.session import fold

HEAD = "// {what} Generated from the code by `make docs`; do not edit.\n"

RAW = {
    ("EventFrame", "event"): "ACPEvent",
    ("CommandFrame", "command"): "ACPCommand",
    ("SnapshotFrame", "state"): "SessionState | HubState",
    ("EventPage", "events"): "ACPEvent[]",
    ("ApprovalView", "toolInput"): "Record<string, unknown>",
    ("QuestionView", "schema"): "Record<string, unknown>",
    ("SessionView", "status"): "SessionStatus",
    ("SessionState", "status"): "SessionStatus",
    ("SessionView", "modes"): "SessionModeState | null",
    ("SessionView", "configOptions"): "(SessionConfigSelect | SessionConfigBoolean)[] | null",
    ("SessionView", "commands"): "AvailableCommand[] | null",
    ("SessionState", "modes"): "SessionModeState | null",
    ("SessionState", "configOptions"): "(SessionConfigSelect | SessionConfigBoolean)[] | null",
    ("SessionState", "commands"): "AvailableCommand[] | null",
    ("QueuedPrompt", "content"): "ContentBlock[]",
    ("NewSession", "prompt"): "string | ContentBlock[]",
    ("SendMessage", "content"): "string | ContentBlock[]",
    ("EditQueued", "content"): "string | ContentBlock[]",
}
"""By struct and field: what stands where the Python type says only that there is JSON."""

PASSED_ON = (options.SessionModeState, options.SessionConfigSelect, options.SessionConfigBoolean, options.AvailableCommand,
             CarriedReading)
"""Parts of the Agent Client Protocol that reach the page as the agent sent them, and what rides in ``_meta`` of events."""

TAIL = """\
/** One part of a prompt or of what an agent said, by the Agent Client Protocol. */
export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource;

/** An agent that the hub can run. */
export type AgentView = AgentInfo;

/** An approval or a question that waits for somebody, and the session it waits in. */
export type Pending = PendingAsk;
"""

_renamed: dict[type, str] = {fold.Todo: "TodoView"}
"""Where the Agent Context Protocol has a type of the same name."""
_context_names: dict[type, str] = {kind: context_types.public_name(kind) for kind in context_types.STRUCTS}
_context_unions = {frozenset(get_args(union)): name for name, union in context_types.UNIONS.items()}
_context_enums = {frozenset(get_args(enum)): name for name, enum in context_types.ENUMS.items()}


def api_typescript() -> str:
    """Every view and every request of the HTTP API."""
    kinds = _api_structs()
    text = "\n".join(_interface(kind, kinds) for kind in kinds)
    known = {*_context_names.values(), *_context_unions.values(), *_context_enums.values()}
    head = HEAD.format(what="The hub's HTTP API as TypeScript types.") + "\n" + _import(_words(text) & known, "./agent-context")
    return "\n".join([head, text, TAIL])


def frames_typescript() -> str:
    """The frames of the WebSocket."""
    said, told = get_args(frames.ClientFrames), get_args(frames.ServerFrames)
    kinds = dict.fromkeys((frames.HubInfo, frames.HubState, *said, *told), False)
    text = "\n".join(_interface(kind, kinds) for kind in kinds)
    names = sorted(_words(text) & {_name(kind) for kind in _api_structs()})
    head = HEAD.format(what="The frames of the hub's WebSocket as TypeScript types.") + "\n"
    imports = _import(("ACPCommand", "ACPEvent"), "./agent-context") + _import(names, "./api")
    unions = [f"export type ClientFrame ={_tall(said)};\n", f"export type HubFrame ={_tall(told)};\n"]
    return "\n".join([head + imports, text, *unions])


FILES: dict[str, Callable[[], str]] = {
    "agent-context.ts": context_typescript,
    "api.ts": api_typescript,
    "frames.ts": frames_typescript,
}
"""What is generated whole, by its name in web/src/generated."""


def _api_structs() -> dict[type, bool]:
    """The structs that routes take and give, and whether each is (part of) a request; two may not share a name."""
    asked = [found_in(route.request) for route in ROUTES if route.request is not None]
    given = [found_in(route.response) for route in ROUTES if route.response is not None]
    answers = dict.fromkeys(_reached([*given, ErrorBody, *PASSED_ON, *_frame_views()]), False)
    found = answers | {kind: True for kind in _reached(asked) if kind not in answers}
    kinds = {kind: request for kind, request in found.items() if kind not in _context_names}
    names = [_name(kind) for kind in kinds] + list(_context_names.values())
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"two structs of one name: {twice}"
    return dict(sorted(kinds.items(), key=lambda item: item[0].__name__))


def _frame_views() -> list[type]:
    """Views that only frames carry."""
    return [SessionState, PendingAsk]


def _name(kind: type) -> str:
    return _context_names.get(kind) or _renamed.get(kind) or kind.__name__


def _reached(roots: Iterable[Any]) -> list[type]:
    """Every struct in these types, in the order of finding."""
    found: dict[type, None] = {}
    for root in roots:
        _walk(inspect.type_info(root), found)
    return list(found)


def _walk(kind: inspect.Type, found: dict[type, None]) -> None:
    if isinstance(kind, inspect.StructType):
        if kind.cls in found:
            return
        found[kind.cls] = None
        for field in kind.fields:
            _walk(field.type, found)
    for inner in _inside(kind):
        _walk(inner, found)


def _inside(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    match kind:
        case inspect.UnionType(types=types):
            return types
        case inspect.CollectionType(item_type=item):
            return (item,)
        case inspect.TupleType(item_types=items):
            return items
        case inspect.DictType(key_type=key, value_type=value):
            return (key, value)
        case inspect.Metadata(type=inner):
            return (inner,)
        case _:
            return ()


def _import(names: Iterable[str], source: str) -> str:
    return f"import type {{\n{''.join(f'  {name},{chr(10)}' for name in sorted(names))}}} from '{source}';\n"


def _words(text: str) -> set[str]:
    """The names of types in a text."""
    return set(re.findall(r"\b[A-Z]\w+\b", text))


def _interface(kind: type, kinds: Mapping[type, bool]) -> str:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    lines = [f"/** {(python.getdoc(kind) or '').partition(chr(10))[0].replace('``', '`')} */"]
    lines.append(f"export interface {_name(kind)} {{")
    if info.tag_field:
        lines.append(f"  {info.tag_field}: '{info.tag}';")
    for field in info.fields:
        raw = RAW.get((kind.__name__, field.encode_name))
        lines.append(f"  {field.encode_name}{_mark(kind, field, kinds[kind])}: {raw or _written(field.type)};")
    return "\n".join([*lines, "}\n"])


def _mark(kind: Any, field: inspect.Field, request: bool) -> str:
    """A question mark where the field may be absent."""
    if field.required:
        return ""
    return "?" if request or kind.__struct_config__.omit_defaults or _may_be_unset(field) else ""


def _may_be_unset(field: inspect.Field) -> bool:
    """msgspec shows an unset default as none at all."""
    return field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT


def _written(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata(type=inner):
            return _written(inner)
        case inspect.StructType(cls=cls):
            return _name(cls)
        case inspect.DictType(value_type=value):
            return f"Record<string, {_written(value)}>"
        case inspect.CollectionType(item_type=item):
            return _listed(_written(item))
        case inspect.TupleType(item_types=items):
            return f"[{', '.join(map(_written, items))}]"
        case inspect.LiteralType(values=values):
            return _context_enums.get(frozenset(values)) or " | ".join(f"'{value}'" for value in values)
        case inspect.UnionType(types=types):
            return _union(types)
        case _:
            return _PLAIN[type(kind)]


_PLAIN: dict[type[inspect.Type], str] = {
    inspect.StrType: "string", inspect.BoolType: "boolean", inspect.IntType: "number", inspect.FloatType: "number",
    inspect.NoneType: "null", inspect.RawType: "unknown", inspect.AnyType: "unknown",
}


def _union(types: tuple[inspect.Type, ...]) -> str:
    structs = frozenset(one.cls for one in types if isinstance(one, inspect.StructType))
    if structs in _context_unions:
        rest = [_written(one) for one in types if not isinstance(one, inspect.StructType)]
        return " | ".join([_context_unions[structs], *rest])
    return " | ".join(dict.fromkeys(_written(one) for one in types))


def _listed(inner: str) -> str:
    return f"({inner})[]" if "|" in inner else f"{inner}[]"


def _tall(kinds: Iterable[type]) -> str:
    return "".join(f"\n  | {kind.__name__}" for kind in kinds)
