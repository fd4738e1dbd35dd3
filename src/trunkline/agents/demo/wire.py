"""The demo's end of the pipe: JSON-RPC 2.0, one message a line.

Rule 1: only ``Wire`` writes to the real stdout. The process's own stdout points to stderr, so a stray print cannot break a line.
Rule 2: a hub that is gone ends the agent.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from trunkline.dialects.error_codes import ErrorCode

Json = dict[str, Any]

_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_dump_ascii = json.JSONEncoder(separators=(",", ":")).encode


def encode(message: object) -> bytes:
    """One message as bytes, without the line's end."""
    try:
        return _dump(message).encode()
    except UnicodeEncodeError:  # a lone surrogate that somebody sent us: only an escape can carry it
        return _dump_ascii(message).encode()


class DemoWire:
    """Reads messages from stdin, writes whole lines to stdout; safe to use from any thread."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def messages(self) -> Iterator[Json]:
        """Every message until the end of stdin; what is none is answered with an error and left out."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                self.fail(None, ErrorCode.PARSE_ERROR, "a line was not JSON")
                continue
            if isinstance(message, dict):
                yield message
            elif message is not None:
                self.fail(None, ErrorCode.INVALID_REQUEST, "a message must be one object")

    def write(self, data: bytes) -> None:
        """Write bytes, all of them."""
        view = memoryview(data)
        with self._lock:
            while view:
                try:
                    view = view[os.write(self._out, view) :]
                except BrokenPipeError:
                    os._exit(0)

    def send(self, *messages: Json) -> None:
        """Write messages, together."""
        self.write(b"".join(encode({"jsonrpc": "2.0", **message}) + b"\n" for message in messages))

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def answer(self, request_id: object, result: Json) -> None:
        """Answer a request."""
        self.send({"id": request_id, "result": result})

    def fail(self, request_id: object, code: int, message: str, data: object = None) -> None:
        """Answer a request with an error."""
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.send({"id": request_id, "error": error})


class Refused(Exception):
    """A request of the client that cannot be served: becomes an error answer."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
