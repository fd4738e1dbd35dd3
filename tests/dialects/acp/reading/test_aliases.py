"""Names in circulation and the right ones, row by row: what is wrong by the schema is read as it was meant.

Two tables. WRONG_NAMES: names that circulate for parts of the protocol. SEEDS: where the documents that Trunkline was
specified by differ from the schema. Each case is (what comes, what it is in the schema's form); every form that we give
is checked against the schema.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.acp.schema import faults
from tests.tooling.rows import every_row
from trunkline.dialects.acp.client import RequestPermissionResponse
from trunkline.dialects.acp.initialize import (
    ClientCapabilities,
    FileSystemCapabilities,
)
from trunkline.dialects.acp.methods import METHODS
from trunkline.dialects.acp.permission import PermissionOption, SelectedOutcome, choose_option
from trunkline.dialects.acp.reading import aliases
from trunkline.dialects.acp.reading.aliases import CLIENT_METHODS, canonical_method, with_aliases
from trunkline.dialects.acp.reading.decode import decode_params, decode_result, decode_update, normalise_update, read_update
from trunkline.dialects.acp.sessions import PromptResponse
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import UnknownUpdate
from trunkline.dialects.jsonrpc import Peer, Request

TEXT = {"type": "text", "text": "hi"}
SHOWN = {"type": "content", "content": TEXT}


def normalised(update: dict[str, Any]) -> Any:
    raw = json.dumps(update).encode()
    return json.loads(normalise_update(raw))


def call(**members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", **members}


def progress(**members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", **members}


def said(block: dict[str, Any]) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": block}


def plan(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"sessionUpdate": "plan", "entries": list(entries)}


STEP = {"content": "do it", "priority": "medium", "status": "pending"}
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}

# -- wrong names in circulation ----------------------------------------------------------------------------------------

WRONG_NAMES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mediaType of an image": (said({"type": "image", "data": "AA==", "mediaType": "image/png"}), said(IMAGE)),
    "mediaType of a sound": (
        said({"type": "audio", "data": "AA==", "mediaType": "audio/wav"}),
        said({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
    ),
    "kind write": (call(kind="write"), call(kind="edit")),
    "kind create": (call(kind="create"), call(kind="edit")),
    "kind command": (call(kind="command"), call(kind="execute")),
    "kind bash": (progress(kind="bash"), progress(kind="execute")),
    "kind file, which may be anything": (call(kind="file"), call(kind="other")),
    "kind file of a tool that reads": (call(kind="file", name="Read"), call(kind="read", name="Read")),
    "kind file of a tool that does not": (call(kind="file", name="Truncate"), call(kind="other", name="Truncate")),
    "a kind nobody knows": (call(kind="frobnicate"), call(kind="other")),
    "a kind nobody knows, later": (progress(kind="frobnicate"), progress()),
    "call id": ({"sessionUpdate": "tool_call", "id": "c", "title": "t"}, call()),
    "call id of an update": ({"sessionUpdate": "tool_call_update", "id": "c", "status": "failed"}, progress(status="failed")),
    "call name without title": (
        {"sessionUpdate": "tool_call", "toolCallId": "c", "name": "Read"},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "name": "Read", "title": "Read"},
    ),
    "call input and output": (call(input={"a": 1}, output="x"), call(rawInput={"a": 1}, rawOutput="x")),
    "call args": (progress(args=["a"]), progress(rawInput=["a"])),
    "both names: the right one stands": (call(input=1, rawInput=2), call(rawInput=2)),
    "content type embedded_resource": (
        said({"type": "embedded_resource", "resource": {"uri": "file:///a", "text": "x"}}),
        said({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}),
    ),
    "content type embedded_resource, flat": (
        said({"type": "embedded_resource", "uri": "file:///a", "text": "x", "mediaType": "text/x-python"}),
        said({"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/x-python"}}),
    ),
    "content type link": (
        said({"type": "link", "uri": "file:///d/a.py"}),
        said({"type": "resource_link", "uri": "file:///d/a.py", "name": "a.py"}),
    ),
    "content type file": (
        said({"type": "file", "uri": "file:///d/a.py", "name": "A"}),
        said({"type": "resource_link", "uri": "file:///d/a.py", "name": "A"}),
    ),
    "content type file with its text": (
        said({"type": "file", "uri": "file:///a", "text": "x"}),
        said({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}),
    ),
    "status running": (progress(status="running"), progress(status="in_progress")),
    "status inProgress": (progress(status="inProgress"), progress(status="in_progress")),
    "status done": (progress(status="done"), progress(status="completed")),
    "status success": (progress(status="success"), progress(status="completed")),
    "status error": (call(status="error"), call(status="failed")),
    "status canceled": (progress(status="canceled"), progress(status="failed")),
    "type for sessionUpdate": ({"type": "agent_message_chunk", "content": TEXT}, said(TEXT)),
    "kind for sessionUpdate": ({"kind": "agent_message_chunk", "content": TEXT}, said(TEXT)),
    "kind for sessionUpdate of a call": (
        {"type": "tool_call", "toolCallId": "c", "title": "t", "kind": "edit"},
        call(kind="edit"),
    ),
    "modeId": (
        {"sessionUpdate": "current_mode_update", "modeId": "plan"},
        {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
    ),
    "diff old_content and new_content": (
        progress(content=[{"type": "diff", "path": "/a", "old_content": "x", "new_content": "y"}]),
        progress(content=[{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}]),
    ),
    "diff as a patch": (
        progress(content=[{"type": "diff", "path": "/a", "diff": "@@ -1 +1 @@"}]),
        progress(content=[{"type": "content", "content": {"type": "text", "text": "@@ -1 +1 @@"}}]),
    ),
    "inputTokens in usage_update": (
        {"sessionUpdate": "usage_update", "inputTokens": 1200, "outputTokens": 34, "size": 200000},
        {"sessionUpdate": "usage_update", "used": 1234, "size": 200000},
    ),
    "totalTokens in usage_update": (
        {"sessionUpdate": "usage_update", "inputTokens": 1, "totalTokens": 9, "contextWindow": 100},
        {"sessionUpdate": "usage_update", "used": 9, "size": 100},
    ),
    "snake case": (
        {"sessionUpdate": "tool_call", "tool_call_id": "c", "title": "t", "raw_input": {"a": 1}, "raw_output": None},
        call(rawInput={"a": 1}, rawOutput=None),
    ),
}

# -- the seeds ---------------------------------------------------------------------------------------------------------

START: dict[str, Any] = {
    "type": "tool_call_start", "timestamp": "2026-01-22T19:13:30.917345+00:00", "_meta": None, "content": None, "kind": "other",
    "locations": [], "rawInput": {}, "rawOutput": None, "status": "pending", "title": "write", "toolCallId": "c",
}

SEEDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "packet tool_call_start": (
        {**START, "sessionUpdate": "tool_call"},
        call(title="write", kind="other", status="pending", locations=[], rawInput={}, rawOutput=None),
    ),
    "packet tool_call_start by type alone": (
        START, call(title="write", kind="other", status="pending", locations=[], rawInput={}, rawOutput=None)),
    "packet tool_call_start without type": (
        {key: value for key, value in {**START, "sessionUpdate": "tool_call_start"}.items() if key not in ("type", "timestamp")},
        call(title="write", kind="other", status="pending", locations=[], rawInput={}, rawOutput=None),
    ),
    "packet tool_call_progress": (
        {"type": "tool_call_progress", "timestamp": "t", "toolCallId": "c", "status": "completed", "rawOutput": {"output": "x"}},
        progress(status="completed", rawOutput={"output": "x"}),
    ),
    "packet agent_plan_update": (
        {"type": "agent_plan_update", "timestamp": "t", "_meta": None, "entries": [{**STEP, "_meta": None}]},
        plan(STEP),
    ),
    "packet agent_message_chunk": (
        {"type": "agent_message_chunk", "timestamp": "t", "sessionUpdate": "agent_message_chunk", "_meta": None,
         "content": {**TEXT, "_meta": None, "annotations": None}},
        said(TEXT),
    ),
    "content null of a call": (call(content=None), call()),
    "kind task": (call(kind="task"), call(kind="think")),
    "002 image by data url": (
        said({"type": "image", "url": "data:image/jpeg;base64,AAEC"}),
        said({"type": "image", "data": "AAEC", "mimeType": "image/jpeg"}),
    ),
    "002 image by address": (
        said({"type": "image", "url": "https://example.org/p/cat.png", "mimeType": "image/png"}),
        said({"type": "resource_link", "uri": "https://example.org/p/cat.png", "name": "cat.png", "mimeType": "image/png"}),
    ),
    "002 todos as a plan": (plan({"content": "do it", "status": "pending"}), plan(STEP)),
    "001 failed call with its error": (
        {"type": "tool_call_progress", "toolCallId": "c", "status": "failed", "rawOutput": {"error": "hi"}},
        progress(status="failed", rawOutput={"error": "hi"}, content=[SHOWN]),
    ),
    "003 bare block as content of a call": (
        progress(status="completed", content=[TEXT]), progress(status="completed", content=[SHOWN])),
    "003 plan with ids and no priority": (plan({"id": "1", "content": "do it", "status": "pending"}), plan(STEP)),
    "003 image with mediaType": (said({"type": "image", "data": "AA==", "mediaType": "image/png"}), said(IMAGE)),
    "003 kind write": (call(kind="write", rawInput={"file_path": "/a"}), call(kind="edit", rawInput={"file_path": "/a"})),
    "003 kind command": (call(kind="command"), call(kind="execute")),
    "004 call": (
        {"sessionUpdate": "tool_call", "id": "c", "name": "Read", "status": "pending", "kind": "file",
         "locations": [{"path": "/a"}]},
        call(title="Read", name="Read", status="pending", kind="read", locations=[{"path": "/a"}]),
    ),
    "004 file with a diff": (
        {"sessionUpdate": "tool_call", "id": "c", "name": "Edit", "status": "pending", "kind": "file",
         "content": [{"type": "diff", "path": "/a", "newText": "x"}]},
        call(title="Edit", name="Edit", status="pending", kind="edit", content=[{"type": "diff", "path": "/a", "newText": "x"}]),
    ),
    "004 file with new text": (
        {"sessionUpdate": "tool_call", "id": "c", "name": "Edit", "status": "pending", "kind": "file",
         "rawInput": {"file_path": "/a", "old_string": "x", "new_string": "y"}},
        call(title="Edit", name="Edit", status="pending", kind="edit",
             rawInput={"file_path": "/a", "old_string": "x", "new_string": "y"}),
    ),
    "004 command": (call(kind="command"), call(kind="execute")),
    "004 embedded_resource": (
        said({"type": "embedded_resource", "resource": {"uri": "file:///a", "blob": "AA=="}}),
        said({"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}}),
    ),
}


@every_row(("came", "meant"), [*WRONG_NAMES.values(), *SEEDS.values()])
def test_an_update_with_a_wrong_name_is_brought_to_the_schemas_form(came: dict[str, Any], meant: dict[str, Any]) -> None:
    raw = json.dumps(came).encode()
    update, passed_on = read_update(raw)
    assert not isinstance(update, UnknownUpdate)
    assert json.loads(passed_on) == meant
    assert faults("SessionUpdate", passed_on) == []
    assert normalise_update(passed_on) is passed_on
    assert encode_acp(decode_update(passed_on)) == encode_acp(update)


S_ROWS: dict[str, dict[str, Any]] = {
    "a new file as an empty original": call(content=[{"type": "diff", "path": "/a", "oldText": "", "newText": "x"}]),
    "nulls spelled out in a call update": progress(_meta=None, rawOutput=None, locations=None, content=None),
    "annotations null": said({**TEXT, "annotations": None, "_meta": None}),
    "raw input of any shape": call(rawInput={"old_string": "a", "filePath": "/a", "patchText": "*** Begin Patch"}),
    "raw output with an error": progress(status="failed", rawOutput={"error": "no"}),
    "all ten kinds": call(kind="switch_mode"),
}


@pytest.mark.parametrize("update", S_ROWS.values(), ids=S_ROWS.keys())
def test_what_the_seeds_write_otherwise_but_the_schema_accepts_is_passed_on_as_it_is(update: dict[str, Any]) -> None:
    raw = json.dumps(update).encode()
    assert faults("SessionUpdate", raw) == []
    assert normalise_update(raw) is raw


@pytest.mark.parametrize(
    "packet",
    [
        {"type": "prompt_response", "timestamp": "t", "stopReason": "end_turn", "_meta": {}},
        {"type": "error", "message": "no", "code": None},
        {"type": "artifact_created", "artifact": {}},
        {"sessionUpdate": "usage_update", "inputTokens": 5, "outputTokens": 6},
    ],
)
def test_packets_that_are_no_updates_and_usage_without_a_window_stay_unknown(packet: dict[str, Any]) -> None:
    raw = json.dumps(packet).encode()
    assert isinstance(decode_update(raw), UnknownUpdate)
    assert normalise_update(raw) is raw


@every_row(
    ("wrong", "right"),
    [
        ("stop_sequence", "end_turn"),
        ("tool_use", "end_turn"),
        ("endTurn", "end_turn"),
        ("canceled", "cancelled"),
        *((reason, reason) for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")),
    ],
)
def test_stop_reasons_come_down_to_the_five(wrong: str, right: str) -> None:
    answer = decode_result("session/prompt", json.dumps({"stopReason": wrong}).encode())
    assert answer == PromptResponse(stop_reason=right)  # type: ignore[arg-type]


@every_row(
    ("wrong", "right"),
    [
        ("allow", "allow_once"), ("deny", "reject_once"), ("allowOnce", "allow_once"), ("allowAlways", "allow_always"),
        ("rejectAlways", "reject_always"), ("allow_once", "allow_once"),
    ],
)
def test_permission_kinds_come_down_to_the_four(wrong: str, right: str) -> None:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [{"optionId": "o", "name": "O", "kind": wrong}]}
    ask = decode_params("session/request_permission", json.dumps(params).encode())
    assert ask.options == [PermissionOption(option_id="o", name="O", kind=right)]  # type: ignore[arg-type]


def test_a_permission_request_as_the_quick_reference_writes_it() -> None:
    params = {
        "sessionId": "sess_abc", "toolCall": {"id": "c1", "name": "Bash", "status": "pending"},
        "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "reject", "name": "Reject", "kind": "reject_once"}],
    }
    peer = Peer()
    peer.receive_data(json.dumps(
        {"jsonrpc": "2.0", "id": "perm_123", "method": "session/request_permission", "params": params}).encode() + b"\n")
    [request] = peer.messages_received()
    assert isinstance(request, Request)
    ask = decode_params(request.method, request.params)
    assert json.loads(bytes(ask.tool_call)) == {"toolCallId": "c1", "name": "Bash", "status": "pending"}
    chosen = choose_option(ask.options, allow=True)
    assert chosen is not None
    peer.send_result(request.id, RequestPermissionResponse(outcome=SelectedOutcome(option_id=chosen.option_id)))
    assert json.loads(peer.data_to_send()[0]) == {
        "jsonrpc": "2.0", "id": "perm_123", "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}}


# -- methods -----------------------------------------------------------------------------------------------------------


@every_row(
    ("wrong", "right", "side"),
    [
        ("session/notification", "session/update", "client"),
        ("session/message", "session/update", "client"),
        ("session/message", "session/prompt", "agent"),
        ("prompt", "session/prompt", "agent"),
        ("newSession", "session/new", "agent"),
        ("fs/readTextFile", "fs/read_text_file", "client"),
        ("fs/writeTextFile", "fs/write_text_file", "client"),
        ("terminal/waitForExit", "terminal/wait_for_exit", "client"),
        ("session/update", "session/update", "client"),
        ("_x/unknown", "_x/unknown", "client"),
    ],
)
def test_methods_go_by_other_names(wrong: str, right: str, side: Any) -> None:
    assert canonical_method(wrong, side=side) == right


def test_a_peer_can_serve_the_other_names_too() -> None:
    served = with_aliases(["fs/read_text_file"], side="client")
    assert served == {"fs/read_text_file", "fs/readTextFile"}
    assert "terminal/waitForExit" in CLIENT_METHODS
    assert "session/update" not in CLIENT_METHODS, "a notification is not served"
    for side, table in aliases.METHODS.items():
        for wrong, right in table.items():
            assert wrong not in METHODS
            assert METHODS[right].side == side


# -- requests ----------------------------------------------------------------------------------------------------------


def test_capabilities_in_initialize_go_by_other_names() -> None:
    params = decode_params(
        "initialize", b'{"protocolVersion":1,"capabilities":{"fileSystem":{"readTextFile":true},"terminal":true}}')
    assert params.client_capabilities == ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True), terminal=True)
    both = b'{"protocolVersion":1,"clientCapabilities":{"fileSystem":{"writeTextFile":true}},"capabilities":{"terminal":true}}'
    inner = decode_params("initialize", both)
    assert inner.client_capabilities == ClientCapabilities(fs=FileSystemCapabilities(write_text_file=True))
    result = decode_result("initialize", b'{"protocolVersion":1,"capabilities":{"loadSession":true}}')
    assert result.capabilities.load_session


def test_no_table_renames_what_the_schema_knows() -> None:
    for kind, table in aliases.FIELDS.items():
        known = {field for field in kind.__struct_encode_fields__}
        for wrong, right in table.items():
            assert wrong not in known, (kind, wrong)
            assert right in known, (kind, right)
    for kind, members in aliases.VALUES.items():
        assert set(members) <= set(kind.__struct_encode_fields__)
