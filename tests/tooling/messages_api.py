"""A Messages API on loopback that answers as the prompt says, for the real CLI that would otherwise need a key and a network.

Point the CLI at ``url`` with ANTHROPIC_BASE_URL and any ANTHROPIC_API_KEY. The prompt carries the whole script:
``FAKE:[{step}, {step}, …]``, anywhere in the newest user text (``script`` writes it). Nothing is remembered between requests:
the step to answer with is the number of assistant messages since that prompt, so a step that calls tools is followed by the next
one once their results are in. Past the end of the script, or without one, it says "fake: ok".

A step is an object; every key is optional:

    {"think": "text",                             a thinking block
     "text": "answer",                            a text block
     "tools": [{"name": "Bash", "input": {…}}],   tool calls; several run in parallel
     "stop": "max_tokens",                        instead of end_turn or tool_use
     "chunk": 12, "delay": 0.2,                   characters per text delta, seconds between them (to interrupt it)
     "hang": 30,                                  seconds of silence before the stream begins
     "stall": 60,                                 seconds of silence in the middle of the stream
     "drop": true,                                cut the connection in the middle of the stream
     "status": 529, "error": "overloaded_error",  an HTTP error instead of an answer, with "text" as its message,
     "times": 1}                                  a fault (status, drop) happens this often, then the step is answered

Requests without tools that quote the prompt (titles, classifiers) get a short JSON title and use up no step.
"""

from __future__ import annotations

import collections
import json
import socket
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]

MARK = "FAKE:"
PIECE = 40
"""Characters of a tool call's input in one streamed delta."""
OK: Json = {"text": "fake: ok"}
TITLE: Json = {"text": '{"title": "Fake session title"}'}


def script(*steps: Json) -> str:
    """The prompt that plays these steps."""
    return MARK + json.dumps(list(steps))


class MessagesApi:
    """The server; a context manager. ``url`` is its address, ``requests`` the bodies of what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self.faults: collections.Counter[str] = collections.Counter()
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Reply,), {"api": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def told(self) -> list[str]:
        """The conversations that it was sent, request by request."""
        return [json.dumps(request["messages"]) for request in list(self.requests) if "messages" in request]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def fault_is_due(self, key: str, step: Json) -> bool:
        """Whether a scripted fault happens (again)."""
        with self.lock:
            self.faults[key] += 1
            return bool(self.faults[key] <= step.get("times", float("inf")))


# What the script says


def texts_of(message: Json) -> list[str]:
    """The texts of one message."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [block.get("text", "") for block in content or [] if block.get("type") == "text"]


def is_new_prompt(message: Json) -> bool:
    """Something a person typed: no tool results, none of the CLI's own reminders in angle brackets or interruption notes."""
    content = message.get("content")
    if isinstance(content, list) and any(block.get("type") == "tool_result" for block in content):
        return False
    return any(text.strip() and not text.lstrip().startswith(("<", "[Request")) for text in texts_of(message))


def read_script(text: str) -> list[Json] | None:
    """The steps in a text; None where it has none."""
    at = text.find(MARK + "[")
    if at < 0:
        return None
    try:
        steps: list[Json] = json.JSONDecoder().raw_decode(text[at + len(MARK):])[0]
    except ValueError:
        return None
    return steps


def find_step(messages: list[Json]) -> tuple[Json | None, str]:
    """The step of the newest prompt's script that this request is for, and a key that names it; (None, "") without one."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") != "user":
            continue
        for text in reversed(texts_of(messages[index])):
            steps = read_script(text)
            if steps is not None:
                number = sum(message.get("role") == "assistant" for message in messages[index + 1:])
                return (steps[number] if number < len(steps) else OK), f"{text}#{number}"
        if is_new_prompt(messages[index]):
            break
    return None, ""


def choose_step(request: Json) -> tuple[Json, str]:
    """What a request is answered with."""
    step, key = find_step(request.get("messages") or [])
    if step is None:
        return OK, key
    if not request.get("tools") and (request.get("max_tokens") or 0) <= 4096:
        return TITLE, key
    return step, key


# What is answered


def blocks_of(step: Json) -> list[Json]:
    """A step as content blocks."""
    blocks: list[Json] = []
    if step.get("think"):
        blocks.append({"type": "thinking", "thinking": step["think"], "signature": "c2ln"})
    if step.get("text") is not None:
        blocks.append({"type": "text", "text": step["text"]})
    for tool in step.get("tools") or []:
        name = tool.get("id") or "toolu_" + uuid.uuid4().hex[:24]
        blocks.append({"type": "tool_use", "id": name, "name": tool["name"], "input": tool.get("input", {})})
    return blocks


def opening_of(block: Json) -> Json:
    """A block as it is before its first delta."""
    empty: dict[str, Json] = {
        "text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
    return {**block, **empty[block["type"]]}


def deltas_of(block: Json, size: int) -> Iterator[Json]:
    """The pieces in which a block is streamed."""
    if block["type"] == "text":
        for at in range(0, len(block["text"]), size):
            yield {"type": "text_delta", "text": block["text"][at:at + size]}
    elif block["type"] == "thinking":
        yield {"type": "thinking_delta", "thinking": block["thinking"]}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        text = json.dumps(block["input"])
        for at in range(0, len(text), PIECE):
            yield {"type": "input_json_delta", "partial_json": text[at:at + PIECE]}


class _Reply(BaseHTTPRequestHandler):
    api: MessagesApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._start(200, content_length="0")

    def do_GET(self) -> None:
        if self.path.startswith("/v1/models"):
            self._json(200, {"data": [], "has_more": False})
        else:
            self._problem(404, "not_found_error", f"no such path {self.path}")

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        request: Json = json.loads(self.rfile.read(size) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self._json(200, {"input_tokens": max(1, size // 4)})
        if not path.endswith("/v1/messages"):
            return self._problem(404, "not_found_error", f"no such path {self.path}")
        self.api.requests.append(request)
        step, key = choose_step(request)
        faulty = bool(step.get("status") or step.get("drop")) and self.api.fault_is_due(key, step)
        if faulty and step.get("status"):
            return self._problem(step["status"], step.get("error", "api_error"), step.get("text", "scripted error"))
        self.api.stopping.wait(step.get("hang", 0))
        try:
            self._answer(request, step if faulty else {**step, "drop": False})
        except OSError:  # the client went away, or the scripted cut
            self.close_connection = True
        return None

    def _answer(self, request: Json, step: Json) -> None:
        blocks = blocks_of(step)
        stop = step.get("stop") or ("tool_use" if step.get("tools") else "end_turn")
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 50,
                 "service_tier": "standard"}
        message = {"id": "msg_" + uuid.uuid4().hex[:24], "type": "message", "role": "assistant",
                   "model": request.get("model", "fake"), "content": blocks, "stop_reason": stop, "stop_sequence": None,
                   "usage": usage}
        if not request.get("stream"):
            return self._json(200, message)
        self._start(200, content_type="text/event-stream", cache_control="no-cache", transfer_encoding="chunked")
        begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        self._event("message_start", message=begun)
        self._event("ping")
        for index, block in enumerate(blocks):
            self._stream(index, block, step)
        self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        self._event("message_stop")
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _stream(self, index: int, block: Json, step: Json) -> None:
        self._event("content_block_start", index=index, content_block=opening_of(block))
        for number, delta in enumerate(deltas_of(block, step.get("chunk", 12))):
            self._event("content_block_delta", index=index, delta=delta)
            if block["type"] == "text":
                self._misbehave(step, number)
        self._event("content_block_stop", index=index)

    def _misbehave(self, step: Json, number: int) -> None:
        """After a text delta: the scripted pause; after the second one: the scripted cut or stall."""
        self.api.stopping.wait(step.get("delay", 0))
        if number == 1 and step.get("drop"):
            self.connection.shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError("scripted cut")
        if number == 1:
            self.api.stopping.wait(step.get("stall", 0))

    def _start(self, status: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("request-id", "req_" + uuid.uuid4().hex[:24])
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _json(self, status: int, value: Any, **headers: str) -> None:
        body = json.dumps(value).encode()
        self._start(status, content_type="application/json", content_length=str(len(body)), **headers)
        self.wfile.write(body)

    def _problem(self, status: int, kind: str, message: str) -> None:
        self._json(status, {"type": "error", "error": {"type": kind, "message": message}}, retry_after="0")

    def _event(self, name: str, **fields: Any) -> None:
        frame = f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
