"""What the hub streams, as a client reads it: Server-Sent Events from bytes, and JSON objects that keep their bytes and are
decoded when first looked into. No I/O.

Rule 1: bytes in, events out; where the bytes were cut never matters, and the cost stays linear in their number.
Rule 2: ``last_id`` is the position to reconnect from: it also moves on frames that carry an id and no data (the hub's
keep-alive on a filtered stream), as the standard says.
Rule 3: whatever the hub sent that cannot be read is Unavailable, raised by ``read_as`` and ``converted`` and by nothing else: a
proxy may answer in its place, and another version may say it in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN, is_whole_number
from trunkline.errors import Unavailable

if TYPE_CHECKING:
    from trunkline.dialects.context.envelope import UnknownEvent
    from trunkline.dialects.context.events import Event

FRAME_MOST = 512 << 20
"""Bytes of one event: the longest line of an agent has 64 MiB, and an event of it may say it more than once, escaped."""


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
        self._size = 0
        """Bytes that wait for the rest of their frame."""
        self._carriage_return = False

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take what arrived; return the events that are complete now."""
        data = self._newlines(data)
        if not data:
            return []
        if not self._ends_a_frame(data):
            self._pending.append(data)
            self._size += len(data)
            if self._size > FRAME_MOST:
                raise Unavailable(f"the hub sent an event of more than {FRAME_MOST >> 20} MiB")
            return []
        *frames, rest = b"".join((*self._pending, data)).split(b"\n\n")
        self._pending = [rest] if rest else []
        self._size = len(rest)
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


T = TypeVar("T")


def read_as(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """JSON of the hub's as ``kind``, or Unavailable."""
    try:
        return decoders.decode(raw, kind)
    except BROKEN as error:
        raise _unreadable(error) from error


def converted(value: Any, kind: type[T]) -> T:
    """What was decoded as ``kind``, or Unavailable."""
    try:
        return decoders.convert(value, kind)
    except BROKEN as error:
        raise _unreadable(error) from error


def _unreadable(why: object) -> Unavailable:
    return Unavailable(f"the hub sent what cannot be read: {why}")


class Record(Mapping[str, Any]):
    """A JSON object: reads like a dict; ``raw`` is the JSON exactly as the hub sent it, decoded when first looked into."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @cached_property
    def _fields(self) -> dict[str, Any]:
        return read_as(self.raw, dict[str, Any])

    @property
    def type(self) -> str:
        """What kind of object it is; every one says."""
        return str(self._fields.get("type", ""))

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.raw!r})"


class Packet(Record):
    """One packet of the packets face."""

    def ends_turn(self) -> bool:
        """Whether this is the last packet of a turn."""
        return self.type in ("prompt_response", "error")


class ContextEvent(Record):
    """One event of the Agent Context Protocol. ``pos`` is its place in the whole hub, where the hub sent it."""

    def __init__(self, raw: bytes, pos: int | None = None) -> None:
        super().__init__(raw)
        self.pos = pos

    @property
    def seq(self) -> int:
        """Its place in its session."""
        return converted(self._fields.get("seq"), int)

    @property
    def session_id(self) -> str:
        """The session that it is of."""
        return converted(self._fields.get("sessionId"), str)

    def typed(self) -> Event | UnknownEvent:
        """The event as its own type; ``UnknownEvent`` where a newer hub sent what this version cannot read."""
        from trunkline.dialects.context.envelope import decode_event
        return decode_event(self.raw)
