"""A recorded agent as a live one: answers a client on stdio with the lines of a transcript. Stdlib only; runs on its own.

    replay_agent.py TRANSCRIPT RUN

It plays the first session of the run. A request of the client is taken for the next recorded request of that method; then come
the lines that the agent wrote, up to the next recorded request. Where the recorded client answered or cancelled, it waits for
this client to do so too. Paths of the recorded project are turned into the folder of this session.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

Json = dict[str, Any]
RECORDED_FOLDERS = ("/home/dev/project-2", "/home/dev/project-3", "/home/dev/project")
PATIENCE_S = 60.0


def read(path: str, run: str) -> list[tuple[bool, Json]]:
    """The run's messages: whether the agent wrote it, and what."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["run"] == run and line["dir"] in ("a>c", "c>a"):
                try:
                    found.append((line["dir"] == "a>c", json.loads(line["raw"])))
                except ValueError:
                    continue  # the line that was broken on purpose, by the client
    return found


def first_session(messages: list[tuple[bool, Json]]) -> str:
    """The id of the first session that the recorded agent made."""
    asked = next(message["id"] for from_agent, message in messages if not from_agent and message.get("method") == "session/new")
    return str(next(message["result"]["sessionId"] for from_agent, message in messages
                    if from_agent and message.get("id") == asked and "method" not in message))


def moved(text: str, folder: str) -> str:
    """The text with paths of the recorded project in another folder."""
    for recorded in RECORDED_FOLDERS:
        text = text.replace(recorded, folder)
    return text


class Replay:
    """Plays one run."""

    def __init__(self, messages: list[tuple[bool, Json]]) -> None:
        self._session_id = first_session(messages)
        self._messages = self._of_this_session(messages)
        self._cursor = 0
        self._folder = ""
        self._heard = threading.Condition()
        self._answers: set[str] = set()
        self._is_cancelled = False

    def serve(self) -> None:
        """Take messages until stdin ends."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self._folder = message["params"].get("cwd", self._folder)
                threading.Thread(target=self._play, args=(message,), daemon=True).start()
                continue
            with self._heard:
                if message.get("method") == "session/cancel":
                    self._is_cancelled = True
                elif "method" not in message:
                    self._answers.add(json.dumps(message["id"]))
                self._heard.notify_all()

    def _of_this_session(self, messages: list[tuple[bool, Json]]) -> list[tuple[bool, Json]]:
        """Without what other sessions of the run said and were asked."""
        def is_ours(message: Json) -> bool:
            return bool((message.get("params") or {}).get("sessionId", self._session_id) == self._session_id)

        foreign = {json.dumps(message["id"]) for from_agent, message in messages
                   if not from_agent and "method" in message and "id" in message and not is_ours(message)}
        return [(from_agent, message) for from_agent, message in messages if is_ours(message)
                and not (from_agent and "method" not in message and json.dumps(message.get("id")) in foreign)]

    def _play(self, request: Json) -> None:
        position = self._find(request["method"])
        if position is None:
            self._send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "not in the transcript"}})
            return
        recorded = self._messages[position][1]["id"]
        if request["method"] == "session/prompt":
            self._is_cancelled = False
        for index in range(position + 1, len(self._messages)):
            from_agent, message = self._messages[index]
            is_request = "method" in message and "id" in message
            if not from_agent and is_request:
                break
            self._cursor = index + 1
            if from_agent:
                self._tell(message, recorded, request["id"])
            else:
                self._wait_for(message)

    def _find(self, method: str) -> int | None:
        for index in range(self._cursor, len(self._messages)):
            from_agent, message = self._messages[index]
            if not from_agent and message.get("method") == method and "id" in message:
                return index
        return None

    def _tell(self, message: Json, recorded_id: object, real_id: object) -> None:
        if "method" not in message:
            if message.get("id") != recorded_id:
                return  # an answer to something that this client never asked
            message = {**message, "id": real_id}
        self._send(message)

    def _wait_for(self, message: Json) -> None:
        with self._heard:
            if not self._heard.wait_for(lambda: self._has_arrived(message), PATIENCE_S):
                sys.stderr.write(f"the client never said: {message}\n")
                os._exit(1)

    def _has_arrived(self, message: Json) -> bool:
        return self._is_cancelled if "method" in message else json.dumps(message["id"]) in self._answers

    def _send(self, message: Json) -> None:
        sys.stdout.write(moved(json.dumps(message), self._folder) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    Replay(read(sys.argv[1], sys.argv[2])).serve()
