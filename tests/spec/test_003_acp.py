"""Seed 003, first half: the wire format of the Agent Client Protocol, held against ``jsonrpc`` and ``acp``, item by item.

The seed's shapes differ from the protocol's schema in places (an alias is accepted on input and normalised). Each test reads the
seed's own example.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.spec import seeds
from tests.spec.shapes import AT, as_agent, packet
from trunkline.dialects.acp.content import ImageContent, TextContent
from trunkline.dialects.acp.methods import SESSION_PROMPT, SESSION_UPDATE
from trunkline.dialects.acp.reading.decode import decode_update, normalise_update, text_chunk
from trunkline.dialects.acp.sessions import PromptResponse
from trunkline.dialects.acp.updates import (
    AgentMessageChunk,
    AvailableCommandsUpdate,
    CurrentModeUpdate,
    Plan,
    ToolCall,
    ToolCallUpdate,
    UnknownUpdate,
)
from trunkline.dialects.jsonrpc import Notification, Peer, Request, Response
from trunkline.dialects.packets.derive import text_chunk_packet
from trunkline.dialects.packets.notices import prompt_response_packet

ACP = "003/acp-agent-client-protocol"
UPDATES = f"{ACP}/sessionupdate-union-types"


def heard(data: bytes) -> list[Any]:
    """What a peer makes of some bytes."""
    peer = Peer()
    peer.receive_data(data)
    return peer.messages_received()


def update_of(name: str) -> Any:
    """The seed's example of an update, as our code sees it after normalising."""
    return decode_update(normalise_update(as_agent(seeds.example(f"{UPDATES}/{name}/code:1"))))


def schema_true(name: str) -> dict[str, Any]:
    """The seed's example of an update, as an editor gets it from us."""
    value = json.loads(normalise_update(as_agent(seeds.example(f"{UPDATES}/{name}/code:1"))))
    assert isinstance(value, dict)
    return value


def test_messages_are_json_rpc_2_0_one_per_line_in_both_directions() -> None:
    us, agent = Peer(), Peer()
    ours = us.send_request("initialize", b'{"protocolVersion":1}')
    lines = b"".join(us.data_to_send())
    assert lines.endswith(b"\n") and lines.count(b"\n") == 1
    assert json.loads(lines)["jsonrpc"] == "2.0"
    agent.receive_data(lines)
    (request,) = agent.messages_received()
    assert isinstance(request, Request) and request.method == "initialize"
    agent.send_result(request.id, b'{"protocolVersion":1}')
    us.receive_data(b"".join(agent.data_to_send()))
    (response,) = us.messages_received()
    assert isinstance(response, Response) and response.id == ours and response.error is None


def test_a_session_update_arrives_as_a_notification_with_its_session_and_update() -> None:
    written = seeds.code(f"{ACP}/session-update-notification/code:1")
    whole = json.loads(written.replace("{ /* SessionUpdate union */ }", '{"sessionUpdate":"plan","entries":[]}'))
    (message,) = heard(json.dumps(whole).encode() + b"\n")
    assert isinstance(message, Notification) and message.method == SESSION_UPDATE
    params = msgspec.json.decode(message.params or b"", type=dict[str, msgspec.Raw])
    assert bytes(params["sessionId"]) == b'"string"'
    assert isinstance(decode_update(bytes(params["update"])), Plan)


def test_updates_are_told_apart_by_session_update() -> None:
    names = [id.split("/")[-2].replace("-", "_") for id in seeds.seed("003") if id.startswith(UPDATES) and id.endswith("/code:1")]
    assert len(names) == 8
    for name in names:
        assert not isinstance(update_of(name.replace("_", "-")), UnknownUpdate), name
    assert isinstance(decode_update(b'{"sessionUpdate":"tomorrows_update","x":1}'), UnknownUpdate)


@pytest.mark.parametrize("name", ["agent_message_chunk", "user_message_chunk", "agent_thought_chunk"])
def test_a_chunk_of_text_is_understood_and_becomes_a_packet(name: str) -> None:
    example = seeds.example(f"{UPDATES}/{name.replace('_', '-')}/code:1")
    chunk = text_chunk(as_agent(example))
    assert chunk is not None and chunk.kind == name
    assert json.loads(bytes(chunk.text)) == example["content"]["text"]
    made = packet(text_chunk_packet(chunk.kind, bytes(chunk.text), AT))
    assert (made["type"], made["content"]["text"]) == (name, example["content"]["text"])


def test_a_tool_call_is_understood() -> None:
    call = update_of("tool-call")
    assert isinstance(call, ToolCall)
    assert (call.tool_call_id, call.title, call.kind, call.status) == ("uuid", "Read", "read", "pending")
    assert json.loads(bytes(call.raw_input or b"")) == {"file_path": "/path/to/file"}


def test_a_tool_call_update_with_a_bare_block_is_understood_and_wrapped() -> None:
    update = update_of("tool-call-update")
    assert isinstance(update, ToolCallUpdate) and update.status == "completed"
    block = {"type": "text", "text": "file contents..."}
    assert schema_true("tool-call-update")["content"] == [{"type": "content", "content": block}]


def test_a_plan_with_ids_and_without_priority_is_understood() -> None:
    plan = update_of("plan")
    assert isinstance(plan, Plan)
    assert schema_true("plan")["entries"] == [{"content": "Step description", "priority": "medium", "status": "pending"}]


def test_available_commands_are_understood() -> None:
    update = update_of("available-commands-update")
    assert isinstance(update, AvailableCommandsUpdate)
    assert [(command.name, command.description) for command in update.available_commands] == [("commit", "Commit changes")]


def test_the_current_mode_is_understood() -> None:
    update = update_of("current-mode-update")
    assert isinstance(update, CurrentModeUpdate) and update.current_mode_id == "plan"


def test_both_content_chunks_are_understood_also_with_media_type() -> None:
    text, image = (json.loads(line) for line in seeds.code(f"{ACP}/contentchunk-types/code:1").splitlines())
    blocks = []
    for block in (text, image):
        update = decode_update(normalise_update(as_agent({"sessionUpdate": "agent_message_chunk", "content": block})))
        assert isinstance(update, AgentMessageChunk)
        blocks.append(update.content)
    assert isinstance(blocks[0], TextContent) and blocks[0].text == "..."
    assert isinstance(blocks[1], ImageContent) and blocks[1].mime_type == "image/png"


def bullets(section: str) -> list[str]:
    """The names at the head of a section's list; the seed's text between this heading and the next."""
    text = next(seeds.FOLDER.glob("003_*.md")).read_text(encoding="utf-8")
    body = text.partition(f"### {section}\n")[2].partition("\n#")[0]
    return [line.split("`")[1] for line in body.splitlines() if line.startswith("- `")]


def test_every_tool_call_status_of_the_list_is_understood() -> None:
    statuses = bullets("ToolCallStatus")
    assert statuses == ["pending", "in_progress", "completed", "failed"]
    for status in statuses:
        update = decode_update(as_agent({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status}))
        assert isinstance(update, ToolCallUpdate) and update.status == status


def test_every_tool_call_kind_of_the_list_is_understood() -> None:
    kinds = {}
    for kind in bullets("ToolCallKind"):
        raw = as_agent({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "kind": kind})
        update = decode_update(normalise_update(raw))
        assert isinstance(update, ToolCall)
        kinds[kind] = update.kind
    assert kinds == {"read": "read", "write": "edit", "edit": "edit", "command": "execute", "other": "other"}


def prompt_result(result: object) -> Any:
    """The stop reason of the answer to our ``session/prompt``."""
    us = Peer()
    ours = us.send_request(SESSION_PROMPT, b"{}")
    us.receive_data(json.dumps({"jsonrpc": "2.0", "id": ours, "result": result}).encode() + b"\n")
    (response,) = us.messages_received()
    assert isinstance(response, Response)
    return msgspec.json.decode(response.result or b"", type=PromptResponse).stop_reason


def test_the_answer_to_a_prompt_is_the_response_to_its_request() -> None:
    assert prompt_result({"stopReason": "max_tokens"}) == "max_tokens"


def test_a_prompt_response_is_understood() -> None:
    assert prompt_result(seeds.example(f"{ACP}/promptresponse/code:1")) == "end_turn"


@pytest.mark.parametrize("stop", [stop for stop, _ in seeds.rows(f"{ACP}/promptresponse")])
def test_a_stop_reason_of_the_table_is_understood_and_passed_on(stop: str) -> None:
    understood = prompt_result({"stopReason": stop})
    assert packet(prompt_response_packet(understood, AT))["stopReason"] == stop
