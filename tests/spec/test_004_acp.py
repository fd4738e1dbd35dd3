"""Seed 004, the quick reference for Agent Client Protocol clients, held against ``jsonrpc``, ``acp`` and the demo agent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.spec import seeds
from tests.spec.served import served
from tests.spec.shapes import as_agent
from trunkline.dialects.acp.client import RequestPermissionRequest, RequestPermissionResponse
from trunkline.dialects.acp.methods import CLIENT_REQUESTS, SESSION_REQUEST_PERMISSION, SESSION_UPDATE, Method
from trunkline.dialects.acp.methods import METHODS as ACP_METHODS
from trunkline.dialects.acp.permission import CancelledOutcome, SelectedOutcome, choose_option
from trunkline.dialects.acp.reading.decode import decode_update, normalise_update
from trunkline.dialects.acp.sessions import PromptRequest, PromptResponse
from trunkline.dialects.acp.shape import encode_acp
from trunkline.dialects.acp.updates import AgentMessageChunk, Plan, ToolCall, UnknownUpdate
from trunkline.dialects.jsonrpc import Notification, Peer, Request, Response
from trunkline.dialects.signals import PermissionOption

METHODS = "004/key-methods"
FLOW = "004/permission-request-flow/code:1"


class Wire:
    """A client at the other end of an agent's pipes: sends lines, yields what comes back."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.peer = Peer()
        self.seen: list[str] = []
        self.updates: list[str] = []

    def request(self, method: str, params: object) -> int:
        return self.peer.send_request(method, json.dumps(params).encode())

    def flush(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(self.peer.data_to_send()))
        self.process.stdin.flush()

    def until_answer(self, ours: int) -> Any:
        """Read on to the answer of a request; permissions are allowed on the way, as the seed asks."""
        assert self.process.stdout is not None
        self.flush()
        for line in self.process.stdout:
            self.peer.receive_data(line)
            for message in self.peer.messages_received():
                if isinstance(message, Response) and message.id == ours:
                    assert message.error is None, message.error
                    return json.loads(bytes(message.result or b"null"))
                self.take(message)
        raise AssertionError("the agent ended before it answered")

    def take(self, message: object) -> None:
        assert isinstance(message, Request | Notification), message
        self.seen.append(message.method)
        if message.method == SESSION_UPDATE:
            self.updates.append(json.loads(bytes(message.params or b""))["update"]["sessionUpdate"])
        if isinstance(message, Request):
            ask = msgspec.json.decode(message.params or b"", type=RequestPermissionRequest)
            option = choose_option(ask.options, allow=True)
            assert option is not None
            outcome = SelectedOutcome(option_id=option.option_id)
            self.peer.send_result(message.id, encode_acp(RequestPermissionResponse(outcome=outcome)))
            self.flush()


@contextmanager
def demo_agent(folder: Path) -> Iterator[Wire]:
    """The demo agent, on pipes, as any client would start it."""
    command = [sys.executable, "-m", "trunkline.agents.demo"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        deadline = threading.Timer(10, process.kill)
        deadline.start()
        try:
            yield Wire(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(60) == 0, "the end of stdin is the end of an agent"
        finally:
            deadline.cancel()
            process.kill()


def minimal_sequence(folder: Path, prompt: str) -> tuple[Wire, dict[str, Any]]:
    """Initialise, make a session, prompt: the three steps of the seed."""
    with demo_agent(folder) as wire:
        hello = wire.until_answer(wire.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}}))
        assert hello["protocolVersion"] == 1
        new = wire.until_answer(wire.request("session/new", {"cwd": str(folder), "mcpServers": []}))
        text = {"type": "text", "text": prompt}
        end = wire.until_answer(wire.request("session/prompt", {"sessionId": new["sessionId"], "prompt": [text]}))
    assert isinstance(end, dict)
    return wire, end


def test_a_turn_flows_as_the_picture_says(tmp_path: Path) -> None:
    picture = seeds.code("004/message-flow/code:1")
    assert re.findall(r"-- ([a-z/_]+) -", picture) == ["initialize", "session/new", "session/prompt"]
    wire, end = minimal_sequence(tmp_path, "/ask")
    assert "session/request_permission" in wire.seen and "session/update" in wire.seen
    asked = wire.seen.index("session/request_permission")
    assert "session/update" in wire.seen[asked:], "the turn goes on after the answer"
    assert end["stopReason"] == "end_turn"


def method(group: str, row: str) -> Method:
    """The method that a row of the seed's tables names, as our table has it."""
    name = seeds.item(f"{METHODS}/{group}/row:{row}").cells[0].strip("`")
    return ACP_METHODS[name]


@pytest.mark.parametrize("row", ["initialize", "session-new", "session-prompt", "session-cancel"])
def test_a_method_of_the_client_is_spoken(row: str) -> None:
    found = method("client-agent-requests", row)
    assert found.side == "agent"
    assert (found.result is None) == (row == "session-cancel"), "cancel is a notification, the others are answered"


def test_the_update_notification_is_understood() -> None:
    found = method("agent-client-notifications", "session-update")
    assert (found.side, found.result) == ("client", None)


def test_the_permission_request_is_served() -> None:
    found = method("agent-client-requests", "session-request-permission")
    assert found.side == "client" and found.result is RequestPermissionResponse
    assert found.name in CLIENT_REQUESTS


BLOCK = {"type": "text", "text": "x"}
REQUIRED: dict[str, dict[str, Any]] = {
    "user_message_chunk": {"content": BLOCK},
    "agent_message_chunk": {"content": BLOCK},
    "agent_thought_chunk": {"content": BLOCK},
    "tool_call": {"toolCallId": "t", "title": "x"},
    "tool_call_update": {"toolCallId": "t"},
    "plan": {"entries": []},
    "available_commands_update": {"availableCommands": []},
    "current_mode_update": {"currentModeId": "plan"},
}


def test_the_discriminator_of_an_update_is_session_update() -> None:
    assert isinstance(decode_update(as_agent({"sessionUpdate": "plan", "type": "tool_call", "entries": []})), Plan)
    misnamed = normalise_update(as_agent({"type": "plan", "entries": []}))
    assert json.loads(misnamed) == {"sessionUpdate": "plan", "entries": []}, "taken, but never passed on so"


def test_every_update_of_the_union_is_understood() -> None:
    names = re.findall(r'sessionUpdate: "(\w+)"', seeds.code("004/session-update-types/code:1"))
    assert names == list(REQUIRED)
    for name in names:
        update = decode_update(as_agent({"sessionUpdate": name, **REQUIRED[name]}))
        assert not isinstance(update, UnknownUpdate), name
        assert json.loads(encode_acp(update))["sessionUpdate"] == name


def test_a_tool_call_in_the_seeds_names_is_understood() -> None:
    structure = seeds.code("004/tool-call-structure/code:1")
    kinds = {}
    for kind in seeds.literals(next(line for line in structure.splitlines() if "kind?" in line)):
        call = {"sessionUpdate": "tool_call", "id": "c1", "name": "Read", "status": "in_progress", "kind": kind,
                "locations": [{"path": "/a", "line": 3}], "rawInput": {"x": 1}, "rawOutput": {"y": 2}}
        update = decode_update(normalise_update(as_agent(call)))
        assert isinstance(update, ToolCall)
        assert (update.tool_call_id, update.name, update.title, update.status) == ("c1", "Read", "Read", "in_progress")
        kinds[kind] = update.kind
    assert kinds == {"file": "read", "command": "execute", "search": "search", "other": "other"}


def quoted(text: str) -> Any:
    """A message of the seed's JavaScript, as JSON: comments away, names quoted."""
    text = re.sub(r"//.*", "", text)
    text = text.replace("{ id, name, status, ... }", '{ id: "c1", name: "Bash", status: "pending" }')
    text = re.sub(r'([{,]\s*)(\w+)\s*:', r'\1"\2":', text)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def request_and_answer() -> tuple[Any, Any]:
    request, answer = re.findall(r"^\{.*?^\}", seeds.code(FLOW), re.S | re.M)
    return quoted(request), quoted(answer)


def test_a_permission_is_a_request_that_stays_open_until_it_is_answered() -> None:
    request, _ = request_and_answer()
    peer = Peer()
    peer.receive_data(json.dumps(request).encode() + b"\n")
    (ask,) = peer.messages_received()
    assert isinstance(ask, Request), "it has an id and wants an answer"
    assert peer.data_to_send() == [], "and nobody answers it but a person"


def test_a_permission_is_answered_with_the_same_id_and_the_chosen_option() -> None:
    request, answer = request_and_answer()
    peer = Peer()
    peer.receive_data(json.dumps(request).encode() + b"\n")
    (ask,) = peer.messages_received()
    assert isinstance(ask, Request) and ask.method == SESSION_REQUEST_PERMISSION
    params = msgspec.json.decode(ask.params or b"", type=RequestPermissionRequest)
    option = choose_option(params.options, allow=True)
    assert option is not None and option.option_id == "allow"
    result = RequestPermissionResponse(outcome=SelectedOutcome(option_id=option.option_id))
    peer.send_result(ask.id, encode_acp(result))
    assert json.loads(b"".join(peer.data_to_send())) == answer
    cancelled = RequestPermissionResponse(outcome=CancelledOutcome())
    assert json.loads(encode_acp(cancelled)) == {"outcome": {"outcome": "cancelled"}}


def test_a_plain_no_takes_the_rejecting_option() -> None:
    request, _ = request_and_answer()
    options = [PermissionOption(option["optionId"], option["name"], option["kind"]) for option in request["params"]["options"]]
    chosen = choose_option(options, allow=False)
    assert chosen is not None and chosen.option_id == "reject"


def listed(heading: str) -> list[str]:
    """The names at the head of a section's list."""
    text = next(seeds.FOLDER.glob("004_*.md")).read_text(encoding="utf-8")
    return re.findall(r"^- `(\w+)`", text.partition(f"## {heading}\n")[2].partition("\n#")[0], re.M)


def test_every_stop_reason_of_the_list_is_understood() -> None:
    reasons = listed("Stop Reasons")
    assert reasons == ["end_turn", "max_tokens", "cancelled", "refusal"]
    for reason in reasons:
        assert msgspec.json.decode(json.dumps({"stopReason": reason}), type=PromptResponse).stop_reason == reason


BODIES: dict[str, dict[str, Any]] = {
    "text": {"text": "x"},
    "image": {"mimeType": "image/png", "data": "aGk="},
    "audio": {"mimeType": "audio/wav", "data": "aGk="},
    "resource_link": {"uri": "file:///a", "name": "a"},
    "embedded_resource": {"resource": {"uri": "file:///a", "text": "x"}},
}


def test_prompts_and_messages_are_made_of_the_same_blocks() -> None:
    for kind, body in BODIES.items():
        block = {"type": "resource" if kind == "embedded_resource" else kind, **body}
        prompt = msgspec.json.decode(json.dumps({"sessionId": "s", "prompt": [block]}), type=PromptRequest)
        message = decode_update(as_agent({"sessionUpdate": "agent_message_chunk", "content": block}))
        assert isinstance(message, AgentMessageChunk) and [message.content] == prompt.prompt


def test_every_content_block_of_the_union_is_understood() -> None:
    kinds = re.findall(r'type: "(\w+)"', seeds.code("004/content-blocks/code:1"))
    assert kinds == list(BODIES)
    for kind in kinds:
        raw = as_agent({"sessionUpdate": "agent_message_chunk", "content": {"type": kind, **BODIES[kind]}})
        update = decode_update(normalise_update(raw))
        assert isinstance(update, AgentMessageChunk), kind


def test_a_permission_reaches_a_person_and_their_answer_reaches_the_agent(tmp_path: Path) -> None:
    """The seed lists what a bridge got wrong: the discriminator, permission as a notification, and not passing it on."""
    with served(tmp_path) as hub:
        session = hub.session(tmp_path)
        seen = []
        for frame in hub.turn(session, "/ask"):
            packet = json.loads(frame["data"])
            seen.append(packet)
            if packet["type"] == "approval_requested":
                (waiting,) = hub.json("GET", f"/sessions/{session}")["pendingApprovals"]
                assert waiting["requestId"] == packet["requestId"], "the agent waits for us"
                path = f"/sessions/{session}/permissions/{packet['requestId']}"
                hub.json("POST", path, {"optionId": packet["options"][0]["optionId"]})
    kinds = [packet["type"] for packet in seen]
    assert kinds.index("approval_requested") < kinds.index("approval_resolved") < kinds.index("prompt_response")
    assert all(packet["sessionUpdate"] for packet in seen if packet["type"].startswith("tool_call"))
    finished = [packet["status"] for packet in seen if packet["type"] == "tool_call_progress"]
    assert finished[-1] == "completed", "the answer reached the agent, and the tool ran"


def test_the_minimal_sequence_runs_against_an_agent(tmp_path: Path) -> None:
    steps = re.findall(r'method: "([a-z/]+)"', seeds.code("004/minimal-test-sequence/code:1"))
    assert steps == ["initialize", "session/new", "session/prompt"]
    wire, end = minimal_sequence(tmp_path, "/burst 3 5")
    assert wire.updates.count("agent_message_chunk") == 3
    assert end["stopReason"] == "end_turn"
