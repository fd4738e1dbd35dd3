"""The published types of the Agent Context Protocol: fresh, complete, and the JSON Schema takes what the protocol allows."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema
import pytest

from scripts.reference import FILES, REFERENCE
from tests.dialects.context.protocol import protocol, resolve, sample
from tests.spec import seeds
from tests.tooling.oracles import Oracle
from tests.tooling.rows import every_row
from trunkline.dialects.context.commands import COMMANDS
from trunkline.dialects.context.events import EVENTS

SCHEMA: dict[str, Any] = json.loads((REFERENCE / "agent-context.schema.json").read_text(encoding="utf-8"))
TYPESCRIPT = (REFERENCE / "agent-context.ts").read_text(encoding="utf-8")
ENVELOPE = {"seq": 7, "sessionId": "s-1", "timestamp": "2026-01-22T19:13:30.917Z"}


@cache
def oracle_of(name: str) -> Oracle:
    """The published schema of the named type."""
    return Oracle({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def takes(name: str, value: object) -> bool:
    """Whether a value is of the named type, as the published schema says."""
    return oracle_of(name).accepts(value)


def event(name: str, *, optional: bool) -> dict[str, Any]:
    return {**ENVELOPE, "type": name, **sample(resolve(protocol()["events"][name]), optional=optional)}


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_fresh(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == FILES[name](), "run: make docs"


def test_the_schema_is_one_and_all_its_references_lead_somewhere() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    targets = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert targets <= set(SCHEMA["$defs"]) and len(targets) > 70


@every_row("optional", [True, False])
@every_row("name", protocol()["events"])
def test_the_schema_takes_an_event_of_every_type(name: str, optional: bool) -> None:
    whole = event(name, optional=optional)
    assert takes("ACPEvent", whole) and takes("ACPEvent", whole | {"_meta": {"by": "phone"}})
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(whole), "the schema itself is that of an event"


@every_row("name", protocol()["events"])
def test_the_schema_refuses_an_event_that_lacks_a_field_or_has_null_for_one(name: str) -> None:
    whole = event(name, optional=True)
    for field in event(name, optional=False):
        assert not takes("ACPEvent", {key: value for key, value in whole.items() if key != field}), field
    for field in whole:
        assert not takes("ACPEvent", whole | {field: None}), field


@every_row("name", protocol()["commands"])
def test_the_schema_takes_every_command_bare_and_in_its_envelope(name: str) -> None:
    command = {"command": name, **sample(resolve(protocol()["commands"][name]), optional=True)}
    assert takes("ACPCommand", command)
    assert takes("CommandEnvelope", {"id": "c-1", "command": command})
    assert not takes("ACPCommand", command | {"command": "fly"})


@every_row("name", [*protocol()["types"], *protocol()["unions"], *protocol()["enums"]])
def test_the_schema_has_every_named_type(name: str) -> None:
    kind = resolve(name)
    assert takes(name, sample(kind, optional=True)) and takes(name, sample(kind, optional=False))
    assert not takes(name, 7)


def written(name: str) -> dict[str, seeds.Field]:
    return seeds.interfaces(TYPESCRIPT)[name]


@every_row("name", protocol()["events"])
def test_the_typescript_of_an_event_has_exactly_its_fields(name: str) -> None:
    fields = written(EVENTS[name].__name__)
    marked = [field.name + ("?" if field.optional else "") for field in fields.values()]
    assert marked == ["type", "seq", "sessionId", "timestamp", "_meta?", *protocol()["events"][name]]
    assert fields["type"].type == f"'{name}'"


@every_row("name", protocol()["commands"])
def test_the_typescript_of_a_command_has_exactly_its_fields(name: str) -> None:
    fields = written(COMMANDS[name].__name__)
    marked = [field.name + ("?" if field.optional else "") for field in fields.values()]
    assert marked == ["command", "_meta?", *protocol()["commands"][name]]


def test_the_typescript_names_every_type_once_and_uses_only_names_it_has() -> None:
    declared = re.findall(r"^export (?:interface|type) (\w+)", TYPESCRIPT, re.M)
    assert len(declared) == len(set(declared))
    ours = {"ACPEvent", "ACPEventBase", "ACPEventByPrefix", "ACPCommand"}
    assert ours | protocol()["types"].keys() | protocol()["unions"].keys() | protocol()["enums"].keys() <= set(declared)
    known = {"string", "number", "boolean", "null", "unknown", "Record", *declared}
    used = {word for field in fields_of_all() for word in re.findall(r"\b\w+\b", re.sub(r"'[^']*'", "", field))}
    assert used - known == set()


def fields_of_all() -> list[str]:
    return [field.type for fields in seeds.interfaces(TYPESCRIPT).values() for field in fields.values()]


@pytest.mark.parametrize("name", protocol()["enums"])
def test_the_typescript_of_an_enum_has_exactly_its_values(name: str) -> None:
    (choice,) = re.findall(rf"^export type {name} = (.*);$", TYPESCRIPT, re.M)
    assert re.findall(r"'([^']*)'", choice) == protocol()["enums"][name]
