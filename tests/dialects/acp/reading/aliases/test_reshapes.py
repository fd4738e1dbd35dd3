"""Values of another shape than the schema's, read as they were meant."""

from __future__ import annotations

import json
from typing import Any

from tests.tooling.rows import every_row
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.initialize import (
    AuthMethodAgent,
    AuthMethodTerminal,
    ClientCapabilities,
    Offered,
    SessionCapabilities,
)
from trunkline.dialects.acp.reading.decode import decode_params, decode_result
from trunkline.dialects.acp.sessions import EnvVariable, PromptRequest
from trunkline.dialects.acp.shape import encode_acp

TEXT = {"type": "text", "text": "hi"}


@every_row(
    ("field", "value"),
    [
        ("content", [TEXT]),
        ("text", "hi"),
        ("prompt", "hi"),
        ("prompt", TEXT),
        ("messages", [{"role": "user", "content": "hi"}]),
        ("messages", [{"role": "user", "content": [TEXT]}]),
        ("content", ["hi"]),
    ],
)
def test_a_prompt_goes_by_other_names_and_shapes(field: str, value: Any) -> None:
    params = json.dumps({"sessionId": "s", field: value}).encode()
    assert decode_params("session/prompt", params) == PromptRequest(session_id="s", prompt=[TextContent(text="hi")])


@every_row(("said", "version"), [(1, 1), ("1", 1), ("1.0", 1), ("1.0.0", 1), ("2025-06-18", 1), ("2", 2), (2, 2)])
def test_a_protocol_version_is_a_number_however_it_is_written(said: Any, version: int) -> None:
    raw = json.dumps({"protocolVersion": said}).encode()
    assert decode_params("initialize", raw).protocol_version == version
    assert decode_result("initialize", raw).protocol_version == version


def test_an_empty_capabilities_object_offers_nothing() -> None:
    params = decode_params("initialize", b'{"protocolVersion":1,"capabilities":{}}')
    assert params.client_capabilities == ClientCapabilities()


def test_a_capability_that_is_true_instead_of_an_object_is_offered() -> None:
    raw = b'{"list":true,"resume":false,"close":{},"delete":null}'
    answer = b'{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":%b}}' % raw
    session = decode_result("initialize", answer).capabilities.session
    assert session == SessionCapabilities(list=Offered(), close=Offered())
    assert json.loads(encode_acp(session)) == {"list": {}, "close": {}}


@every_row(
    ("came", "meant"),
    [
        (
            {"fs": {"command": "mcp", "args": ["-x"], "env": {"A": "1"}}},
            [{"name": "fs", "command": "mcp", "args": ["-x"], "env": [{"name": "A", "value": "1"}]}],
        ),
        ({"fs": {"type": "stdio", "command": "mcp"}}, [{"name": "fs", "command": "mcp", "args": [], "env": []}]),
        (
            [{"type": "stdio", "name": "fs", "command": "mcp", "args": [], "env": []}],
            [{"name": "fs", "command": "mcp", "args": [], "env": []}],
        ),
        (
            {"web": {"url": "https://x", "headers": {"Authorization": "b"}}},
            [{"type": "http", "name": "web", "url": "https://x", "headers": [{"name": "Authorization", "value": "b"}]}],
        ),
        (
            [{"type": "sse", "name": "web", "url": "https://x"}],
            [{"type": "sse", "name": "web", "url": "https://x", "headers": []}],
        ),
        (
            [{"type": "http", "name": "web", "url": "https://x", "headers": None}],
            [{"type": "http", "name": "web", "url": "https://x", "headers": []}],
        ),
    ],
)
def test_mcp_servers_env_and_headers_may_be_maps_and_stdio_may_have_a_type(came: Any, meant: Any) -> None:
    for method in ("session/new", "session/load", "session/resume"):
        params = decode_params(method, json.dumps({"sessionId": "s", "cwd": "/a", "mcpServers": came}).encode())
        assert json.loads(encode_acp(params))["mcpServers"] == meant


def test_a_terminals_env_may_be_a_map() -> None:
    create = decode_params("terminal/create", b'{"sessionId":"s","command":"ls","env":{"A":"1"}}')
    assert create.env == [EnvVariable(name="A", value="1")]


def test_authentication_methods_of_removed_types_are_read_as_plain_ones() -> None:
    raw = b"""{"protocolVersion":1,"authMethods":[
        {"id":"key","name":"API key","type":"env_var","vars":[{"name":"KEY"}]},
        {"id":"tui","name":"Terminal","type":"terminal","args":["login"],"env":{"A":"1"}},
        {"id":"web","name":"Browser"}, {"name":"no id"}]}"""
    methods = decode_result("initialize", raw).auth_methods
    assert methods == [
        AuthMethodAgent(id="key", name="API key"),
        AuthMethodTerminal(id="tui", name="Terminal", args=["login"], env={"A": "1"}),
        AuthMethodAgent(id="web", name="Browser"),
    ]
