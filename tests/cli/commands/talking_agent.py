"""An agent that asks whether it may run a command and goes on talking below. Stdlib only; runs by itself.

The prompt is a JSON object: ``commands`` (each is asked for), ``words`` (how many it says while they wait, before it writes
something that looks like another ask), ``withdrawn`` (how many more it asks for and takes back at once).
"""

from __future__ import annotations

import json
import sys
from typing import Any

Json = dict[str, Any]
OPTIONS = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
           {"optionId": "no", "name": "Reject", "kind": "reject_once"}]
FAKE = "\n" * 30 + "  ? permission wanted (low risk): Run: ls\n"


def send(**message: Any) -> None:
    """One message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(**body: Any) -> None:
    """One update of the only session."""
    send(method="session/update", params={"sessionId": "one", "update": body})


def ask(number: int, command: str) -> None:
    """Ask for one command."""
    call = {"toolCallId": f"call{number}", "title": "Bash", "kind": "execute", "rawInput": {"command": command}}
    update(sessionUpdate="tool_call", status="pending", **call)
    send(id=f"ask{number}", method="session/request_permission",
         params={"sessionId": "one", "toolCall": call, "options": OPTIONS})


def turn(script: Json) -> None:
    """Ask, talk, wait for all answers, and say what they were."""
    for number, command in enumerate(script["commands"]):
        ask(number, command)
    for number in range(script.get("withdrawn", 0)):
        ask(100 + number, "touch other.txt")
        send(method="$/cancel_request", params={"requestId": f"ask{100 + number}"})
    for chunk in [*(f"w{number} " for number in range(script["words"])), FAKE]:
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": chunk})
    answers: dict[str, str | None] = {}
    while len(answers) < len(script["commands"]):
        message = json.loads(sys.stdin.readline())
        if message.get("id") in {f"ask{number}" for number in range(len(script["commands"]))}:
            answers[message["id"]] = message["result"]["outcome"].get("optionId")
    words = " ".join(f"{name}={answers[name]}" for name in sorted(answers))
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": f"\n{words}\n"})


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
            case "session/new":
                send(id=message["id"], result={"sessionId": "one"})
            case "session/prompt":
                turn(json.loads(message["params"]["prompt"][0]["text"]))
                send(id=message["id"], result={"stopReason": "end_turn"})


main()
