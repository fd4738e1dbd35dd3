"""Seed 002, the Agent Context Protocol: its events, commands, capabilities and types, held against ``dialects.context``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from tests.dialects.context import protocol as fields
from tests.spec import seeds, typescript
from tests.spec.shapes import AT
from trunkline.dialects.context import ACPCapabilities, ACPCommand, ACPEvent, ACPEventBase, ACPEventByPrefix
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.commands import COMMANDS, decode_command, encode_command
from trunkline.dialects.context.contract import ACPAdapter, ACPSession
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.context.envelope import UnknownEvent, decode_event, encode_event, iso_ms
from trunkline.dialects.context.events import (
    EVENTS,
    CustomEvent,
    EventBase,
    event_types,
)
from trunkline.dialects.context.factory import create_event, reset_all_sequences
from trunkline.dialects.context.types import (
    ChangeType,
    IntegrationMethod,
    Resolver,
    RiskLevel,
    SessionStatus,
    TodoStatus,
    ToolCategory,
)
from trunkline.dialects.context.unions import ApprovalPreview, MessageContent, ToolStructuredOutput
from trunkline.dialects.context.versions import ACP_MIN_VERSION, ACP_VERSION, negotiate_version

CONCEPTS = "002/core-concepts"
REFERENCE = "002/event-reference"


def whole_event(name: str) -> dict[str, Any]:
    """An event of a type with all its fields."""
    payload = fields.sample(fields.resolve(fields.protocol()["events"][name]), optional=True)
    return {"seq": 1, "sessionId": "s-1", "timestamp": iso_ms(AT), "type": name, **payload}


def through(value: dict[str, Any]) -> dict[str, Any]:
    """An event after a trip through our types."""
    event = decode_event(json.dumps(value).encode())
    assert isinstance(event, EventBase), event
    again = json.loads(encode_event(value["seq"], value["sessionId"], AT, event))
    assert isinstance(again, dict)
    return again


def test_what_is_not_of_its_type_does_not_pass_for_an_event() -> None:
    assert "type-safe" in (seeds.FOLDER / "002_context.md").read_text(encoding="utf-8").splitlines()[2]
    for name in EVENTS:
        for field in whole_event(name).keys() - {"seq", "sessionId", "timestamp", "type"}:
            wrong = decode_event(json.dumps(whole_event(name) | {field: [[]]}).encode())
            assert isinstance(wrong, UnknownEvent), f"{name}.{field}"


def test_the_package_loads_nothing_but_the_standard_library_and_msgspec() -> None:
    code = "import sys, trunkline.dialects.context.exports; print(*{name.partition('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
                         capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    loaded = {name for name in ran.stdout.split() if not name.startswith("_")}
    by_msgspec = {"typing_extensions"}  # it takes it where it is there
    assert loaded - sys.stdlib_module_names - by_msgspec == {"trunkline", "msgspec"}


def test_the_package_offers_what_the_overview_lists() -> None:
    text = (seeds.FOLDER / "002_context.md").read_text(encoding="utf-8")
    offered = {"Events": EVENTS, "Commands": COMMANDS, "Capabilities": Capabilities,
               "Helpers": describe_tool_call}
    assert re.findall(r"^- \*\*(\w+)\*\*", text, re.M) == list(offered)
    assert len(EVENTS) > int(re.findall(r"stream of (\d+)\+ typed events", text)[0])


def test_events_flow_one_way_commands_the_other_and_capabilities_beside_them() -> None:
    picture = seeds.code("002/overview/architecture/code:1")
    assert re.findall(r"ACP[A-Z]\w+", picture) == ["ACPEvent", "ACPCommand", "ACPCapabilities"]
    out = get_type_hints(ACPSession.on_event)["callback"]
    assert set(get_args(get_args(out)[0][0])) == {*get_args(ACPEvent), UnknownEvent}
    assert get_type_hints(ACPSession.execute)["command"] == ACPCommand
    assert get_type_hints(ACPAdapter.get_capabilities)["return"] == ACPCapabilities


def test_the_version_is_the_seeds() -> None:
    block = seeds.code(f"{CONCEPTS}/protocol-version/code:1")
    stated = dict(re.findall(r"// (ACP_\w+) = '([\d.]+)'", block))
    assert stated == {"ACP_VERSION": ACP_VERSION, "ACP_MIN_VERSION": ACP_MIN_VERSION}
    assert negotiate_version([stated["ACP_VERSION"]]) == stated["ACP_VERSION"]


def test_every_event_extends_the_base_and_is_numbered_by_itself() -> None:
    reset_all_sequences()
    for number, (name, kind) in enumerate(EVENTS.items(), 1):
        assert issubclass(kind, ACPEventBase)
        assert create_event("s-1", {"type": name}, AT)["seq"] == number


def test_the_envelope_is_that_of_the_base_interface() -> None:
    base = typescript.members(typescript.body_of(seeds.code(f"{CONCEPTS}/events/code:1"), "ACPEventBase"))
    for name in EVENTS:
        sent = through(whole_event(name))
        assert list(sent)[: len(base)] == list(base)
        assert [type(sent[field]) for field in base] == [int, str, str]


def test_events_are_told_by_type_and_filtered_by_prefix_as_the_handler_does() -> None:
    block = seeds.code(f"{CONCEPTS}/events/code:2")
    (prefix,) = re.findall(r"ACPEventByPrefix<'(.*?)'>", block)
    of_prefix = {str(kind.__struct_config__.tag) for kind in get_args(ACPEventByPrefix[prefix])}
    assert of_prefix == set(event_types(prefix)) == {name for name in EVENTS if name.startswith(prefix)}
    for name, read in re.findall(r"case '(.*?)':\s+console.log\((.*?)\);", block):
        for field in re.findall(r"event\.(\w+)", read):
            assert field in through(whole_event(name))


def test_a_command_names_itself_by_command_and_reaches_us_typed() -> None:
    for name, kind in COMMANDS.items():
        payload = fields.sample(fields.resolve(fields.protocol()["commands"][name]), optional=True)
        assert isinstance(decode_command(json.dumps({"command": name, **payload}).encode()), kind)


def test_every_command_of_the_example_is_read_and_written_as_it_stands() -> None:
    sent = typescript.assigned(seeds.code(f"{CONCEPTS}/commands/code:1"))
    assert {command["command"] for command in sent} == set(COMMANDS)
    for command in sent:
        read = decode_command(json.dumps(command).encode())
        assert json.loads(encode_command(read)) == command


def test_every_capability_has_to_be_declared() -> None:
    declared = typescript.assigned(seeds.code(f"{CONCEPTS}/capabilities/code:1"))
    for feature in declared["features"]:
        without = declared | {"features": {key: on for key, on in declared["features"].items() if key != feature}}
        with pytest.raises(msgspec.ValidationError, match=feature):
            msgspec.convert(without, ACPCapabilities)


def test_the_capabilities_of_the_example_are_read_and_written_as_they_stand() -> None:
    block = seeds.code(f"{CONCEPTS}/capabilities/code:1")
    declared = typescript.assigned(block)
    assert json.loads(msgspec.json.encode(msgspec.convert(declared, ACPCapabilities))) == declared
    (methods,) = re.findall(r"integrationMethod: .*// (.*)", block)
    assert tuple(re.findall(r"'([\w-]+)'", methods)) == get_args(IntegrationMethod)


PROMISED: dict[str, list[str]] = {
    "session:started": ["projectPath", "projectName", "workingDirectory"],
    "session:resumed": ["previousSessionId"],
    "session:paused": ["reason"],
    "session:completed": ["summary.filesChanged", "summary.tokenUsage", "summary.cost"],
    "session:error": ["error.code"],
    "session:status_changed": ["from", "to"],
    "message:start": ["role", "messageId"],
    "message:delta": ["delta"],
    "message:complete": ["content"],
    "thinking:start": ["messageId"],
    "thinking:delta": ["delta"],
    "thinking:complete": ["content", "redacted"],
    "tool:start": ["category", "description"],
    "tool:args_delta": ["delta"],
    "tool:executing": ["riskLevel", "requiresApproval"],
    "tool:result": ["output", "duration"],
    "tool:error": ["error.message", "error.details"],
    "approval:requested": ["toolCallId", "preview"],
    "approval:resolved": ["resolvedBy"],
    "file:change": ["changeType", "diff"],
    "file:batch": ["changes"],
    "subagent:spawned": ["task", "parentToolCallId"],
    "subagent:progress": ["progress"],
    "subagent:completed": ["result"],
    "progress:todo_update": ["todos"],
    "progress:plan_mode": ["active"],
    "progress:update": ["label", "percentage"],
    "resource:token_usage": ["delta.cacheReadTokens", "cumulative.cacheWriteTokens"],
    "resource:cost": ["delta.total", "cumulative.total"],
    "resource:context_window": ["percentage"],
    "resource:rate_limit": ["retryAfter"],
    "environment:info": ["context.agent", "context.model", "context.project", "context.runtime"],
    "interaction:question": ["question", "options"],
    "interaction:notification": ["level"],
    "git:operation": ["operation.kind"],
    "web:operation": ["operation.kind"],
}
"""What a row's words promise of its event, as fields of it."""

NAMED: dict[str, tuple[str, ...]] = {
    "approval:resolved": get_args(Resolver),
    "file:change": get_args(ChangeType),
    "progress:todo_update": get_args(TodoStatus),
    "interaction:notification": ("info", "warning", "error", "success"),
    "git:operation": ("commit", "branch", "push", "pr", "stash"),
    "web:operation": ("search", "fetch"),
}
"""The values that a row spells out, and how ours are called."""


def event_rows() -> dict[str, seeds.Item]:
    return {item.id.rpartition("row:")[2]: item for item in seeds.seed("002").values() if "/row:" in item.id}


@pytest.mark.parametrize("row", [seeds.slug(name) for name in PROMISED])
def test_an_event_of_the_reference_has_what_its_row_promises(row: str) -> None:
    name, description = (cell.strip("`") for cell in event_rows()[row].cells)
    sent = through(whole_event(name))
    for path in PROMISED[name]:
        value: Any = sent
        for step in path.split("."):
            assert step in value, f"{name} has no {path}"
            value = value[step]
    for word in NAMED.get(name, ()):
        assert word in description.lower(), f"{name} knows {word}, the row does not"


def test_the_statuses_are_the_seeds() -> None:
    assert stated("Session statuses") == get_args(SessionStatus)


def stated(label: str) -> tuple[str, ...]:
    """The values behind a bold label of the seed."""
    text = (seeds.FOLDER / "002_context.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^\*\*{label}:\*\* (.*)$", text, re.M)
    return tuple(re.findall(r"`(\w+)`", line))


def test_tool_categories_and_risk_levels_are_the_seeds() -> None:
    assert stated("Tool categories") == get_args(ToolCategory)
    assert stated("Risk levels") == get_args(RiskLevel)


def same_variants(code: str, name: str, union: Any) -> None:
    """Assert that a union of ours takes exactly what the seed's takes: same fields, same optional ones, nothing lost."""
    ours = {str(kind.__struct_config__.tag): kind for kind in get_args(union)}
    theirs = {typescript.sample(variant["type"].type): variant for variant in typescript.variants(code, name)}
    assert list(ours) == list(theirs)
    for tag, variant in theirs.items():
        known = {field.encode_name: field.required for field in msgspec.structs.fields(ours[tag])}
        assert known == {field.name: not field.optional for field in variant.values() if field.name != "type"}
        for optional in (True, False):
            value = typescript.example(variant, optional=optional)
            assert json.loads(msgspec.json.encode(msgspec.json.decode(json.dumps(value), type=union))) == value


def test_a_message_is_an_array_of_typed_blocks() -> None:
    variants = typescript.variants(seeds.code(f"{REFERENCE}/message-streaming/code:1"), "MessageContent")
    blocks = [typescript.example(variant) for variant in variants]
    assert through(whole_event("message:complete") | {"content": blocks})["content"] == blocks


def test_message_content_is_the_seeds_union() -> None:
    same_variants(seeds.code(f"{REFERENCE}/message-streaming/code:1"), "MessageContent", MessageContent)


def test_structured_output_is_the_seeds_union() -> None:
    same_variants(seeds.code(f"{REFERENCE}/tool-execution/code:1"), "ToolStructuredOutput", ToolStructuredOutput)


def test_an_approval_shows_what_would_be_done() -> None:
    previews = typescript.variants(seeds.code(f"{REFERENCE}/approval-flow/code:1"), "ApprovalPreview")
    for preview in map(typescript.example, previews):
        assert through(whole_event("approval:requested") | {"preview": preview})["preview"] == preview


def test_an_approval_preview_is_the_seeds_union() -> None:
    same_variants(seeds.code(f"{REFERENCE}/approval-flow/code:1"), "ApprovalPreview", ApprovalPreview)


def test_an_extension_travels_whole() -> None:
    data = {"spans": [{"ms": 1.5}], "nested": {"null": None}, "text": "ünï"}
    sent = through(whole_event("custom") | {"namespace": "mycompany:analytics", "eventName": "flushed", "data": data})
    assert (sent["namespace"], sent["eventName"], sent["data"]) == ("mycompany:analytics", "flushed", data)


def test_a_custom_event_fits_its_interface() -> None:
    code = seeds.code(f"{REFERENCE}/custom-events/code:1")
    assert "extends ACPEventBase" in code
    value = typescript.example(typescript.members(typescript.body_of(code, "CustomEvent")))
    assert {key: got for key, got in through(whole_event("custom") | value).items() if key in value} == value
    own = {field.encode_name for field in msgspec.structs.fields(CustomEvent)}
    assert own - {"seq", "sessionId", "timestamp", "_meta"} | {"type"} == set(value)
