"""Small helpers around the types: objects for fields that must be objects, categories of tools, capabilities."""

from __future__ import annotations

import json

import msgspec
import pytest
from msgspec import Raw

from tests.tooling.rows import every_row
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.events import CustomEvent
from trunkline.dialects.context.types import StartSessionOptions, as_object, to_raw

CAPABILITIES = {
    "protocolVersion": "1.0.0",
    "agent": {"name": "a", "displayName": "An Agent", "icon": "🟠", "version": "1.0.0", "integrationMethod": "sdk"},
    "features": {
        "streaming": {"messages": True, "toolArgs": False, "thinking": True},
        "approval": {"toolCalls": True, "preview": True},
        "sessionControl": {"pause": False, "resume": True, "cancel": True},
        "subAgents": True,
        "planning": {"todos": True, "planMode": True},
        "resources": {"tokenUsage": True, "costTracking": False, "contextWindow": False},
        "fileOperations": {"diffs": True, "batchedChanges": False},
        "git": True,
        "webSearch": True,
        "multimodal": True,
        "userInteraction": {"questions": True, "notifications": False},
        "thinking": True,
        "customEvents": [],
    },
}


def test_the_documented_capabilities_read_and_write_the_same() -> None:
    assert json.loads(msgspec.json.encode(msgspec.convert(CAPABILITIES, Capabilities))) == CAPABILITIES


def test_capabilities_need_every_member() -> None:
    features = {name: value for name, value in CAPABILITIES["features"].items() if name != "git"}  # type: ignore[attr-defined]  # a dict
    with pytest.raises(msgspec.ValidationError, match="git"):
        msgspec.convert(CAPABILITIES | {"features": features}, Capabilities)


@every_row(
    ("value", "wire"),
    [
        (None, b"{}"),
        (b"", b"{}"),
        (b'{"a": 1}', b'{"a": 1}'),
        (b' {"a":1}\n', b'{"a":1}'),
        (Raw(b'{"a":1}'), b'{"a":1}'),
        (b'"ls -la"', b'{"value":"ls -la"}'),
        (b"[1,2]", b'{"value":[1,2]}'),
        (Raw(b"null"), b'{"value":null}'),
    ],
)
def test_anything_becomes_an_object_where_one_is_needed(value: bytes | Raw | None, wire: bytes) -> None:
    assert bytes(as_object(value)) == wire
    assert CustomEvent(namespace="n", event_name="e", data=as_object(value))


@pytest.mark.parametrize("value", [b"[1]", b'"x"', b"3", b""])
def test_an_event_refuses_what_is_no_object(value: bytes) -> None:
    with pytest.raises(ValueError, match="object"):
        CustomEvent(namespace="n", event_name="e", data=Raw(value))


def test_start_options_refuse_what_is_no_object() -> None:
    assert StartSessionOptions(project_path="/p", prompt="hi", agent_options=Raw(b"{}"))
    with pytest.raises(ValueError, match="object"):
        StartSessionOptions(project_path="/p", prompt="hi", agent_options=Raw(b"1"))


def test_a_value_becomes_raw_json() -> None:
    assert bytes(to_raw({"a": [1, None]})) == b'{"a":[1,null]}'
