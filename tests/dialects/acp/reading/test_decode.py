"""Reading updates, params and results: the schema's policy, the bytes passed on, and the short cut for text."""

from __future__ import annotations

import functools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from tests.dialects.acp.schema import DEFINITIONS, faults
from tests.dialects.acp.strategies import instances, texts
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.dialects.acp.elicitation import ElicitationSchema, FormElicitation, StringProperty, UrlElicitation
from trunkline.dialects.acp.initialize import LogoutRequest
from trunkline.dialects.acp.methods import METHODS
from trunkline.dialects.acp.permission import CancelledOutcome, SelectedOutcome
from trunkline.dialects.acp.reading.decode import (
    TextChunk,
    decode_params,
    decode_result,
    decode_tool_call_update,
    decode_update,
    normalise_update,
    read_outcome,
    read_update,
    shown_token,
    text_chunk,
    without_text,
)
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.acp.sessions import (
    ListSessionsRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    SetSessionModeResponse,
)
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import SessionInfoUpdate, SessionUpdate, ToolCall, UnknownUpdate, UsageUpdate
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import AgentError, Invalid, NotFound

CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


def update(**members: Any) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()


def chunk(text: Any = "hi", kind: str = "agent_message_chunk", **members: Any) -> bytes:
    return update(sessionUpdate=kind, content={"type": "text", "text": text}, **members)


# -- the short cut for text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CHUNKS)
def test_a_plain_text_chunk_is_read_without_decoding_its_text(kind: str) -> None:
    raw = b'{"sessionUpdate":"%b","content":{"type":"text","text":"a\\n\\u00e9 \\"q\\""},"messageId":"m1"}' % kind.encode()
    assert text_chunk(raw) == TextChunk(kind, b'"a\\n\\u00e9 \\"q\\""', "m1")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content":{"text":"hi","type":"text"},"sessionUpdate":"agent_message_chunk"}',
        b'{"messageId":null,"content":{"type":"text","text":"hi"},"sessionUpdate":"agent_message_chunk"}',
        b' {"_meta":null, "sessionUpdate" : "agent_message_chunk",\t"content":{"type":"text", "text": "hi" ,"annotations":null}}',
    ],
)
def test_neither_key_order_nor_white_space_nor_nulls_matter(raw: bytes) -> None:
    assert text_chunk(raw) == TextChunk("agent_message_chunk", b'"hi"', None)


@every_row(
    "raw",
    [
        chunk(kind="tool_call"),
        chunk(kind="compaction_summary_chunk", compactionId="c"),
        chunk(5),
        chunk(None),
        chunk(["hi"]),
        chunk(_meta={"usage": 1}),
        chunk(type="agent_message_chunk"),
        chunk(timestamp="2026-01-01T00:00:00Z"),
        chunk(messageId=5),
        update(sessionUpdate="agent_message_chunk", content={"type": "image", "data": "", "mimeType": "image/png"}),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hi", "annotations": {"priority": 1}}),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hi", "_meta": {}}),
        update(sessionUpdate="agent_message_chunk", content={"text": "hi"})[:-1],
        update(sessionUpdate="agent_message_chunk", content="hi"),
        update(sessionUpdate="agent_message_chunk"),
        b"[" * 100_000,
        b"[]",
        b"",
    ],
)
def test_everything_else_takes_the_long_way(raw: bytes) -> None:
    assert text_chunk(raw) is None


@given(st.sampled_from(CHUNKS), texts, st.none() | texts, st.booleans())
def test_both_ways_read_the_same(kind: str, text: str, message_id: str | None, ascii: bool) -> None:
    value = {"content": {"text": text, "type": "text"}, "messageId": message_id, "sessionUpdate": kind}
    raw = json.dumps(value, ensure_ascii=ascii).encode()
    short, long = text_chunk(raw), decode_update(raw)
    assert short is not None and not isinstance(long, UnknownUpdate)
    assert (short.kind, json.loads(short.text), short.message_id) == (kind, text, message_id)
    assert (long.content.text, long.message_id) == (text, message_id)  # type: ignore[union-attr]


# -- the schema's policy -----------------------------------------------------------------------------------------------

SAMPLES: dict[str, dict[str, Any]] = {
    "user_message_chunk": {"content": {"type": "text", "text": "a"}, "messageId": "m"},
    "agent_message_chunk": {"content": {"type": "text", "text": "a"}, "messageId": "m"},
    "agent_thought_chunk": {"content": {"type": "text", "text": "a"}, "messageId": "m"},
    "tool_call": {
        "toolCallId": "c", "title": "t", "name": "n", "kind": "edit", "status": "completed",
        "content": [{"type": "diff", "path": "/a", "newText": "b"}], "locations": [{"path": "/a", "line": 3}],
        "rawInput": {"a": 1}, "rawOutput": [1],
    },
    "tool_call_update": {
        "toolCallId": "c", "title": "t", "name": "n", "kind": "edit", "status": "failed",
        "content": [{"type": "terminal", "terminalId": "t"}], "locations": [{"path": "/a"}],
        "rawInput": 1, "rawOutput": "x",
    },
    "plan": {"entries": [{"content": "a", "priority": "high", "status": "pending"}]},
    "available_commands_update": {"availableCommands": [{"name": "a", "description": "b", "input": {"hint": "c"}}]},
    "current_mode_update": {"currentModeId": "plan"},
    "config_option_update": {"configOptions": [{"type": "boolean", "id": "a", "name": "b", "currentValue": True}]},
    "session_info_update": {"title": "t", "updatedAt": "2026-01-01T00:00:00Z"},
    "usage_update": {"used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}},
    "notice": {"severity": "info", "title": "t", "description": "d"},
    "compaction_update": {"compactionId": "c", "status": "completed", "summary": [{"type": "text", "text": "a"}], "error": "e"},
    "compaction_summary_chunk": {"compactionId": "c", "content": {"type": "text", "text": "a"}},
}
"""Every update with every member it may have."""

DEFINITION = {
    branch["properties"]["sessionUpdate"]["const"]: branch["allOf"][0]["$ref"].rsplit("/", 1)[1]
    for branch in DEFINITIONS["SessionUpdate"]["oneOf"]
}
FORGIVEN = [
    (kind, name)
    for kind, definition in DEFINITION.items()
    for name, policy in DEFINITIONS[definition]["properties"].items()
    if policy.get("x-deserialize-default-on-error") and name not in DEFINITIONS[definition].get("required", [])
    and name not in ("rawInput", "rawOutput")
]
REQUIRED = [
    (kind, name) for kind, definition in DEFINITION.items() for name in DEFINITIONS[definition].get("required", [])
]
LISTS = [
    (kind, name)
    for kind, definition in DEFINITION.items()
    for name, policy in DEFINITIONS[definition]["properties"].items()
    if policy.get("x-deserialize-skip-invalid-items")
]


def test_the_samples_are_all_fourteen_with_all_their_members() -> None:
    assert set(SAMPLES) == set(DEFINITION)
    for kind, members in SAMPLES.items():
        assert set(members) == set(DEFINITIONS[DEFINITION[kind]]["properties"]) - {"_meta"}, kind


@every_row("kind", SAMPLES)
def test_a_schema_true_update_is_typed_and_passed_on_as_the_same_object(kind: str) -> None:
    raw = update(sessionUpdate=kind, **SAMPLES[kind], _meta={"k": [1]})
    read, passed_on = read_update(raw)
    assert passed_on is raw
    assert json.loads(encode_acp(read)) == json.loads(raw)


@every_row(("kind", "name"), FORGIVEN)
def test_a_bad_optional_value_counts_as_absent(kind: str, name: str) -> None:
    members = {**SAMPLES[kind], name: 5 if name != "line" else "5"}
    read, passed_on = read_update(update(sessionUpdate=kind, **members))
    assert not isinstance(read, UnknownUpdate)
    written = json.loads(passed_on)
    if (kind, name) != ("tool_call", "kind"):  # an unknown kind of a new call is "other", which is what absent means
        assert name not in written
    assert faults("SessionUpdate", passed_on) == []
    assert {key: written[key] for key in members if key != name} == {key: members[key] for key in members if key != name}


@every_row(("kind", "name"), REQUIRED)
def test_without_a_required_member_an_update_is_unknown_and_kept_whole(kind: str, name: str) -> None:
    raw = update(sessionUpdate=kind, **{key: value for key, value in SAMPLES[kind].items() if key != name})
    read, passed_on = read_update(raw)
    if (kind, name) == ("tool_call", "title"):
        assert isinstance(read, ToolCall) and read.title == "n", "the name serves as title"
        return
    assert isinstance(read, UnknownUpdate)
    assert (read.raw, read.kind) == (raw, kind)
    assert name in read.why
    assert passed_on is raw


@every_row(("kind", "name"), LISTS)
def test_bad_items_of_a_list_are_dropped_and_good_ones_stay(kind: str, name: str) -> None:
    [good] = SAMPLES[kind][name]
    members = {**SAMPLES[kind], name: [5, good, {"type": "nonsense"}, None, good]}
    read, passed_on = read_update(update(sessionUpdate=kind, **members))
    assert not isinstance(read, UnknownUpdate)
    assert json.loads(passed_on)[name] == [good, good]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in LISTS if (kind, name) in REQUIRED])
def test_a_required_list_that_is_none_is_empty(kind: str, name: str) -> None:
    read, passed_on = read_update(update(sessionUpdate=kind, **{**SAMPLES[kind], name: "nonsense"}))
    assert not isinstance(read, UnknownUpdate)
    assert json.loads(passed_on)[name] == []


@pytest.mark.parametrize("name", ["kind", "status", "content", "locations"])
def test_null_is_allowed_in_a_call_update_and_not_in_a_call(name: str) -> None:
    raw = update(sessionUpdate="tool_call_update", toolCallId="c", **{name: None})
    assert normalise_update(raw) is raw
    raw = update(sessionUpdate="tool_call", toolCallId="c", title="t", **{name: None})
    assert faults("SessionUpdate", raw)
    assert json.loads(normalise_update(raw)) == {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"}


def test_null_clears_where_the_protocol_says_so() -> None:
    cleared = decode_update(update(sessionUpdate="session_info_update", title=None))
    assert isinstance(cleared, SessionInfoUpdate)
    assert cleared.title is None and cleared.updated_at is UNSET
    assert json.loads(encode_acp(cleared)) == {"sessionUpdate": "session_info_update", "title": None}


def test_raw_input_and_output_keep_their_bytes_even_when_the_rest_is_repaired() -> None:
    raw = b'{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"running","rawInput":{"a" :  1.50, "a":2}}'
    call, passed_on = read_update(raw)
    assert isinstance(call, ToolCall) and call.raw_input is not UNSET
    assert bytes(call.raw_input) == b'{"a" :  1.50, "a":2}'
    assert b'"rawInput":{"a" :  1.50, "a":2}' in passed_on


def test_a_whole_number_written_as_a_float_is_one() -> None:
    read = decode_update(b'{"sessionUpdate":"usage_update","used":1.0,"size":2e3}')
    assert read == UsageUpdate(used=1, size=2000)
    assert isinstance(decode_update(b'{"sessionUpdate":"usage_update","used":1.5,"size":2}'), UnknownUpdate)
    assert isinstance(decode_update(b'{"sessionUpdate":"usage_update","used":"1","size":2}'), UnknownUpdate)


@every_row(
    "raw",
    [
        b'{"sessionUpdate":"plan_removed","planId":"p"}',
        b'{"sessionUpdate":5}',
        b"{}",
        b"[]",
        b"null",
        b'"text"',
        b"{",
        b"",
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\xff"}}',
        b'{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"sessionUpdate":"plan","entries":[' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]}",
    ],
)
def test_what_is_no_update_we_know_is_unknown_and_never_raises(raw: bytes) -> None:
    read, passed_on = read_update(raw)
    assert isinstance(read, UnknownUpdate)
    assert read.raw == raw and read.why
    assert passed_on is raw


# -- against the schema, with anything broken --------------------------------------------------------------------------

WRONG = [None, 5, -1, 1.5, "x", "", [], {}, True, [5], {"a": 1}, [{"type": "text"}], {"type": "text", "text": "t"}]


def broken(value: Any) -> st.SearchStrategy[Any]:
    """``value`` with one thing at any depth replaced, removed or added."""
    here: list[st.SearchStrategy[Any]] = [st.sampled_from(WRONG)]
    if isinstance(value, dict):
        for key in value:
            here.append(broken(value[key]).map(functools.partial(_with_member, value, key)))
            here.append(st.just({other: value[other] for other in value if other != key}))
        here.append(st.sampled_from(WRONG).map(functools.partial(_with_member, value, "surplus")))
    if isinstance(value, list):
        for index in range(len(value)):
            here.append(broken(value[index]).map(functools.partial(_with_item, value, index)))
        here.append(st.sampled_from(WRONG).map(functools.partial(_with_item, value, len(value))))
    return st.one_of(here)


def _with_member(value: dict[str, Any], key: str, new: Any) -> dict[str, Any]:
    return {**value, key: new}


def _with_item(value: list[Any], index: int, new: Any) -> list[Any]:
    return [*value[:index], new, *value[index + 1 :]]


broken_updates = instances(SessionUpdate).map(lambda value: json.loads(encode_acp(value))).flatmap(broken)


@settings(max_examples=examples(100))
@given(broken_updates)
def test_an_update_is_passed_on_as_it_is_exactly_when_the_schema_accepts_it(value: Any) -> None:
    raw = json.dumps(value).encode()
    read, passed_on = read_update(raw)
    valid = not faults("SessionUpdate", raw)
    if valid:
        assert not isinstance(read, UnknownUpdate)
        assert passed_on is raw
    elif isinstance(read, UnknownUpdate):
        assert passed_on is raw
    else:
        assert passed_on is not raw
        assert faults("SessionUpdate", passed_on) == []
        assert encode_acp(decode_update(passed_on)) == passed_on


# -- params and results ------------------------------------------------------------------------------------------------


@given(text=st.text(st.sampled_from('"\\}]{,a\n\u2028é')), before=st.permutations(["other", "title", "content"]),
       spaced=st.booleans())
def test_the_text_that_a_call_shows_is_found_as_it_stands(text: str, before: list[str], spaced: bool) -> None:
    shown = [{"type": "content", "content": {"type": "text", "text": text}}]
    decoy = [{"type": "content", "content": {"type": "text", "text": "not this"}}]
    members: dict[str, Any] = {"other": {"a": 1, "content": decoy}, "title": ',"content":[{"type":"content"', "content": shown}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", **{name: members[name] for name in before}}
    raw = json.dumps(update, separators=None if spaced else (",", ":"), ensure_ascii=False).encode()
    token = shown_token(raw)
    assert token is not None and json.loads(bytes(token)) == text


@pytest.mark.parametrize("content", [[], [{"type": "terminal", "terminalId": "t"}], [
    {"type": "content", "content": {"type": "text", "text": "one"}},
    {"type": "content", "content": {"type": "text", "text": "two"}}]])
def test_where_a_call_shows_no_single_text_there_is_no_token(content: list[Any]) -> None:
    raw = json.dumps({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": content}, separators=(",", ":"))
    assert shown_token(raw.encode()) is None


def test_params_of_every_method_refuse_what_is_no_object() -> None:
    for method in METHODS.values():
        for raw in (b"5", b"[]", b'"x"', b"{", b"[" * 100_000):
            with pytest.raises(Invalid):
                decode_params(method.name, raw)


def test_absent_and_null_params_and_results_count_as_an_empty_object() -> None:
    assert decode_params("session/list", None) == ListSessionsRequest()
    assert decode_params("logout", b"null") == LogoutRequest()
    assert decode_result("session/load", b"null") == LoadSessionResponse()
    assert decode_result("session/set_mode", None) == SetSessionModeResponse()


@every_row(
    ("method", "params", "named"),
    [
        ("fs/read_text_file", {"sessionId": "s"}, "path"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/a", "line": "3"}, "line"),
        ("fs/read_text_file", {"sessionId": "s", "path": "/a", "limit": -1}, "limit"),
        ("terminal/create", {"sessionId": "s", "command": "ls", "args": "-l"}, "args"),
        ("terminal/create", {"sessionId": "s", "command": "ls", "args": [1]}, "args"),
        ("session/new", {"cwd": "/a"}, "mcpServers"),
        ("session/new", {"cwd": "/a", "mcpServers": [5]}, "mcpServers"),
        ("session/new", {"cwd": "/a", "mcpServers": [{"name": "x"}]}, "mcpServers"),
        ("session/prompt", {"sessionId": "s", "prompt": [{"type": "video"}]}, "prompt"),
        ("session/request_permission", {"sessionId": "s", "toolCall": {}, "options": []}, "toolCallId"),
        ("session/set_config_option", {"sessionId": "s", "configId": "c", "value": True}, "value"),
        ("elicitation/create", {"mode": "form", "message": "m", "requestedSchema": {}}, "sessionId"),
        ("elicitation/create", {"mode": "telepathy", "message": "m", "sessionId": "s"}, "telepathy"),
    ],
)
def test_bad_params_are_refused_naming_the_member(method: str, params: dict[str, Any], named: str) -> None:
    with pytest.raises(Invalid, match=named):
        decode_params(method, json.dumps(params).encode())


def test_null_lists_in_requests_count_as_empty_or_absent() -> None:
    new = decode_params("session/new", b'{"cwd":"/a","mcpServers":null,"additionalDirectories":null}')
    assert new == NewSessionRequest(cwd="/a", mcp_servers=[])
    create = decode_params("terminal/create", b'{"sessionId":"s","command":"ls","args":null,"env":null}')
    assert create == CreateTerminalRequest(session_id="s", command="ls")


def test_a_bad_result_is_the_agents_fault() -> None:
    with pytest.raises(AgentError, match=r"session/new.*sessionId"):
        decode_result("session/new", b"{}")
    with pytest.raises(AgentError, match=r"session/prompt.*stopReason"):
        decode_result("session/prompt", b'{"stopReason":"error"}')


def test_results_forgive_bad_options_and_keep_undeclared_members_out() -> None:
    raw = b'{"sessionId":"s","modes":5,"configOptions":[{"id":"x"}],"models":{"currentModelId":"m"}}'
    assert decode_result("session/new", raw) == NewSessionResponse(session_id="s", config_options=[])


def test_elicitations_are_read_by_mode_and_scope() -> None:
    schema = b'{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}'
    form = decode_params(
        "elicitation/create", b'{"mode":"form","message":"m","sessionId":"s","toolCallId":"c","requestedSchema":%b}' % schema)
    assert isinstance(form, FormElicitation)
    assert (form.session_id, form.tool_call_id, bytes(form.requested_schema)) == ("s", "c", schema)
    asked = read_lenient(form.requested_schema, ElicitationSchema)
    assert asked.properties == {"a": StringProperty()} and asked.required == ["a"]
    url = decode_params("elicitation/create", b'{"mode":"url","message":"m","requestId":7,"elicitationId":"e","url":"https://x"}')
    assert isinstance(url, UrlElicitation) and url.url == "https://x"


def test_a_permission_requests_call_is_passed_on_in_the_schemas_form() -> None:
    true = b'{"toolCallId":"c",  "status":null}'
    options = b'[{"optionId":"y","name":"Yes","kind":"allow_once"}]'
    ask = decode_params("session/request_permission", b'{"sessionId":"s","toolCall":%b,"options":%b}' % (true, options))
    assert bytes(ask.tool_call) == true
    other = b'{"id":"c","name":"Bash","status":"running","input":{"command":"ls"}}'
    ask = decode_params("session/request_permission", b'{"sessionId":"s","toolCall":%b,"options":%b}' % (other, options))
    assert json.loads(bytes(ask.tool_call)) == {
        "toolCallId": "c", "name": "Bash", "status": "in_progress", "rawInput": {"command": "ls"}}
    assert faults("ToolCallUpdate", bytes(ask.tool_call)) == []


def test_a_permission_requests_call_keeps_what_it_says_under_wrong_names() -> None:
    raw = b'{"toolCallId":"c","input":{"command":"ls"},"type":"tool_call_progress"}'
    call = decode_tool_call_update(raw)
    assert call.raw_input is not UNSET and bytes(call.raw_input) == b'{"command":"ls"}'
    ask = decode_params("session/request_permission", b'{"sessionId":"s","toolCall":%b,"options":[]}' % raw)
    assert json.loads(bytes(ask.tool_call)) == {"toolCallId": "c", "rawInput": {"command": "ls"}}


@every_row("depth", [10, 100, *range(900, 1010, 5), 5000])
def test_nesting_of_any_depth_is_read_or_unknown_whatever_the_stack_allows(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    members = b'"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"running","_meta":{"a":%b},"rawInput":%b'
    read, passed_on = read_update(b"{%b}" % (members % (nested, nested)))
    assert isinstance(read, UnknownUpdate) or json.loads(passed_on)["status"] == "in_progress"


# -- outcomes ----------------------------------------------------------------------------------------------------------

OPTIONS = (
    PermissionOption("y", "Yes", "allow_once"),
    PermissionOption("ya", "Always", "allow_always"),
    PermissionOption("n", "No", "reject_once"),
)


@every_row(
    ("result", "chosen"),
    [
        (b'{"outcome":{"outcome":"selected","optionId":"ya"}}', "ya"),
        (b'{"outcome":"allow_once"}', "y"),
        (b'{"outcome":"allowAlways"}', "ya"),
        (b'{"outcome":"n"}', "n"),
        (b'{"outcome":{"outcome":"deny"}}', "n"),
    ],
)
def test_an_outcome_names_an_option_by_id_or_kind(result: bytes, chosen: str) -> None:
    assert read_outcome(result, OPTIONS) == SelectedOutcome(option_id=chosen)


def test_an_outcome_may_be_cancelled_and_must_name_an_option_that_was_offered() -> None:
    assert read_outcome(b'{"outcome":{"outcome":"cancelled"}}', OPTIONS) == CancelledOutcome()
    assert read_outcome(b'{"outcome":"canceled"}', OPTIONS) == CancelledOutcome()
    with pytest.raises(NotFound):
        read_outcome(b'{"outcome":{"outcome":"selected","optionId":"other"}}', OPTIONS)
    with pytest.raises(Invalid):
        read_outcome(b'{"outcome":{"outcome":"selected"}}', OPTIONS)
    for nothing in (None, b"null", b"{}", b'{"outcome":5}'):
        with pytest.raises(Invalid):
            read_outcome(nothing, OPTIONS)


@every_row(("before", "text", "after", "taken"), [
    ({"status": "in_progress"}, "a\nb", {}, True),
    ({}, "", {}, True),
    ({}, 'says "no"', {}, False),
    ({}, "ends with \\", {}, False),
    ({}, "a", {"_meta": {"n": 1}}, False),
    ({"_meta": {"n": 1}}, "a", {}, False),
])
def test_the_text_at_an_updates_end_is_left_out_where_nothing_else_goes_with_it(
        before: dict[str, Any], text: str, after: dict[str, Any], taken: bool) -> None:
    head = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **before}
    shown = [{"type": "content", "content": {"type": "text", "text": text}}]
    left = msgspec.json.decode(without_text(msgspec.json.encode({**head, "content": shown, **after})))
    assert left == (head if taken else {**head, "content": shown, **after})


def test_an_update_that_shows_several_texts_keeps_them() -> None:
    shown = 2 * [{"type": "content", "content": {"type": "text", "text": "a"}}]
    update = msgspec.json.encode({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": shown})
    assert without_text(update) == update
