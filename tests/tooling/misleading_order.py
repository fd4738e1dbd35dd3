"""An agent that misleads by order and ids. It only announces and asks: it runs nothing and touches no file. Runs on its own.

Its plays are those of a table (tests/session/misleading.toml); a prompt is the number of one. The steps of a play:

    {do = "call", …}      announces a tool call with these members
    {do = "update", …}    says more of it
    {do = "ask", …}       asks for permission with these members, and waits for the answer

``id`` tells the calls of one play apart. When the play is over it says every answer, as a JSON list of the options' ids.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import tomllib
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Play = list[Json]

OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]
OWN = ("do", "id", "harmless")
"""Members of a step that are not said to anybody."""


class Misleader:
    """Serves one client, one play per prompt."""

    def __init__(self, plays: list[Play]) -> None:
        self._plays = plays
        self._lock = threading.Lock()
        self._answered = threading.Condition()
        self._answers: dict[str, Json] = {}
        self._asked = 0

    def serve(self) -> None:
        """Take messages until stdin ends."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                with self._answered:
                    self._answers[str(message["id"])] = message
                    self._answered.notify_all()
            elif message["method"] == "session/prompt":
                threading.Thread(target=self._play, args=(message,), daemon=True).start()
            elif "id" in message:
                self._send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
                            if message["method"] == "initialize" else {"sessionId": "misleading"}})

    def _play(self, prompt: Json) -> None:
        number = int(prompt["params"]["prompt"][0]["text"])
        answers = [answer for step in self._plays[number] if (answer := self._step(step, number)) is not None]
        self._update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": json.dumps(answers)}})
        self._send({"id": prompt["id"], "result": {"stopReason": "end_turn"}})

    def _step(self, step: Json, number: int) -> str | None:
        said = {"toolCallId": step.get("id", f"call-{number}"), **{key: value for key, value in step.items() if key not in OWN}}
        if step["do"] == "ask":
            return self._ask(said)
        kind = "tool_call" if step["do"] == "call" else "tool_call_update"
        self._update({"sessionUpdate": kind, **({"title": said.get("name", "")} if kind == "tool_call" else {}), **said})
        return None

    def _ask(self, said: Json) -> str:
        self._asked += 1
        request_id = f"ask-{self._asked}"
        self._send({"id": request_id, "method": "session/request_permission",
                    "params": {"sessionId": "misleading", "toolCall": said, "options": OPTIONS}})
        with self._answered:
            self._answered.wait_for(lambda: request_id in self._answers)
        outcome: Json = self._answers.pop(request_id).get("result", {}).get("outcome", {})
        return str(outcome.get("optionId", "cancelled"))

    def _update(self, update: Json) -> None:
        self._send({"method": "session/update", "params": {"sessionId": "misleading", "update": update}})

    def _send(self, message: Json) -> None:
        with self._lock:
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            sys.stdout.buffer.flush()


def plays_of(table: Json) -> list[Play]:
    """The plays of a table, in its order."""
    return [play for group in table["order"] for play in group["plays"]]


def serve_table(path: str, plays: Callable[[Json], list[Play]]) -> None:
    """Serve the plays of the table at ``path``."""
    with open(path, "rb") as file:
        Misleader(plays(tomllib.load(file))).serve()
    os._exit(0)


if __name__ == "__main__":
    serve_table(sys.argv[1], plays_of)
