"""Our types against the schema: the same members, the same requirements, the same parsing policy, field by field."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from tests.dialects.acp.schema import DEFINITIONS, definition_of, shapes
from tests.tooling.rows import every_row
from trunkline.dialects.acp import methods
from trunkline.dialects.acp.content import ContentBlock, ResourceContents, Role
from trunkline.dialects.acp.elicitation import (
    CancelledElicitation,
    CreateElicitationRequest,
    CreateElicitationResponse,
    DeclinedElicitation,
    FormElicitation,
    MultiSelectItems,
    UrlElicitation,
)
from trunkline.dialects.acp.initialize import SessionCapabilities
from trunkline.dialects.acp.options import SessionConfigBoolean, SessionConfigSelect, SessionConfigSelectEntry
from trunkline.dialects.acp.permission import CancelledOutcome, PermissionOptionKind
from trunkline.dialects.acp.sessions import SetSessionConfigOptionRequest
from trunkline.dialects.acp.tools import ToolCallContent, ToolCallStatus, ToolKind
from trunkline.dialects.acp.updates import PlanEntryPriority, PlanEntryStatus, SessionUpdate
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.signals import StopReason

ALL = shapes()

SCOPES = ("ElicitationSessionScope", "ElicitationRequestScope")

COMPOSED = {
    SessionConfigSelect: ("SessionConfigOption", "SessionConfigSelect"),
    SessionConfigBoolean: ("SessionConfigOption", "SessionConfigBoolean"),
    FormElicitation: ("CreateElicitationRequest", "ElicitationFormMode", *SCOPES),
    UrlElicitation: ("CreateElicitationRequest", "ElicitationUrlMode", *SCOPES),
    ResourceContents: ("TextResourceContents", "BlobResourceContents"),
    SessionConfigSelectEntry: ("SessionConfigSelectOption", "SessionConfigSelectGroup"),
    MultiSelectItems: ("StringMultiSelectItems", "TitledMultiSelectItems"),
    SetSessionConfigOptionRequest: ("SetSessionConfigOptionRequest",),
}
"""Types that the schema puts together from several definitions."""

OF_OUR_OWN = {CancelledOutcome, DeclinedElicitation, CancelledElicitation}
"""Types without members of their own in the stable schema."""

EXTRA = {
    (MultiSelectItems, "type"),
    (SetSessionConfigOptionRequest, "type"),
    (SetSessionConfigOptionRequest, "value"),
}
"""Members that the schema has elsewhere, in a branch of a union."""

UNSTABLE = {(SessionCapabilities, "fork")}
"""Members that only the unstable schema has."""

PLAIN = [kind for kind in ALL if kind not in OF_OUR_OWN and kind not in COMPOSED]


def properties(kind: Any) -> dict[str, Any]:
    parts = [DEFINITIONS[name] for name in COMPOSED.get(kind, (definition_of(kind),))]
    return {name: value for part in parts for name, value in part.get("properties", {}).items()}


def members(kind: Any) -> dict[str, msgspec.structs.FieldInfo]:
    left_out = EXTRA | UNSTABLE
    return {field.encode_name: field for field in msgspec.structs.fields(kind) if (kind, field.encode_name) not in left_out}


def marks(annotation: Any) -> set[str]:
    found = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
    return {name for mark in found for name in (mark.extra or {})}


def takes_null(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return takes_null(get_args(annotation)[0])
    kinds = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return msgspec.Raw in kinds or type(None) in kinds


def schema_takes_null(prop: dict[str, Any]) -> bool:
    if "type" in prop:
        return "null" in prop["type"]
    branches = prop.get("anyOf") or prop.get("oneOf") or prop.get("allOf")
    return branches is None or any(branch.get("type") == "null" for branch in branches)


def test_every_type_is_compared_with_a_definition() -> None:
    assert len(ALL) > 100
    for kind in PLAIN:
        assert definition_of(kind) in DEFINITIONS, kind


@every_row("kind", [kind for kind in ALL if kind not in OF_OUR_OWN])
def test_a_type_has_the_members_of_its_definition(kind: Any) -> None:
    tag = kind.__struct_config__.tag_field
    in_schema = set(properties(kind)) - {tag}
    assert set(members(kind)) - {"_meta"} == in_schema - {"_meta"}


@every_row("kind", PLAIN)
def test_a_type_requires_what_its_definition_requires(kind: Any) -> None:
    required = {name for name, field in members(kind).items() if field.required}
    assert required == set(DEFINITIONS[definition_of(kind)].get("required", []))


@every_row("kind", PLAIN)
def test_a_type_forgives_what_its_definition_forgives(kind: Any) -> None:
    props = properties(kind)
    for name, field in members(kind).items():
        policy = props.get(name, {"x-deserialize-default-on-error": True})
        found = marks(field.type)
        assert ("skip_invalid_items" in found) == policy.get("x-deserialize-skip-invalid-items", False), name
        if not field.required:
            assert ("strict" not in found) == policy.get("x-deserialize-default-on-error", False), name


@every_row("kind", PLAIN)
def test_null_is_taken_wherever_the_definition_takes_it(kind: Any) -> None:
    for name, prop in properties(kind).items():
        field = members(kind).get(name)
        if field is not None and not field.required and schema_takes_null(prop):
            assert takes_null(field.type), name


def test_every_stable_method_is_in_the_table_on_its_side_with_its_types() -> None:
    in_schema: dict[str, set[tuple[str, str]]] = {}
    for name, definition in DEFINITIONS.items():
        if "x-method" in definition:
            in_schema.setdefault(definition["x-method"], set()).add((definition["x-side"], name))
    assert set(methods.METHODS) == set(in_schema)
    for name, method in methods.METHODS.items():
        side = "protocol" if method.side == "both" else method.side
        expected = {definition for where, definition in in_schema[name] if where == side}
        ours = {_name(method.params)} | ({_name(method.result)} if method.result is not None else set())
        assert ours == expected, name


def _name(kind: Any) -> str:
    named = {CreateElicitationRequest: "CreateElicitationRequest", CreateElicitationResponse: "CreateElicitationResponse"}
    return named.get(kind) or str(kind.__name__)


def test_there_are_fourteen_updates_and_five_content_blocks() -> None:
    def tags(definition: str, field: str) -> set[str]:
        return {branch["properties"][field]["const"] for branch in DEFINITIONS[definition]["oneOf"]}

    assert {kind.__struct_config__.tag for kind in get_args(SessionUpdate)} == tags("SessionUpdate", "sessionUpdate")
    assert len(get_args(SessionUpdate)) == 14
    assert {kind.__struct_config__.tag for kind in get_args(ContentBlock)} == tags("ContentBlock", "type")
    assert {kind.__struct_config__.tag for kind in get_args(ToolCallContent)} == tags("ToolCallContent", "type")


@every_row(
    ("literal", "definition"),
    [
        (ToolKind, "ToolKind"),
        (ToolCallStatus, "ToolCallStatus"),
        (StopReason, "StopReason"),
        (PermissionOptionKind, "PermissionOptionKind"),
        (PlanEntryPriority, "PlanEntryPriority"),
        (PlanEntryStatus, "PlanEntryStatus"),
        (Role, "Role"),
    ],
)
def test_a_closed_list_of_values_is_the_schemas(literal: Any, definition: str) -> None:
    assert set(get_args(literal)) == {branch["const"] for branch in DEFINITIONS[definition]["oneOf"]}


def test_the_error_codes_are_the_schemas() -> None:
    branches = DEFINITIONS["ErrorCode"]["anyOf"]
    assert {int(code) for code in ErrorCode} == {branch["const"] for branch in branches if "const" in branch}

