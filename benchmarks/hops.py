"""What one live chunk passes in the hub, from the agent's pipe to the write to its one reader: ``python -m benchmarks.hops``.

A real hub runs here, on asyncio's own loop, with the benchmark's agent and one reader in a thread. Of several chunks of a quiet
turn every call is looked at, and what all of them passed is counted, by two measures:

- *functions*: every function of ours that was called, helpers included;
- *hops*: those of them that handed the chunk on. A hop is on the stack when the next step is scheduled, when the reader is woken,
  or when its bytes are written. What only gives an answer back is none. ``entered`` are the packages of the hops, in their order.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from websockets.sync.client import ClientConnection, connect

FACES = ("sse", "ws", "acp")
ROOT = Path(__file__).resolve().parents[1]
OURS = str(ROOT / "src" / "trunkline") + os.sep
AGENT = f"{sys.executable} {shlex.quote(str(ROOT / 'benchmarks' / 'agent.py'))}"
TOKEN = "hops-token-0123456789abcdef"
CHUNK = b"agent_message_chunk"
CHUNKS = 8
PER_SECOND = 5
SKIPPED = 2
"""The first chunks of a message begin it, with the last one the end of its turn may be read: these do more, and are left out."""
STARTS_S = 60.0

Stack = tuple[str, ...]


class Passage:
    """What one chunk passed: functions in the order of their first call, and what was handed on, by whom."""

    def __init__(self) -> None:
        self.functions: dict[str, None] = {}
        self.scheduled: list[tuple[str, Stack]] = []
        self.woken: list[tuple[int, Stack]] = []
        self.written: tuple[int, Stack] | None = None

    def hops(self) -> list[str]:
        """The way back from the write: who woke its writer, who scheduled that, down to the pipe."""
        assert self.written is not None
        writer, stack = self.written
        way = [stack]
        way += [by for woken, by in self.woken if woken == writer][-1:]
        while not way[-1][0].endswith("data_received"):
            way.append(next(by for callback, by in reversed(self.scheduled) if callback == way[-1][0]))
        return list(dict.fromkeys(name for stack in reversed(way) for name in stack))


class Watcher:
    """Looks at every call of the loop's thread, from a chunk's arrival to its write."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self._passage: Passage | None = None
        self._names: dict[CodeType, str] = {}

    def profile(self, frame: FrameType, event: str, arg: Any) -> None:
        """What ``sys.setprofile`` calls."""
        if event == "call":
            self._on_call(frame)
        elif event == "c_call" and self._passage is not None and arg.__name__ == "set_result":
            for callback, _ in getattr(arg.__self__, "_callbacks", None) or ():
                self._passage.woken.append((id(getattr(callback, "__self__", None)), self._stack(frame)))

    def _on_call(self, frame: FrameType) -> None:
        name = self._name(frame.f_code)
        if name.startswith("agents/pipes.py:") and name.endswith(".data_received") and CHUNK in frame.f_locals["data"]:
            self._passage = Passage()
        if self._passage is None:
            return
        if name:
            self._passage.functions[name] = None
        elif frame.f_code.co_name in {"call_soon", "call_later", "call_at"}:
            callback = getattr(frame.f_locals["callback"], "__code__", None)
            if callback is not None:
                self._passage.scheduled.append((self._name(callback), self._stack(frame)))
        elif frame.f_code.co_name == "write" and frame.f_code.co_filename.endswith("selector_events.py"):
            self._passage.written = id(asyncio.current_task()), self._stack(frame)
            self.passages.append(self._passage)
            self._passage = None

    def _stack(self, frame: FrameType | None) -> Stack:
        names = []
        while frame is not None:
            if name := self._name(frame.f_code):
                names.append(name)
            if frame.f_code.co_name == "_run" and frame.f_code.co_filename.endswith("asyncio/events.py"):
                break
            frame = frame.f_back
        return tuple(reversed(names))

    def _name(self, code: CodeType) -> str:
        """``path:name`` of a function of ours; nothing for others, and for comprehensions."""
        name = self._names.get(code)
        if name is None:
            own = code.co_filename.startswith(OURS) and code.co_name not in {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}
            name = self._names[code] = f"{code.co_filename.removeprefix(OURS)}:{code.co_qualname}" if own else ""
        return name


class Reader:
    """One reader of one face, and the turn that it reads."""

    def __init__(self, port: int, work: str) -> None:
        self._port = port
        self._work = work

    def sse(self) -> None:
        """Packets over Server-Sent Events."""
        session_id = self._new_session()
        stream = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        stream.request("GET", f"/sessions/{session_id}/packets", headers=self._headers(Accept="text/event-stream"))
        lines = iter(stream.getresponse().readline, b"")
        self._prompt(session_id)
        until(lines, b"prompt_response")

    def ws(self) -> None:
        """Events over the WebSocket."""
        session_id = self._new_session()
        with self._socket("/ws") as line:
            line.send(json.dumps({"type": "hello", "versions": ["1.0.0"], "token": TOKEN}))
            line.send(json.dumps({"type": "subscribe", "id": "1", "sessions": [session_id]}))
            until(messages(line), b"ack")
            self._prompt(session_id)
            until(messages(line), b"session:status_changed", b"stopReason")

    def acp(self) -> None:
        """Updates to an editor."""
        with self._socket("/acp?agent=bench") as line:
            def ask(number: int, method: str, params: dict[str, Any]) -> Any:
                line.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
                return json.loads(until(messages(line), b'"id":%d,' % number))["result"]

            ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            session_id = ask(2, "session/new", {"cwd": self._work, "mcpServers": []})["sessionId"]
            ask(3, "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": prompt()}]})

    def _new_session(self) -> str:
        return str(self._call("/sessions", {"agent": "bench", "cwd": self._work})["id"])

    def _prompt(self, session_id: str) -> None:
        self._call(f"/sessions/{session_id}/send-message", {"content": prompt()})

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        connection.request("POST", path, json.dumps(body), self._headers(Accept="application/json"))
        return json.loads(connection.getresponse().read())

    def _headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **more}

    def _socket(self, path: str) -> ClientConnection:
        return connect(f"ws://127.0.0.1:{self._port}{path}", additional_headers=self._headers(), proxy=None, compression=None)


def prompt() -> str:
    """What the agent is asked for: chunks that are far apart."""
    return f"ticks {CHUNKS} {PER_SECOND}"


def messages(line: ClientConnection) -> Iterator[bytes]:
    """What comes, one after the other."""
    while True:
        message = line.recv(timeout=30)
        yield message.encode() if isinstance(message, str) else message


def until(lines: Iterator[bytes], *marks: bytes) -> bytes:
    """The first of the lines that has all marks."""
    return next(line for line in lines if all(mark in line for mark in marks))


def read_along(face: str, port: int, work: str) -> None:
    """Wait for the hub, read a turn, and end the hub."""
    try:
        deadline = time.monotonic() + STARTS_S
        while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < deadline:
            time.sleep(0.1)
        getattr(Reader(port, work), face)()
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def serve(face: str) -> list[Passage]:
    """Run a hub here until its reader has read a turn."""
    sys.modules["uvloop"] = None  # type: ignore[assignment]  # its calls cannot be looked at
    from trunkline.cli.main import main

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    watcher = Watcher()
    with tempfile.TemporaryDirectory(prefix="trunkline-hops-") as folder:
        os.environ |= {"TRUNKLINE_TOKEN": TOKEN, "XDG_CONFIG_HOME": f"{folder}/config"}
        Path(folder, "work").mkdir()
        threading.Thread(target=read_along, args=(face, port, f"{folder}/work"), daemon=True).start()
        sys.argv = ["trunkline", "serve", "--no-open", "--log-level", "error", "--port", str(port), "--data", f"{folder}/data",
                    "--agent", f"bench={AGENT}"]
        sys.setprofile(watcher.profile)
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
    return watcher.passages[SKIPPED:-1]


def common(lists: list[list[str]]) -> list[str]:
    """What all of them have, in the order of the first."""
    return [name for name in lists[0] if all(name in each for each in lists)]


def entered(names: list[str], depth: int) -> list[str]:
    """The packages of functions, each time that another is entered."""
    packages = ["/".join(name.partition(":")[0].split("/")[:-1][:depth]) or name.partition(":")[0] for name in names]
    return [package for package, _ in groupby(packages)]


def report(face: str, passages: list[Passage], *, names: bool) -> None:
    """One face's counts, and the packages that were entered."""
    functions = common([list(passage.functions) for passage in passages])
    hops = common([passage.hops() for passage in passages])
    print(f"{face}: {len(functions)} functions, {len(hops)} hops ({len(passages)} chunks)")
    for depth in (1, 2):
        way = entered(hops, depth)
        print(f"  entered: {' > '.join(way)}; at most {max(Counter(way).values())} times")
    if names:
        print(*(f"  {'*' if name in hops else ' '} {name}" for name in functions), sep="\n")


def main() -> None:
    """Every face in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("face", nargs="?", choices=FACES)
    parser.add_argument("--names", action="store_true", help="also list the functions; hops have a star")
    asked = parser.parse_args()
    if asked.face is not None:
        report(asked.face, serve(asked.face), names=asked.names)
        return
    more = ["--names"] if asked.names else []
    for face in FACES:
        subprocess.run([sys.executable, "-m", "benchmarks.hops", face, *more], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
