"""A stand-in for the Claude Code CLI that does exactly what each prompt tells it: the prompt's text is a JSON list of steps.

    ["say", TEXT]              an assistant message of one text, streamed
    ["frame", OBJECT]          any frame (session_id is added)
    ["line", TEXT]             TEXT as a line of stdout
    ["ask", TOOL, INPUT]       a tool call, can_use_tool for it; says the answer as JSON
    ["long", KIND, MIB]        one line of so many MiB: ``text``, ``delta``, ``input``, ``output``, ``wide``, ``escaped``,
                               ``ask``, ``unknown``, ``broken``
    ["own"]                    begins a turn of its own, as a background task would, and ends ours first
    ["own_end"]                ends it
    ["child"]                  starts ``sleep 180`` in a session of its own; says its pid
    ["stderr", TEXT]           a line on stderr
    ["wait"]                   until it is interrupted
    ["await", FILE]            until the file exists
    ["hang"]                   for ever, whatever comes
    ["die", CODE]              exits
    ["result", OBJECT]         ends the turn with these fields; without it, the last step is followed by a success

Everything that it reads is appended to the file that FAKE_CLAUDE_LOG names, one JSON object a line: first ``{"argv", "files"}``
(the files that arguments name, with content and mode), then each line of stdin, at last ``{"eof": true}``. FAKE_CLAUDE_OPTIONS
is a JSON object: ``version``, ``missing`` (a list of ids that it refuses to resume), ``fail`` (text on stderr, then exit 1),
``silent`` (subtypes that it never answers), ``refuse`` (``{subtype: error}``), ``deaf`` (it answers nothing, reads everything).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from typing import Any

Json = dict[str, Any]

COMMANDS = [{"name": "compact", "description": "Shorten the conversation", "argumentHint": "[how]"}]
MODELS = [{"value": "default", "displayName": "Default", "description": "the usual one"},
          {"value": "small", "displayName": "Small", "description": "a small one"}]


_RESULT = (b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_long","content":"',
           b'"}]},"parent_tool_use_id":null}')
LONG: dict[str, tuple[bytes, bytes, bytes]] = {
    "text": (b'{"type":"assistant","message":{"id":"msg_long","role":"assistant","content":[{"type":"text","text":"', b"lorem ip",
             b'"}]},"parent_tool_use_id":null}'),
    "delta": (b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
              b"lorem ip", b'"}},"parent_tool_use_id":null}'),
    "input": (b'{"type":"assistant","message":{"id":"msg_long","role":"assistant","content":[{"type":"tool_use","id":"toolu_in",'
              b'"name":"Write","input":{"file_path":"long.txt","content":"', b"lorem ip", b'"}}]},"parent_tool_use_id":null}'),
    "output": (_RESULT[0], b"lorem ip", _RESULT[1]),
    "wide": (_RESULT[0], "\u00e9\u4f60\u00e9z".encode(), _RESULT[1]),
    "escaped": (_RESULT[0], rb"ab\n\"cd", _RESULT[1]),
    "ask": (b'{"type":"control_request","request_id":"long-ask","request":{"subtype":"can_use_tool","tool_name":"Write",'
            b'"tool_use_id":"toolu_ask","input":{"file_path":"long.txt","content":"', b"lorem ip", b'"}}}'),
    "unknown": (b'{"type":"system","subtype":"news","text":"', b"lorem ip", b'"}'),
    "broken": (b"{", b"lorem ip", b""),
}
"""What ``long`` writes: the head of the line, what is repeated in it, its tail."""


class FakeClaude:
    """Serves one host."""

    def __init__(self, argv: list[str], options: Json) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._answers: dict[str, Json] = {}
        self._answered = threading.Condition()
        self._interrupted = threading.Event()
        self._log = os.open(os.environ["FAKE_CLAUDE_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.session_id = _value(argv, "--session-id") or _value(argv, "--resume") or str(uuid.uuid4())
        self._resumes = _value(argv, "--resume")
        self._note({"argv": argv, "files": {word: _file(word) for word in argv if word.startswith("/")}})

    def serve(self) -> None:
        """Take lines until stdin ends."""
        if "fail" in self._options:
            os.write(2, self._options["fail"].encode() + b"\n")
            os._exit(1)
        if self._resumes in self._options.get("missing", []):
            self._refuse_to_resume()
        for line in sys.stdin.buffer:
            frame = json.loads(line)
            self._note(frame)
            if not self._options.get("deaf"):
                self._take(frame)
        self._note({"eof": True})

    def _refuse_to_resume(self) -> None:
        why = f"No conversation found with session ID: {self._resumes}"
        os.write(2, why.encode() + b"\n")
        self._end(subtype="error_during_execution", is_error=True, errors=[why])
        os._exit(1)

    def _take(self, frame: Json) -> None:
        kind = frame["type"]
        if kind == "control_request":
            self._serve(frame["request_id"], frame["request"])
        elif kind == "control_response":
            with self._answered:
                self._answers[frame["response"]["request_id"]] = frame["response"]
                self._answered.notify_all()
        elif kind == "user":
            self._interrupted.clear()
            threading.Thread(target=self._play, args=(frame,), daemon=True).start()

    def _serve(self, request_id: str, request: Json) -> None:
        subtype = request["subtype"]
        if subtype in self._options.get("silent", []):
            return
        answer: Json = {"subtype": "success", "request_id": request_id}
        if subtype in self._options.get("refuse", {}):
            answer |= {"subtype": "error", "error": self._options["refuse"][subtype]}
        elif subtype == "initialize":
            answer["response"] = {"commands": COMMANDS, "models": MODELS, "account": {}, "agents": [], "output_style": "default"}
        elif subtype == "set_permission_mode":
            answer["response"] = {"mode": request["mode"]}
        elif subtype == "interrupt":
            with self._answered:
                self._interrupted.set()
                self._answered.notify_all()
        self._send({"type": "control_response", "response": answer})

    def _play(self, prompt: Json) -> None:
        self._begin()
        content = prompt["message"]["content"]
        steps = json.loads(content if isinstance(content, str) else content[0]["text"])
        for name, *rest in steps:
            if name == "result":
                self._end(**rest[0])
            else:
                getattr(self, f"_step_{name}")(*rest)
        if not any(name in ("result", "own") for name, *_ in steps):
            self._end(**self._outcome())

    def _outcome(self) -> Json:
        if not self._interrupted.is_set():
            return {}
        return {"subtype": "error_during_execution", "is_error": True, "terminal_reason": "aborted_streaming", "errors": []}

    def _begin(self) -> None:
        self._send({"type": "system", "subtype": "init", "cwd": os.getcwd(), "tools": ["Bash"], "mcp_servers": [],
                    "model": "fake-model", "permissionMode": "default", "slash_commands": ["compact"],
                    "claude_code_version": self._options.get("version", "2.1.112"), "apiKeySource": "none"})

    def _end(self, **fields: Any) -> None:
        self._send({"type": "result", "subtype": "success", "is_error": False, "duration_ms": 1, "num_turns": 1, "result": "",
                    "stop_reason": "end_turn", "terminal_reason": "completed", "total_cost_usd": 0.0,
                    "usage": {"input_tokens": 1, "output_tokens": 1}, "modelUsage": {}, "permission_denials": [], **fields})

    def _step_say(self, text: str) -> None:
        message_id = "msg_" + uuid.uuid4().hex[:12]
        message: Json = {"id": message_id, "type": "message", "role": "assistant", "model": "fake-model", "content": [],
                   "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        block = {"type": "text", "text": text}
        self._stream({"type": "message_start", "message": message},
                     {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                     {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        self._send({"type": "assistant", "message": {**message, "content": [block]}, "parent_tool_use_id": None})
        self._stream({"type": "content_block_stop", "index": 0},
                     {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
                     {"type": "message_stop"})

    def _stream(self, *events: Json) -> None:
        for event in events:
            self._send({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def _step_frame(self, frame: Json) -> None:
        self._send(frame)

    def _step_line(self, text: str) -> None:
        self._write(text.encode() + b"\n")

    def _step_long(self, kind: str, mib: int) -> None:
        head, piece, tail = LONG[kind]
        if kind in ("output", "wide", "escaped"):
            self._send({"type": "assistant", "parent_tool_use_id": None, "message": {"id": "msg_long", "content": [
                {"type": "tool_use", "id": "toolu_long", "name": "Read", "input": {"file_path": "long.txt"}}]}})
        self._write(b"".join((head, piece * ((mib << 20) // len(piece) - 64), tail, b"\n")))
        if kind == "ask":
            with self._answered:
                self._answered.wait_for(lambda: "long-ask" in self._answers or self._interrupted.is_set())
                answer = self._answers.get("long-ask", {})
            self._step_say(json.dumps(answer.get("response")))

    def _step_ask(self, tool: str, given: Json) -> None:
        request_id, call = str(uuid.uuid4()), "toolu_" + uuid.uuid4().hex[:12]
        message = {"id": "msg_" + uuid.uuid4().hex[:12], "type": "message", "role": "assistant", "model": "fake-model",
                   "content": [{"type": "tool_use", "id": call, "name": tool, "input": given}], "stop_reason": None,
                   "usage": {"input_tokens": 1, "output_tokens": 1}}
        self._send({"type": "assistant", "message": message, "parent_tool_use_id": None})
        self._send({"type": "control_request", "request_id": request_id, "request": {
            "subtype": "can_use_tool", "tool_name": tool, "input": given, "permission_suggestions": [], "tool_use_id": call}})
        with self._answered:
            self._answered.wait_for(lambda: request_id in self._answers or self._interrupted.is_set())
            answer = self._answers.get(request_id)
        if answer is None:
            self._send({"type": "control_cancel_request", "request_id": request_id})
            return
        self._step_say(json.dumps(answer.get("response")))

    def _step_own(self) -> None:
        self._end()
        self._begin()

    def _step_own_end(self) -> None:
        self._end()

    def _step_child(self) -> None:
        child = subprocess.Popen(["sleep", "180"], stdin=subprocess.DEVNULL, start_new_session=True)
        self._step_say(str(child.pid))

    def _step_stderr(self, text: str) -> None:
        os.write(2, text.encode() + b"\n")

    def _step_wait(self) -> None:
        self._interrupted.wait()

    def _step_await(self, path: str) -> None:
        while not os.path.exists(path):
            time.sleep(0.005)

    def _step_hang(self) -> None:
        threading.Event().wait()

    def _step_die(self, code: int) -> None:
        os._exit(code)

    def _send(self, frame: Json) -> None:
        if not frame["type"].startswith("control_"):
            frame = {"session_id": self.session_id, "uuid": str(uuid.uuid4()), **frame}
        self._write(json.dumps(frame).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def _note(self, what: Json) -> None:
        os.write(self._log, json.dumps(what).encode() + b"\n")


def _value(argv: list[str], flag: str) -> str | None:
    return next((word.partition("=")[2] for word in argv if word.startswith(flag + "=")), None)


def _file(path: str) -> Json | None:
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        return {"content": file.read(), "mode": os.stat(path).st_mode & 0o777}


def main() -> None:
    """Tell the version, or serve."""
    options = json.loads(os.environ.get("FAKE_CLAUDE_OPTIONS", "{}"))
    if sys.argv[1:] == ["--version"]:
        print(f"{options.get('version', '2.1.112')} (Claude Code)")
        return
    FakeClaude(sys.argv[1:], options).serve()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
