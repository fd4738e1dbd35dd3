"""HTTP and Server-Sent Events by hand: the tests see the bytes that any client would see, and nothing of ours stands between.

Rule 1: nothing here imports the project.
Rule 2: every wait has a deadline; a test that waits in vain fails with what it has seen so far.
Rule 3: frames are read strictly: what is not a frame as the documents describe it is an error, not skipped.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

Headers = Mapping[str, str]
WAIT_S = 60.0
SSE = {"Accept": "text/event-stream"}


class Reply(NamedTuple):
    """An answer, read whole. ``headers`` have lower-case names; repeated ones are joined with commas."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    def expect(self, status: int) -> Any:
        """The decoded body of an answer that must have this status; None where it has no body."""
        assert self.status == status, f"{self.status} is not {status}: {self.body[:2000]!r}"
        return json.loads(self.body) if self.body else None


class Packet(NamedTuple):
    """One ``event: message``: its id and the bytes of its data line. Without an id it is no entry."""

    id: int | None
    data: bytes

    @property
    def value(self) -> dict[str, Any]:
        """The packet, decoded."""
        value: dict[str, Any] = json.loads(self.data)
        return value

    @property
    def type(self) -> str:
        """The packet's type."""
        return str(self.value["type"])


class Broken(Exception):
    """The other side ended the connection in the middle of something, or said something that is not HTTP."""


class Wire:
    """One server and one credential."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self.host = host
        self.port = port
        self.token = token

    def as_nobody(self) -> Wire:
        """The same server without a credential."""
        return Wire(self.host, self.port, None)

    def with_token(self, token: str) -> Wire:
        """The same server with another credential."""
        return Wire(self.host, self.port, token)

    def ask(self, method: str, path: str, body: Any = None, headers: Headers | None = None, wait_s: float = WAIT_S) -> Reply:
        """One request and its whole answer. A body that is not bytes goes as JSON."""
        with self.connect(method, path, body, {"Accept": "application/json", **(headers or {})}, wait_s=wait_s) as answer:
            return Reply(answer.status, answer.headers, answer.read_all())

    def get(self, path: str, headers: Headers | None = None) -> Any:
        """The decoded body of a GET that must work."""
        return self.ask("GET", path, headers=headers).expect(200)

    def post(self, path: str, body: Any = None, status: int = 200, headers: Headers | None = None) -> Any:
        """The decoded body of a POST that must work."""
        return self.ask("POST", path, {} if body is None else body, headers).expect(status)

    def stream(self, path: str, *, last_event_id: int | None = None, wait_s: float = WAIT_S,
               receive_buffer: int | None = None) -> Stream:
        """Attach to a stream of packets."""
        headers = dict(SSE) if last_event_id is None else {**SSE, "Last-Event-ID": str(last_event_id)}
        return Stream(self.connect("GET", path, None, headers, wait_s=wait_s, receive_buffer=receive_buffer))

    def send_message(self, session_id: str, content: Any, headers: Headers | None = None, wait_s: float = WAIT_S,
                     **more: Any) -> Stream:
        """Send a prompt and stream its turn."""
        path, asked = f"/sessions/{session_id}/send-message", {**SSE, **(headers or {})}
        return Stream(self.connect("POST", path, {"content": content, **more}, asked, wait_s=wait_s))

    def connect(self, method: str, path: str, body: Any, headers: Headers | None = None, *, wait_s: float = WAIT_S,
                receive_buffer: int | None = None) -> Answer:
        """Send a request and read the head of its answer."""
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(wait_s)
        try:
            connection.connect((self.host, self.port))
            connection.sendall(self._request(method, path, body, headers or {}))
            return Answer(connection, wait_s)
        except BaseException:
            connection.close()
            raise

    def _request(self, method: str, path: str, body: Any, headers: Headers) -> bytes:
        payload = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        head = {"Host": f"{self.host}:{self.port}", "Connection": "close"}
        if body is not None:
            head["Content-Length"] = str(len(payload))
            if not isinstance(body, bytes):
                head["Content-Type"] = "application/json"
        if self.token is not None:
            head["Authorization"] = f"Bearer {self.token}"
        head |= headers
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        return "\r\n".join(lines).encode("latin-1") + payload


class Answer:
    """An answer whose head is read; its body comes as the server sends it."""

    def __init__(self, connection: socket.socket, wait_s: float) -> None:
        self._connection = connection
        self._until = time.monotonic() + wait_s
        self._held = bytearray()
        self.status, self.headers = self._head()
        self._body = self._chunks() if self.headers.get("transfer-encoding") == "chunked" else self._plain()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Cut the connection."""
        self._connection.close()

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, to its proper end."""
        return self._body

    def read_all(self) -> bytes:
        """All of the body."""
        return b"".join(self._body)

    def allow(self, wait_s: float) -> None:
        """Give it this much time from now on."""
        self._until = time.monotonic() + wait_s

    def _more(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer did not come in time")
        self._connection.settimeout(left)
        data = self._connection.recv(65536)
        if not data:
            raise Broken("the connection ended early")
        self._held += data

    def _line(self) -> bytes:
        while (end := self._held.find(b"\r\n")) < 0:
            self._more()
        line = bytes(self._held[:end])
        del self._held[:end + 2]
        return line

    def _take(self, size: int) -> bytes:
        while len(self._held) < size:
            self._more()
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def _head(self) -> tuple[int, dict[str, str]]:
        version, status, *_ = self._line().split(b" ")
        if version != b"HTTP/1.1":
            raise Broken(f"not HTTP/1.1: {version!r}")
        headers: dict[str, str] = {}
        while line := self._line():
            name, _, value = line.decode("latin-1").partition(":")
            name, value = name.lower(), value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return int(status), headers

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._line().split(b";")[0], 16):
            yield self._take(size)
            if self._line():
                raise Broken("a chunk is longer than it said")
        self._line()

    def _plain(self) -> Iterator[bytes]:
        size = int(self.headers.get("content-length", "0"))
        if size:
            yield self._take(size)


class Stream:
    """A stream of packets. Iterating ends with the stream; ``close`` cuts it wherever it is."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.comments: list[bytes] = []
        self.position: int | None = None
        self.seen: list[Packet] = []
        self._packets = self._read() if self.is_stream else iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __iter__(self) -> Iterator[Packet]:
        return self

    def __next__(self) -> Packet:
        packet = next(self._packets)
        self.seen.append(packet)
        return packet

    @property
    def is_stream(self) -> bool:
        """Whether the server answered with a stream at all."""
        return self.answer.status == 200 and self.answer.headers.get("content-type", "").startswith("text/event-stream")

    def expect(self) -> Self:
        """The stream itself, if it is one."""
        assert self.is_stream, f"{self.answer.status}: {self.answer.read_all()[:2000]!r}"
        return self

    def reply(self) -> Reply:
        """The answer, where it is no stream."""
        assert not self.is_stream, "the server sent a stream"
        return Reply(self.answer.status, self.answer.headers, self.answer.read_all())

    def close(self) -> None:
        """Cut the connection."""
        self.answer.close()

    def until(self, *types: str, where: Callable[[dict[str, Any]], bool] = lambda packet: True) -> Packet:
        """Read on to the first packet of one of these types; the stream must not end before."""
        for packet in self:
            if packet.type in types and where(packet.value):
                return packet
        raise AssertionError(f"the stream ended without {types}: {[packet.type for packet in self.seen]}")

    def rest(self) -> list[Packet]:
        """Everything to the end of the stream."""
        return list(self)

    def _read(self) -> Iterator[Packet]:
        held = bytearray()
        for piece in self.answer.pieces():
            held += piece
            start = 0
            while (end := held.find(b"\n\n", start)) >= 0:
                packet = self._frame(bytes(held[start:end]))
                start = end + 2
                if packet is not None:
                    yield packet
            del held[:start]
        if held:
            raise Broken(f"the stream ended inside a frame: {bytes(held[:200])!r}")

    def _frame(self, frame: bytes) -> Packet | None:
        if frame.startswith(b":"):
            assert b"\n" not in frame, f"a comment stands alone: {frame[:200]!r}"
            self.comments.append(frame[1:].strip())
            return None
        lines = frame.split(b"\n")
        if len(lines) == 1 and lines[0].startswith(b"id: "):
            self.position = int(lines[0][4:])  # on a stream that leaves entries out: where it is by now
            return None
        names = [line.partition(b": ")[0] for line in lines]
        assert names in ([b"event", b"id", b"data"], [b"event", b"data"]), f"not a frame: {frame[:300]!r}"
        values = dict(line.split(b": ", 1) for line in lines)
        assert values[b"event"] == b"message", frame[:300]
        return Packet(int(values[b"id"]) if b"id" in values else None, values[b"data"])
