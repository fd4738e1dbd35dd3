"""An agent that does what the arguments say is wrong, and everything else barely right. Stdlib only; runs on its own.

Faults: echo (any version), noise (a log line on stdout), both (result and error), replies (to notifications), deaf (to cancel),
late (an update after the answer), notify (a permission without an id), type (the wrong discriminator), ids (numbers as strings),
mixed (all sessions have one id), unasked (reads a file that was not offered), stays (after the end of stdin).
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

FAULTS = set(sys.argv[1:])
Json = dict[str, Any]
_sessions: list[str] = []
_running: dict[str, Any] = {}
_pending: list[tuple[Any, str]] = []


def send(message: Json) -> None:
    """One line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session_id: str, body: Json) -> None:
    """One update."""
    if "type" in FAULTS:
        body["type"] = body.pop("sessionUpdate")
    send({"method": "session/update", "params": {"sessionId": session_id, "update": body}})


def say(session_id: str, text: str) -> None:
    """One chunk."""
    update(session_id, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


def answer(request_id: Any, result: Json) -> None:
    """A result."""
    if "ids" in FAULTS:
        request_id = str(request_id)
    send({"id": request_id, "result": result, **({"error": {"code": 1, "message": "x"}} if "both" in FAULTS else {})})


def prompt(request_id: Any, params: Json) -> None:
    """A turn."""
    session_id, text = params["sessionId"], params["prompt"][0]["text"]
    if session_id not in _sessions:
        send({"id": request_id, "error": {"code": -32002, "message": "no such session"}})
        return
    if text == "long":
        say(session_id, "working")
        _running[session_id] = request_id
        return
    if text == "ask":
        update(session_id, {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run"})
        ask: Json = {"method": "session/request_permission", "params": {
            "sessionId": session_id, "toolCall": {"toolCallId": "c"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}}
        send(ask if "notify" in FAULTS else {"id": "p", **ask})
        _pending.append((request_id, session_id))
        if "notify" in FAULTS:
            settle("end_turn")
        return
    if text.startswith("read") and "unasked" in FAULTS:
        send({"id": "r", "method": "fs/read_text_file", "params": {"sessionId": session_id, "path": text[5:]}})
    say(session_id, "hello")
    answer(request_id, {"stopReason": "end_turn"})
    if "late" in FAULTS:
        say(session_id, "and one more thing")


def settle(stop: str) -> None:
    """End the turn that waits for a permission."""
    while _pending:
        request_id, _ = _pending.pop()
        answer(request_id, {"stopReason": stop})


def cancel(session_id: str) -> None:
    """End what runs."""
    if "deaf" not in FAULTS and session_id in _running:
        answer(_running.pop(session_id), {"stopReason": "cancelled"})
    settle("cancelled")


def serve(message: Json) -> None:
    """One message."""
    method, params = message.get("method"), message.get("params") or {}
    if method is None:
        settle("end_turn")
    elif "id" not in message:
        if method == "session/cancel":
            cancel(params["sessionId"])
        if "replies" in FAULTS:
            answer(None, {})
    elif method == "initialize":
        version = params["protocolVersion"] if "echo" in FAULTS else 1
        answer(message["id"], {"protocolVersion": version, "agentInfo": {"name": "bad", "version": "1"}})
    elif method == "session/new" and "cwd" in params:
        _sessions.append("one" if "mixed" in FAULTS else f"s{len(_sessions)}")
        answer(message["id"], {"sessionId": _sessions[-1]})
    elif method == "session/prompt" and "prompt" in params:
        prompt(message["id"], params)
    else:
        send({"id": message["id"], "error": {"code": -32601 if method not in ("session/new", "session/prompt") else -32602,
                                             "message": "no"}})


def main() -> None:
    """Serve until stdin ends."""
    if "noise" in FAULTS:
        print("starting up", flush=True)
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            send({"id": None, "error": {"code": -32700, "message": "parse error"}})
            continue
        if isinstance(message, dict) and ("method" in message or "id" in message):
            serve(message)
    if "stays" in FAULTS:
        time.sleep(60)


if __name__ == "__main__":
    main()
