"""The JSON Schema of an entry says what the catalog takes: all that we ship, and nothing that is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.tooling.rows import every_row
from trunkline.agents import catalog
from trunkline.agents.catalog import spec_from_table
from trunkline.agents.catalog.entry import AgentEntry, schema
from trunkline.errors import Invalid

FILES = sorted(Path(catalog.__file__).parent.glob("*.toml"))


def is_valid(table: dict[str, Any]) -> bool:
    jsonschema.Draft202012Validator.check_schema(schema())
    return bool(jsonschema.Draft202012Validator(schema()).is_valid(table))


@every_row("file", FILES)
def test_every_file_that_we_ship_obeys_the_schema(file: Path) -> None:
    jsonschema.Draft202012Validator(schema()).validate(tomllib.loads(file.read_text(encoding="utf-8")))


@every_row("table", [
    {}, {"command": []}, {"command": [""]}, {"command": "mine --acp"}, {"command": ["mine"], "comand": []},
    {"command": ["mine"], "features": ["flies"]}, {"command": ["mine"], "login": {"where": "here"}},
    {"command": ["mine"], "resources": {"memory_mb": 1}}, {"command": ["mine"], "resources": {"wheels": 4}},
    {"command": ["mine"], "env": {"A": 1}}, {"command": ["mine"], "driver": "telepathy"},
    {"command": ["mine"], "tools": {"x": "y"}},
])
def test_what_the_schema_refuses_the_catalog_refuses_too(table: dict[str, Any]) -> None:
    assert not is_valid(table)
    with pytest.raises(Invalid):
        spec_from_table("mine", table)


def test_an_entry_with_only_a_command_obeys_it_with_empty_words_behind_the_program() -> None:
    assert is_valid({"command": ["mine", ""]})
    assert spec_from_table("mine", {"command": ["mine", ""]}).command == ("mine", "")


def test_every_key_says_what_it_means() -> None:
    whole = schema()
    keys = [key for part in (whole, *whole["$defs"].values()) for key in part["properties"].items()]
    assert {name for name, key in keys if "description" not in key and "$ref" not in key} <= {"name", "command"}, "a daemon's own"
    assert [*whole["properties"]] == [*AgentEntry.__struct_fields__]
