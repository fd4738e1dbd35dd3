"""An agent that keeps to the protocol, but for the cases of the checklist that the arguments name. Stdlib only; runs by itself.

What it does is up to the prompt: ``say`` (a word), ``burst`` (ten words), ``long`` (until cancelled), ``ask`` (a permission),
``question`` (a form, where the client has some), ``read PATH`` and ``terminal`` (by means of the client's, where it offers them).
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

FAULTS = set(sys.argv[1:])
Json = dict[str, Any]
MODES = ("ask", "code")
WORD = "grüß dich "


def breaks(case: str) -> bool:
    """Whether this is what it does wrong."""
    return case in FAULTS


class Agent:
    """Serves one client."""

    def __init__(self) -> None:
        self.sessions: dict[str, Json] = {}
        self.running: dict[str, Any] = {}
        """Sessions with a prompt that is not answered, and its id."""
        self.waiting: dict[str, str] = {}
        """Permissions that are not answered, and their sessions."""
        self.errors = 0

    # -- saying

    def send(self, message: Json) -> None:
        """One line."""
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        sys.stdout.buffer.write(line.encode("latin-1" if breaks("TRANSPORT-002") else "utf-8") + b"\n")
        sys.stdout.buffer.flush()

    def update(self, session_id: str, kind: str, **body: Any) -> None:
        """One update."""
        name = "type" if breaks("PROMPT-002") else "sessionUpdate"
        self.send({"method": "session/update", "params": {"sessionId": session_id, "update": {name: kind, **body}}})

    def say(self, session_id: str, text: str, kind: str = "agent_message_chunk") -> None:
        """One chunk."""
        self.sessions[session_id]["said"].append((kind, text))
        self.update(session_id, kind, content={"type": "text", "text": text})

    def answer(self, request_id: Any, result: Any) -> None:
        """A result."""
        self.send({"id": str(request_id) if breaks("JSONRPC-001") else request_id, "result": result})

    def refuse(self, request_id: Any, code: int, message: str = "no") -> None:
        """An error."""
        self.errors += 1
        more: Json = {"result": {}} if breaks("JSONRPC-002") else {}
        message = "no\nno" if breaks("ERROR-001") else message
        self.send({"id": request_id, "error": {"code": code, "message": message}, **more})

    # -- turns

    def prompt(self, request_id: Any, params: Json) -> None:
        """A turn begins."""
        session_id, blocks = params["sessionId"], params["prompt"]
        if session_id not in self.sessions:
            self.refuse(request_id, -32002)
            return
        if breaks("PROMPT-003") and any(block["type"] == "resource_link" for block in blocks):
            self.refuse(request_id, -32602)
            return
        self.running[session_id] = request_id
        self.sessions[session_id]["said"].append(("user_message_chunk", blocks[0]["text"]))
        self.play(session_id, blocks[0]["text"])

    def play(self, session_id: str, text: str) -> None:
        """What the prompt says."""
        word, _, rest = text.partition(" ")
        match word:
            case "long":
                self.say(session_id, "working")
                return
            case "ask":
                self.ask(session_id)
                return
            case "question" if breaks("CLIENTCAP-003"):
                self.send({"id": "form", "method": "elicitation/create", "params": {"sessionId": session_id}})
                return
            case "question":
                return
            case "read" if breaks("CLIENTCAP-001"):
                self.send({"id": "file", "method": "fs/read_text_file", "params": {"sessionId": session_id, "path": rest}})
            case "terminal" if breaks("CLIENTCAP-002"):
                self.send({"id": "t", "method": "terminal/create", "params": {"sessionId": session_id, "command": "true"}})
            case "burst":
                self.burst(session_id)
                return
        self.say(session_id, "" if breaks("CONCURRENT-001") and len(self.running) > 1 else WORD)
        self.end(session_id, "done" if breaks("PROMPT-001") else "end_turn")

    def burst(self, session_id: str) -> None:
        """Much, fast."""
        for _ in range(9 if breaks("PROMPT-004") else 10):
            self.say(session_id, WORD)
        self.end(session_id, "end_turn")

    def ask(self, session_id: str) -> None:
        """A permission."""
        if not breaks("PERMISSION-002"):
            self.update(session_id, "tool_call", toolCallId="c", title="Run")
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]
        request = {"method": "session/request_permission", "params": {
            "sessionId": session_id, "toolCall": {"toolCallId": "c"}, "options": options}}
        if breaks("PERMISSION-001"):
            self.send(request)
            self.end(session_id, "end_turn")
            return
        self.waiting[f"p-{session_id}"] = session_id
        self.send({"id": f"p-{session_id}", **request})

    def decided(self, message: Json) -> None:
        """The client answered something."""
        session_id = self.waiting.pop(str(message["id"]), None)
        if session_id is None:
            return
        outcome = message["result"]["outcome"]
        if breaks("PERMISSION-003") and outcome.get("optionId") == "n":
            del self.sessions[session_id]
        self.end(session_id, "cancelled" if outcome["outcome"] == "cancelled" and not breaks("PERMISSION-004") else "end_turn")

    def end(self, session_id: str, stop: str) -> None:
        """The turn is over."""
        request_id = self.running.pop(session_id, None)
        if request_id is not None:
            self.answer(request_id, {"stopReason": stop})

    def cancel(self, session_id: str) -> None:
        """End what runs."""
        if breaks("CANCEL-003") and time.monotonic() - self.sessions.get(session_id, {"at": 0})["at"] < 0.2:
            return
        if session_id in self.waiting.values() and not breaks("PERMISSION-004"):
            self.waiting = {ask: each for ask, each in self.waiting.items() if each != session_id}
        for each in [*self.running] if breaks("CONCURRENT-002") else [session_id]:
            if each in self.running and each not in self.waiting.values():
                self.end(each, "end_turn" if breaks("CANCEL-001") or breaks("CLOSE-002") else "cancelled")
        if breaks("CANCEL-002"):
            self.say(session_id, "and one more thing")
        if breaks("CANCEL-004"):
            del self.sessions[session_id]

    # -- sessions

    def new(self, request_id: Any, params: Json) -> None:
        """A session is made."""
        if breaks("CONCURRENT-003") and self.running:
            return
        session_id = "" if breaks("SESSION-001") else "one" if breaks("SESSION-002") else f"s{len(self.sessions)}"
        self.sessions[session_id] = {"cwd": params["cwd"], "said": [], "at": time.monotonic()}
        if breaks("SESSION-003"):
            self.say(session_id, "welcome")
        more = [{"id": "loud", "name": "Loud", "type": "boolean", "currentValue": True}] if breaks("CONFIG-003") else []
        modes = {"currentModeId": "ask", "availableModes": [{"id": mode, "name": mode} for mode in MODES]}
        self.answer(request_id, {"sessionId": session_id, "modes": modes, "configOptions": [*self.options("small"), *more]})
        if breaks("SESSION-001"):
            del self.sessions[""]

    def options(self, model: str) -> list[Json]:
        """What can be chosen."""
        values = [{"value": value, "name": value} for value in ("small", "large")]
        return [{"id": "model", "name": "Model", "type": "select", "currentValue": model, "options": values}]

    def load(self, request_id: Any, params: Json) -> None:
        """A session is opened again."""
        session = self.sessions.get(params["sessionId"])
        if session is None:
            self.answer(request_id, {}) if breaks("LOAD-002") else self.refuse(request_id, -32002)
            return
        if not breaks("LOAD-001"):
            self.replay(params["sessionId"])
        self.answer(request_id, None if breaks("LOAD-003") else {})

    def replay(self, session_id: str) -> None:
        """What was said."""
        for kind, text in self.sessions[session_id]["said"]:
            self.update(session_id, kind, content={"type": "text", "text": text})

    def resume(self, request_id: Any, params: Json) -> None:
        """A session goes on."""
        if breaks("RESUME-001"):
            self.replay(params["sessionId"])
        self.answer(request_id, {})

    def list(self, request_id: Any, params: Json) -> None:
        """The sessions there are."""
        found = [{"sessionId": name, "cwd": session["cwd"]} for name, session in self.sessions.items()
                 if breaks("LIST-002") or session["cwd"] == params.get("cwd", session["cwd"])]
        self.answer(request_id, {"sessions": [] if breaks("LIST-001") else found})

    def close(self, request_id: Any, params: Json) -> None:
        """A session's work ends."""
        self.cancel(params["sessionId"])
        self.answer(request_id, None if breaks("CLOSE-001") else {})

    def delete(self, request_id: Any, params: Json) -> None:
        """A session is forgotten."""
        if breaks("DELETE-002") and params["sessionId"] not in self.sessions:
            self.refuse(request_id, -32002)
            return
        if not breaks("DELETE-001"):
            self.sessions.pop(params["sessionId"], None)
        self.answer(request_id, {})

    def set_mode(self, request_id: Any, params: Json) -> None:
        """Another mode."""
        known = params["modeId"] in MODES
        wrong = (known and breaks("MODES-001")) or (not known and not breaks("MODES-002"))
        self.refuse(request_id, -32602) if wrong else self.answer(request_id, {})

    def set_option(self, request_id: Any, params: Json) -> None:
        """Another value."""
        self.answer(request_id, {"configOptions": [] if breaks("CONFIG-001") else self.options(params["value"])})

    # -- the wire

    def greet(self, request_id: Any, params: Json) -> None:
        """The handshake."""
        version: Any = params["protocolVersion"] if breaks("INIT-003") else 2 if breaks("INIT-002") else 1
        marker: Any = True if breaks("INIT-005") else {}
        offered = {name: marker for name in ("resume", "list", "close", "delete")}
        terminal = [{"id": "t", "name": "Terminal", "type": "terminal"}] if breaks("AUTH-002") else []
        self.answer(request_id, {
            "protocolVersion": "1" if breaks("INIT-001") else version, "authMethods": terminal,
            "agentInfo": {} if breaks("INIT-004") else {"name": "bad", "version": "1"},
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": offered}})

    def notified(self, method: str, params: Json) -> None:
        """Something that wants no answer."""
        if method == "session/cancel":
            self.cancel(params["sessionId"])
        if method == "$/cancel_request" and not breaks("CANCEL-005"):
            for session_id in [name for name, request_id in self.running.items() if request_id == params["requestId"]]:
                self.end(session_id, "cancelled")
        if breaks("JSONRPC-003"):
            self.answer(None, {})

    def requested(self, request_id: Any, method: str, params: Json) -> None:
        """Something that wants one."""
        served = {"initialize": (self.greet, ["protocolVersion"]), "session/new": (self.new, ["cwd"]),
                  "session/prompt": (self.prompt, ["sessionId", "prompt"]), "session/load": (self.load, ["sessionId"]),
                  "session/resume": (self.resume, ["sessionId"]), "session/list": (self.list, []),
                  "session/close": (self.close, ["sessionId"]), "session/delete": (self.delete, ["sessionId"]),
                  "session/set_mode": (self.set_mode, ["modeId"]), "session/set_config_option": (self.set_option, ["value"])}
        if breaks("META-001") and "_meta" in params:
            self.refuse(request_id, -32602)
        elif breaks("JSONRPC-005") and self.errors:
            return
        elif method in served and all(name in params for name in served[method][1]):
            served[method][0](request_id, params)
        elif method in served:
            self.refuse(request_id, -32602)
        elif not (breaks("EXT-001") and method.startswith("_")):
            self.refuse(request_id, -32603 if breaks("JSONRPC-004") else -32601)

    def take(self, line: bytes) -> None:
        """One line of stdin."""
        try:
            message = json.loads(line)
        except ValueError:
            if breaks("JSONRPC-007"):
                sys.exit(1)
            self.send({"id": None, "error": {"code": -32000 if breaks("JSONRPC-006") else -32700, "message": "parse error"}})
            return
        if not isinstance(message, dict):
            return
        if "method" not in message:
            if "id" in message:
                self.decided(message)
        elif "id" in message:
            self.requested(message["id"], message["method"], message.get("params") or {})
        else:
            self.notified(message["method"], message.get("params") or {})


def main() -> None:
    """Serve until stdin ends."""
    if breaks("TRANSPORT-001"):
        print("starting up", flush=True)
    agent = Agent()
    for line in sys.stdin.buffer:
        agent.take(line)
    if breaks("SHUTDOWN-001"):
        time.sleep(60)


if __name__ == "__main__":
    main()
