"""An agent that asks whether it may run a command and goes on talking below. Stdlib only; runs by itself.

The prompt is a JSON object: ``commands`` (each is asked for), ``calls`` (members of further calls that are asked for),
``options`` (what it offers), ``question`` (what it asks first: the members of an elicitation), ``before`` (what it says before it
asks), ``words`` (how many it says while they wait, before it writes something that looks like another ask), ``withdrawn`` (how
many more it asks for and takes back).
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


def ask(number: int, fields: Json, options: list[Json]) -> None:
    """Ask for one call."""
    call = {"toolCallId": f"call{number}", "title": "Bash", "kind": "execute", **fields}
    update(sessionUpdate="tool_call", status="pending", **call)
    send(id=f"ask{number}", method="session/request_permission",
         params={"sessionId": "one", "toolCall": call, "options": options})


def question(fields: Json) -> None:
    """Ask something, and say what the answer was."""
    send(id="question", method="elicitation/create", params={"sessionId": "one", **fields})
    while (message := json.loads(sys.stdin.readline())).get("id") != "question":
        pass
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": json.dumps(message.get("result")) + "\n"})


def turn(script: Json) -> None:
    """Ask, talk, wait for all answers, and say what they were."""
    if "question" in script:
        question(script["question"])
    if "before" in script:
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": script["before"]})
    options = script.get("options", OPTIONS)
    calls = [*({"rawInput": {"command": command}} for command in script.get("commands", ())), *script.get("calls", ())]
    for number, call in enumerate(calls):
        ask(number, call, options)
    for number in range(script.get("withdrawn", 0)):
        ask(100 + number, {"rawInput": {"command": "touch other.txt"}}, options)
        send(method="$/cancel_request", params={"requestId": f"ask{100 + number}"})
    for chunk in [*(f"w{number} " for number in range(script["words"])), FAKE]:
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": chunk})
    answers: dict[str, str | None] = {}
    while len(answers) < len(calls):
        message = json.loads(sys.stdin.readline())
        if message.get("id") in {f"ask{number}" for number in range(len(calls))}:
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
