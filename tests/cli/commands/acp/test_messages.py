"""Messages as the bridge sees them: the few members it looks at, and what it adds."""

from __future__ import annotations

import json

import pytest
from msgspec import UNSET, Raw

from tests.tooling.rows import every_row
from trunkline.cli.commands.acp import messages


def test_what_we_add_leaves_alone_what_is_there() -> None:
    raw = messages.read(b'{"params":{"a":1,"_meta":{"x":2,"trunkline":{"key":"mine"}}}}')
    assert raw is not None
    assert json.loads(messages.with_meta(raw.params, {"key": "ours", "env": {}})) == {
        "a": 1, "_meta": {"x": 2, "trunkline": {"key": "mine", "env": {}}}}


@every_row("line", [b"", b"[]", b"no message", b'{"method":3}', b"{" * 100_000])
def test_what_is_no_message_is_none(line: bytes) -> None:
    assert messages.read(line) is None


def test_of_params_only_what_the_bridge_knows_is_read() -> None:
    message = messages.read(b'{"id":"a","method":"session/prompt","params":{"sessionId":"s","prompt":[],"seq":4}}')
    assert message is not None
    found = messages.params_of(message.params)
    assert (bytes(message.id or b""), found.session_id, found.seq) == (b'"a"', "s", 4)
    assert messages.params_of(UNSET) == messages.Params() == messages.params_of(Raw(b"[1]"))


def test_the_variables_that_an_agent_may_see_are_those_of_the_hubs_answer() -> None:
    assert messages.env_allow_of(Raw(b'{"_meta":{"trunkline":{"envAllow":["A_*","B"]}}}')) == ("A_*", "B")
    assert messages.env_allow_of(UNSET) == messages.env_allow_of(Raw(b'{"_meta":7}')) == ()


def test_a_refusal_of_our_own_is_one_line_under_the_requests_id() -> None:
    line = messages.refusal(b'"a"', "there is\n no hub")
    assert b"\n" not in line and json.loads(line) == {
        "jsonrpc": "2.0", "id": "a", "error": {"code": -32603, "message": "there is no hub"}}


@pytest.mark.parametrize(("beginning", "request_id"), [
    (b'{"jsonrpc":"2.0","id":6,"method":"m","params":{"text":"yyy', 6), (b'{"id":6,"result":{"content":"yyy', None),
    (b'{"method":"m","params":{"id":7,"text":"y', None), (b'{"id":[1],"method":"m","x":"y', None),
])
def test_a_line_that_is_too_long_is_answered_by_its_id_where_it_is_a_request(beginning: bytes, request_id: object) -> None:
    answer = json.loads(messages.too_long(beginning))
    assert (answer["id"], answer["error"]["code"]) == (request_id, -32600)


def test_a_position_is_added_and_nothing_else_changed() -> None:
    line = messages.request(b"7", "session/load", {"sessionId": "s", "_meta": {"x": 1, "trunkline": {"key": "k"}}})
    assert json.loads(messages.with_after(line, 12)) == {
        "jsonrpc": "2.0", "id": 7, "method": "session/load",
        "params": {"sessionId": "s", "_meta": {"x": 1, "trunkline": {"key": "k", "after": 12}}}}


def test_params_that_are_no_object_are_left_to_the_hub_to_judge() -> None:
    assert json.loads(messages.with_meta(Raw(b"[1]"), {"key": "k"})) == {"_meta": {"trunkline": {"key": "k"}}}
    inside = json.loads(messages.with_meta(Raw(b'{"a":1}'), {"key": "k"}, inside="clientCapabilities"))
    assert inside == {"a": 1, "clientCapabilities": {"_meta": {"trunkline": {"key": "k"}}}}


def test_a_cancel_names_its_prompt_and_what_is_taken_back_its_request() -> None:
    assert json.loads(messages.cancel_of("s", "k"))["params"] == {"sessionId": "s", "_meta": {"trunkline": {"key": "k"}}}
    assert json.loads(messages.taken_back(b'"a"'))["params"] == {"requestId": "a"}
