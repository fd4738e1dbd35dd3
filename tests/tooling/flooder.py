"""An agent that says a great deal. Stdlib only; runs on its own. A prompt is one of these, in plain words:

    calls N [end]          N tool calls, which stay open, or end
    chunks N               N message chunks of a few words
    asks N                 N permissions, all at once; says how each was answered: ``{"answered": N, "refused": N}``
    chunk MIB              one message chunk of so many MiB
    content MIB            a tool call whose result shows a text of so many MiB
    output MIB             a tool call whose raw output is a text of so many MiB
    broken MIB             a line of so many MiB that is no JSON
    nested MIB             a tool call whose raw output is arrays of so many MiB
    wide MIB               the same as ``content``, in letters outside ASCII
    escaped MIB            the same as ``content``, of line ends and quotes
    write MIB              fs/write_text_file with so many MiB; says whether it was done
    smile MIB              the same, of letters that take four bytes each
    deaf METHOD COUNT PATH asks so many times, with that path, and reads nothing any more
    read PATH              fs/read_text_file; says how many characters came
    padded KIND COUNT MIB  so many requests with a member of so many MiB: meta or id of a permission, content, path, env, name
    wait                   until the turn is cancelled
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

Json = dict[str, Any]
SESSION = "flood"
_ASKED: Json = {"sessionId": "SESSION", "toolCall": {"toolCallId": "cNUMBER", "title": "t", "kind": "execute",
                                                     "rawInput": {"command": "ls"}}}
_OPTION: Json = {"optionId": "a", "name": "A", "kind": "allow_once"}
_ASK = "session/request_permission"
PADDED: dict[str, Json] = {
    "meta": {"id": "NUMBER", "method": _ASK, "params": {**_ASKED, "options": [_OPTION], "_meta": {"x": "PAD"}}},
    "id": {"id": "NUMBERPAD", "method": _ASK, "params": {**_ASKED, "options": [_OPTION]}},
    "name": {"id": "NUMBER", "method": _ASK, "params": {**_ASKED, "options": [{**_OPTION, "name": "PAD"}]}},
    "content": {"id": "NUMBER", "method": "fs/write_text_file",
                "params": {"sessionId": "SESSION", "path": "fNUMBER", "content": "PAD"}},
    "path": {"id": "NUMBER", "method": "fs/write_text_file", "params": {"sessionId": "SESSION", "path": "PAD", "content": "x"}},
    "read": {"id": "NUMBER", "method": "fs/read_text_file", "params": {"sessionId": "SESSION", "path": "PAD"}},
    "env": {"id": "NUMBER", "method": "terminal/create",
            "params": {"sessionId": "SESSION", "command": "true", "env": [{"name": "A", "value": "PAD"}]}},
    "question": {"id": "NUMBER", "method": "elicitation/create",
                 "params": {"sessionId": "SESSION", "mode": "form", "message": "q", "requestedSchema": {"type": "object"},
                            "toolCallId": "PAD"}},
    "note": {"method": "whatever", "params": {"x": "PAD"}},
}
"""Requests with a long member, as templates."""


class Flooder:
    """Serves one client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._came = threading.Condition()
        self._answers: list[Json] = []
        self._cancelled = threading.Event()
        self._asked = 0

    def serve(self) -> None:
        """Take messages until stdin ends."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            method = message.get("method")
            if method is None:
                with self._came:
                    self._answers.append(message)
                    self._came.notify_all()
            elif method == "session/prompt":
                self._cancelled.clear()
                if message["params"]["prompt"][0]["text"].startswith("deaf"):
                    self._play(message)  # and read nothing meanwhile
                threading.Thread(target=self._play, args=(message,), daemon=True).start()
            elif method == "session/cancel":
                self._cancelled.set()
            elif method == "initialize":
                self._send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
            else:
                self._send({"id": message["id"], "result": {"sessionId": SESSION}})

    def _play(self, prompt: Json) -> None:
        name, *words = prompt["params"]["prompt"][0]["text"].split()
        getattr(self, "_write_file" if name == "write" else f"_{name}")(*words)
        stop = "cancelled" if self._cancelled.is_set() else "end_turn"
        self._send({"id": prompt["id"], "result": {"stopReason": stop}})

    def _calls(self, count: str, end: str = "") -> None:
        for number in range(int(count)):
            self._update({"sessionUpdate": "tool_call", "toolCallId": f"call-{number}", "title": f"Read {number}.txt",
                          "kind": "read", "status": "in_progress", "rawInput": {"path": f"{number}.txt"}})
            if end:
                self._update({"sessionUpdate": "tool_call_update", "toolCallId": f"call-{number}", "status": "completed"})

    def _chunks(self, count: str) -> None:
        for number in range(int(count)):
            self._say(f"word number {number} of a long answer. ")

    def _asks(self, count: str) -> None:
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        for number in range(int(count)):
            call = {"toolCallId": f"ask-{number}", "title": f"Run {number}", "kind": "execute",
                    "rawInput": {"command": f"echo {number}"}}
            self._ask("session/request_permission", {"toolCall": call, "options": options})
        refused = self._refusals(int(count) - 200)
        self._say(json.dumps({"refused": refused}))
        with self._came:
            self._came.wait_for(lambda: len(self._answers) == int(count) or self._cancelled.is_set())

    def _refusals(self, least: int) -> int:
        with self._came:
            self._came.wait_for(lambda: len(self._answers) >= least or self._cancelled.is_set())
            return sum("error" in answer for answer in self._answers)

    def _chunk(self, mib: str) -> None:
        self._long(b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"', b"lorem ip", mib, b'"}}')

    def _content(self, mib: str, piece: bytes = b"lorem ip") -> None:
        self._calls("1")
        head = b'{"sessionUpdate":"tool_call_update","toolCallId":"call-0","status":"completed","content":[{"type":"content",'
        self._long(head + b'"content":{"type":"text","text":"', piece, mib, b'"}}]}')

    def _wide(self, mib: str) -> None:
        self._content(mib, "\u00e9\u4f60\u00e9z".encode())

    def _escaped(self, mib: str) -> None:
        self._content(mib, rb"ab\n\"cd")

    def _output(self, mib: str) -> None:
        self._calls("1")
        head = b'{"sessionUpdate":"tool_call_update","toolCallId":"call-0","status":"completed","rawOutput":{"text":"'
        self._long(head, b"lorem ip", mib, b'"}}')

    def _nested(self, mib: str) -> None:
        self._calls("1")
        head = b'{"sessionUpdate":"tool_call_update","toolCallId":"call-0","status":"completed","rawOutput":['
        self._long(head, b"[[],[]],", mib, b"0]}")

    def _broken(self, mib: str) -> None:
        self._write(b"{" + b"lorem ip" * (int(mib) << 17) + b"\n")

    def _write_file(self, mib: str) -> None:
        self._ask("fs/write_text_file", {"path": "flood.txt", "content": "lorem ip" * (int(mib) << 17)})
        self._say(json.dumps({"done": "result" in self._answer()}))

    def _smile(self, mib: str) -> None:
        head = (b'{"jsonrpc":"2.0","id":"s","method":"fs/write_text_file","params":{"sessionId":"%b","path":"flood.txt",'
                b'"content":"')
        piece = "abc\U0001f600z".encode()
        self._write(head % SESSION.encode() + piece * ((int(mib) << 20) // len(piece) - 64) + b'"}}\n')
        self._say(json.dumps({"done": "result" in self._answer()}))

    def _deaf(self, method: str, count: str, path: str) -> None:
        for _ in range(int(count)):
            self._ask(method, {"path": path})
        self._cancelled.wait()

    def _read(self, path: str) -> None:
        self._ask("fs/read_text_file", {"path": path})
        self._say(json.dumps({"chars": len(self._answer().get("result", {}).get("content", ""))}))

    def _padded(self, kind: str, count: str, mib: str) -> None:
        template = json.dumps({"jsonrpc": "2.0", **PADDED[kind]}).encode()
        before, after = template.replace(b"SESSION", SESSION.encode()).split(b"PAD")
        for number in range(int(count)):
            name = str(number).encode()
            self._write(b"%b%b%b\n" % (before.replace(b"NUMBER", name), b"p" * (int(mib) << 20), after.replace(b"NUMBER", name)))
        self._say("sent")
        self._cancelled.wait()

    def _wait(self) -> None:
        self._cancelled.wait()

    def _answer(self) -> Json:
        with self._came:
            self._came.wait_for(lambda: self._answers)
            return self._answers.pop()

    def _long(self, head: bytes, piece: bytes, mib: str, tail: bytes) -> None:
        count = int(mib) * (1 << 20) // len(piece) - 64
        whole = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%b","update":%b' % (SESSION.encode(), head)
        self._write(b"".join((whole, piece * count, tail, b"}}\n")))

    def _say(self, text: str) -> None:
        self._update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def _update(self, update: Json) -> None:
        self._send({"method": "session/update", "params": {"sessionId": SESSION, "update": update}})

    def _ask(self, method: str, params: Json) -> None:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": {"sessionId": SESSION, **params}})

    def _send(self, message: Json) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    Flooder().serve()
