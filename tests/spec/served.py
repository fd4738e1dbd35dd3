"""A hub as a product would meet it: its own process, asked over HTTP with nothing but the standard library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOKEN = "the-token-of-the-spec-tests"
ANSWER_S = 60


class ServedHub:
    """A client of a running hub."""

    def __init__(self, url: str) -> None:
        self.address = urlsplit(url).netloc

    def ask(self, method: str, path: str, body: object = None, accept: str = "application/json") -> HTTPResponse:
        """Send a request; the answer is open for reading."""
        connection = HTTPConnection(self.address, timeout=ANSWER_S)
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept, "Content-Type": "application/json",
                   "Connection": "close"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse()

    def json(self, method: str, path: str, body: object = None) -> Any:
        """Send a request and read its answer."""
        with self.ask(method, path, body) as answer:
            return json.loads(answer.read() or b"null")

    def session(self, folder: Path) -> str:
        """A new session with the demo agent."""
        return str(self.json("POST", "/sessions", {"agent": "demo", "cwd": str(folder)})["id"])

    def turn(self, session_id: str, prompt: str) -> Iterator[dict[str, str]]:
        """The frames of a turn, as they come: the fields of each Server-Sent Event."""
        path = f"/sessions/{session_id}/send-message"
        with self.ask("POST", path, {"content": prompt}, accept="text/event-stream") as answer:
            assert answer.status == 200
            assert str(answer.headers["Content-Type"]).startswith("text/event-stream")
            yield from frames(answer)


def frames(answer: HTTPResponse) -> Iterator[dict[str, str]]:
    """Server-Sent Events by hand: fields until a blank line; comments are left out."""
    fields: dict[str, str] = {}
    for raw in answer:
        line = raw.decode().rstrip("\n")
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields and not line:
            yield fields
            fields = {}


@contextmanager
def served(folder: Path) -> Iterator[ServedHub]:
    """``trunkline serve`` with its data in ``folder``; it ends with the test."""
    command = [sys.executable, "-m", "trunkline", "serve", "--no-open", "--port", "0", "--data", str(folder / "data")]
    env = {**os.environ, "TRUNKLINE_TOKEN": TOKEN}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield ServedHub(process.stdout.readline().removeprefix("trunkline is listening on ").strip())
        finally:
            process.terminate()
            try:
                process.wait(ANSWER_S)
            finally:
                process.kill()
