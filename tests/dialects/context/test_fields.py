"""Every struct of the Agent Context Protocol has exactly the fields that the protocol lists, in its order."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import inspect

from tests.dialects.context.protocol import protocol, resolve
from tests.tooling.rows import every_row
from trunkline.dialects import context
from trunkline.dialects.context import capabilities, commands, types, unions
from trunkline.dialects.context.commands import COMMANDS
from trunkline.dialects.context.events import EVENTS
from trunkline.dialects.context.versions import ACP_MIN_VERSION, ACP_VERSION

RENAMED = {"ACPError": "ErrorInfo", "ACPCapabilities": "Capabilities"}


def described(kind: inspect.Type) -> Any:
    """One of our types in the words of the protocol's field list."""
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema=schema):
            return schema["type"] if schema else described(inner)
        case inspect.UnionType(types=types):
            return described_union(list(types))
        case inspect.StructType(cls=cls):
            return members(cls)
        case inspect.ListType(item_type=item):
            return [described(item)]
        case inspect.LiteralType(values=values):
            return set(values)
        case inspect.DictType():
            return "object"
        case inspect.StrType():
            return "string"
        case inspect.BoolType():
            return "boolean"
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.RawType():
            return "any"
        case _:
            raise AssertionError(f"the protocol has no word for {kind}")


def described_union(types: list[inspect.Type]) -> Any:
    if all(isinstance(one, inspect.StructType) for one in types) and len(types) > 1:
        structs = [one for one in types if isinstance(one, inspect.StructType)]
        return {"by": structs[0].tag_field, "variants": {one.tag: members(one.cls) for one in structs}}
    words = [described(one) for one in types if not isinstance(one, inspect.NoneType)]
    if len(words) < len(types):
        return f"{words[0]}|null"
    if words == ["number", "number"]:
        return "number"
    return words[0] if len(words) == 1 else "|".join("string[]" if word == ["string"] else word for word in words)


def members(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """A struct's fields by their wire names, ``?`` behind what may be absent, as the field list writes them."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    own = {field.name: field for field in msgspec.structs.fields(cls)}
    return {field.encode_name + ("" if own[field.name].required else "?"): described(field.type) for field in info.fields}


def unordered(kind: Any) -> Any:
    """Enums as sets: the order of their values says nothing."""
    if isinstance(kind, dict):
        return {name: unordered(inner) for name, inner in kind.items()}
    if isinstance(kind, list):
        return set(kind) if all(isinstance(one, str) for one in kind) and kind != ["string"] else [unordered(one) for one in kind]
    return "string" if kind == "date" else kind


@every_row("name", protocol()["events"])
def test_an_event_has_exactly_its_fields(name: str) -> None:
    ours = members(EVENTS[name])
    payload = {field: kind for field, kind in ours.items() if field.rstrip("?") not in {"seq", "sessionId", "timestamp", "_meta"}}
    assert payload == unordered(resolve(protocol()["events"][name]))
    assert list(payload) == list(protocol()["events"][name])


@every_row("name", protocol()["events"])
def test_an_event_has_the_envelope_and_room_for_meta(name: str) -> None:
    ours = members(EVENTS[name])
    envelope = [field.rstrip("?") for field in ours][:4]
    assert envelope == ["seq", "sessionId", "timestamp", "_meta"]


def test_the_envelope_is_the_protocols() -> None:
    assert list(protocol()["envelope"]) == ["seq", "sessionId", "timestamp", "type"]
    assert EVENTS["custom"].__struct_config__.tag_field == "type"


@every_row("name", protocol()["commands"])
def test_a_command_has_exactly_its_fields(name: str) -> None:
    ours = members(COMMANDS[name])
    assert ours.pop("_meta?")  # ours: what the protocol has no field for
    assert ours == unordered(resolve(protocol()["commands"][name]))
    assert COMMANDS[name].__struct_config__.tag_field == protocol()["commandDiscriminator"]


def owned(name: str) -> Any:
    """A type by its name, from the module that owns it."""
    return next(getattr(module, name) for module in (types, unions, capabilities, commands) if hasattr(module, name))


@every_row("name", protocol()["types"])
def test_a_named_type_has_exactly_its_fields(name: str) -> None:
    ours = owned(RENAMED.get(name, name))
    expected = unordered(resolve(protocol()["types"][name]))
    found = {field: kind for field, kind in members(ours).items() if field != "_meta?"}  # ours, as in a command
    assert found == expected
    assert list(found) == list(expected)


@every_row("name", protocol()["unions"])
def test_a_union_has_exactly_its_variants(name: str) -> None:
    variants = get_args(owned(name))
    assert {kind.__struct_config__.tag_field for kind in variants} == {protocol()["unions"][name]["by"]}
    ours = {kind.__struct_config__.tag: members(kind) for kind in variants}
    assert ours == unordered(resolve(protocol()["unions"][name]["variants"]))


@every_row("name", protocol()["enums"])
def test_an_enum_has_exactly_its_values(name: str) -> None:
    assert list(get_args(owned(name))) == protocol()["enums"][name]


def test_there_are_no_events_or_commands_besides() -> None:
    assert list(EVENTS) == list(protocol()["events"]) and len(EVENTS) == 37
    assert set(COMMANDS) == set(protocol()["commands"]) and len(COMMANDS) == 9


def test_the_versions_are_the_protocols() -> None:
    constants = protocol()["constants"]
    assert constants == {"ACP_VERSION": ACP_VERSION, "ACP_MIN_VERSION": ACP_MIN_VERSION}


def test_all_names_are_exported_once() -> None:
    assert len(context.__all__) == len(set(context.__all__))
    assert all(hasattr(context, name) for name in context.__all__)
