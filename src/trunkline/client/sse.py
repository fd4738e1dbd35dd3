"""Server-Sent Events from bytes: a parser with no I/O.

Rule 1: bytes in, events out; where the bytes were cut never matters, and the cost stays linear in their number.
Rule 2: ``last_id`` is the position to reconnect from: it also moves on frames that carry an id and no data (the hub's
keep-alive on a filtered stream), as the standard says.
"""

from __future__ import annotations

import msgspec

from trunkline.dialects.outside import is_whole_number


class ServerEvent(msgspec.Struct, frozen=True, gc=False):
    """One dispatched event; ``id`` is the one that its own frame carried."""

    data: bytes
    name: str = "message"
    id: str | None = None


class EventParser:
    """Collects frames and hands them out whole."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self.retry_s: float | None = None
        """How long the server asked us to wait before reconnecting."""
        self._pending: list[bytes] = []
        self._carriage_return = False

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take what arrived; return the events that are complete now."""
        data = self._newlines(data)
        if not data:
            return []
        if not self._ends_a_frame(data):
            self._pending.append(data)
            return []
        *frames, rest = b"".join((*self._pending, data)).split(b"\n\n")
        self._pending = [rest] if rest else []
        return [event for frame in frames if (event := self._event(frame)) is not None]

    def _newlines(self, data: bytes) -> bytes:
        r"""``\r\n`` and ``\r`` as ``\n``; a ``\r`` at the end waits for what follows it."""
        if self._carriage_return:
            data = b"\r" + data
            self._carriage_return = False
        if b"\r" not in data:
            return data
        if data.endswith(b"\r"):
            data = data[:-1]
            self._carriage_return = True
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _ends_a_frame(self, data: bytes) -> bool:
        """A blank line may lie across two reads."""
        return b"\n\n" in data or (data.startswith(b"\n") and bool(self._pending) and self._pending[-1].endswith(b"\n"))

    def _event(self, frame: bytes) -> ServerEvent | None:
        lines: list[bytes] = []
        name, own_id = "message", None
        for line in frame.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                lines.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace") or "message"
            elif field == b"id" and b"\0" not in value:
                self.last_id = own_id = value.decode("utf-8", "replace")
            elif field == b"retry" and is_whole_number(value):
                self.retry_s = int(value) / 1000
        return ServerEvent(b"\n".join(lines), name, own_id) if lines else None
