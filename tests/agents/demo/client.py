"""A small Agent Client Protocol client for tests of the demo: drives it over stdio and holds every message to the schema."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.aio import WITHIN_S
from tests.tooling.oracles import Oracle
from trunkline.dialects.notes import NOTE_METHOD, AgentNote, read_note_params

Json = dict[str, Any]

SCHEMA = Path(__file__).parents[2] / "data" / "acp_schema_v1.json"

RESULTS = {
    "initialize": "InitializeResponse",
    "authenticate": "AuthenticateResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/close": "CloseSessionResponse",
    "session/set_mode": "SetSessionModeResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
    "session/prompt": "PromptResponse",
}

PARAMS = {
    "session/update": "SessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "elicitation/create": "CreateElicitationRequest",
    "elicitation/complete": "CompleteElicitationNotification",
    "fs/read_text_file": "ReadTextFileRequest",
    "fs/write_text_file": "WriteTextFileRequest",
    "terminal/create": "CreateTerminalRequest",
    "terminal/output": "TerminalOutputRequest",
    "terminal/wait_for_exit": "WaitForTerminalExitRequest",
    "terminal/release": "ReleaseTerminalRequest",
    "$/cancel_request": "CancelRequestNotification",
}

TAKES_ALL: Json = {"session": {"notices": {}}, "_meta": {"trunkline": {"notes": True}}}
"""A client that takes notices and notes, as the hub does."""

Reply = Callable[[Json], Json | None]
"""Answers a request of the agent by its params: a result, or None to leave it open."""


class Client:
    """One running demo, its messages in order, and the answers to its requests."""

    def __init__(self, cwd: Path, *options: str, capabilities: Json | None = None) -> None:
        self.cwd = cwd
        self.capabilities = capabilities or {}
        self.is_strict = True
        self.replies: dict[str, Reply] = {}
        self.messages: list[Json] = []
        self.junk: list[bytes] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trunkline.agents.demo", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._next_id = 0
        self._buffer = b""
        self._methods: dict[int, str] = {}

    def send(self, message: Json) -> None:
        """Write one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def begin(self, method: str, params: Json) -> int:
        """Send a request; its id."""
        self._next_id += 1
        self._methods[self._next_id] = method
        self.send({"id": self._next_id, "method": method, "params": params})
        return self._next_id

    def request(self, method: str, params: Json) -> Json:
        """Send a request and wait for its answer, serving the agent's own requests meanwhile."""
        return self.answer_to(self.begin(method, params))

    def answer_to(self, request_id: int) -> Json:
        """The message that answers a request."""
        return self.until(lambda message: message.get("id") == request_id and "method" not in message)

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """Read until a message is the wanted one."""
        while True:
            message = self.next()
            if wanted(message):
                return message

    def next(self) -> Json:
        """The next message; lines that are none are kept in ``junk``."""
        while True:
            line = self._line()
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                self._take(message)
                return message
            assert not self.is_strict, line
            self.junk.append(line)

    def open(self, method: str = "session/new", **params: object) -> str:
        """Shake hands and open a session; its id."""
        assert "result" in self.request("initialize", {"protocolVersion": 1, "clientCapabilities": self.capabilities})
        opened = self.request(method, {"cwd": str(self.cwd), "mcpServers": [], **params})
        session_id = opened["result"].get("sessionId") or params["sessionId"]
        self.until(lambda message: update_of(message).get("sessionUpdate") == "available_commands_update")
        return str(session_id)

    def prompt(self, session_id: str, text: str) -> tuple[Json, list[Json]]:
        """Send a prompt; its answer, and the updates before it."""
        first = len(self.messages)
        answer = self.answer_to(self.begin_prompt(session_id, text))
        return answer, [update_of(message) for message in self.messages[first:] if message.get("method") == "session/update"]

    def begin_prompt(self, session_id: str, text: str) -> int:
        """Send a prompt."""
        return self.begin("session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]})

    def cancel(self, session_id: str) -> None:
        """Cancel the running turn."""
        self.send({"method": "session/cancel", "params": {"sessionId": session_id}})

    def end(self) -> int:
        """Close stdin; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(WITHIN_S)

    def _take(self, message: Json) -> None:
        self.messages.append(message)
        method = message.get("method")
        if self.is_strict:
            self._check(message)
        if method and "id" in message and method in self.replies:
            result = self.replies[method](message["params"])
            if result is not None:
                self.send({"id": message["id"], "result": result})

    def _check(self, message: Json) -> None:
        assert message["jsonrpc"] == "2.0"
        if message.get("method") == NOTE_METHOD:
            check_note(message["params"])
        elif "method" in message:
            check(PARAMS[message["method"]], message["params"])
        elif "result" in message:
            check(RESULTS[self._methods[message["id"]]], message["result"])
        else:
            check("Error", message["error"])

    def _line(self) -> bytes:
        assert self.process.stdout
        deadline = time.monotonic() + WITHIN_S
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the demo says nothing"
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, f"the demo ended: {self.process.wait()}"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


@contextmanager
def demo(cwd: Path, *options: str, capabilities: Json | None = None) -> Iterator[Client]:
    """A running demo that is gone at the end, whatever happened."""
    client = Client(cwd, *options, capabilities=capabilities)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.wait()
        for pipe in (client.process.stdin, client.process.stdout, client.process.stderr):
            assert pipe
            pipe.close()


def choose(option_id: str) -> Reply:
    """Answers a permission request by this option."""
    return lambda params: {"outcome": {"outcome": "selected", "optionId": option_id}}


def update_of(message: Json) -> Json:
    """The update of a ``session/update``; empty for other messages."""
    update: Json = (message.get("params") or {}).get("update") or {}
    return update


def notes_of(messages: list[Json]) -> list[tuple[str, Json]]:
    """The notes among messages: kind and data."""
    return [(message["params"]["kind"], message["params"]["data"]) for message in messages
            if message.get("method") == NOTE_METHOD]


def text_of(updates: list[Json], kind: str = "agent_message_chunk") -> str:
    """All text of one kind of chunk."""
    return "".join(update["content"]["text"] for update in updates if update.get("sessionUpdate") == kind)


def calls_of(updates: list[Json]) -> list[list[Json]]:
    """The tool calls in order of their start, each as the list of its updates."""
    calls: dict[str, list[Json]] = {}
    for update in updates:
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            calls.setdefault(update["toolCallId"], []).append(update)
    return list(calls.values())


@cache
def _schema() -> Json:
    schema: Json = json.loads(SCHEMA.read_text())
    return schema


@cache
def _oracle(name: str) -> Oracle:
    return Oracle({"$ref": f"#/$defs/{name}", "$defs": _schema()["$defs"]})


def check_note(params: Json) -> None:
    """Hold a note to the body that its kind has."""
    assert isinstance(read_note_params(json.dumps(params).encode()), AgentNote), params


def check(name: str, value: object) -> None:
    """Hold a value to a type of the protocol's schema."""
    assert not (faults := _oracle(name).faults(value)), f"no {name}: {faults}\n{value}"
