"""What the hub streams, as a client reads it: JSON objects that keep their bytes and are decoded when first looked into.

Rule: whatever the hub sent that cannot be read is Unavailable, told by ``read_as`` and ``converted`` and by nothing else: a proxy
may answer in its place, and another version may say it in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from trunkline.dialects.outside import BROKEN
from trunkline.errors import Unavailable

if TYPE_CHECKING:
    from trunkline.dialects.context.envelope import UnknownEvent
    from trunkline.dialects.context.events import Event

T = TypeVar("T")


def read_as(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """JSON of the hub's as ``kind``, or Unavailable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except BROKEN as error:
        raise _unreadable(error) from error


def converted(value: Any, kind: type[T]) -> T:
    """What was decoded as ``kind``, or Unavailable."""
    try:
        return msgspec.convert(value, kind)
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
    """One event of the Agent Context Protocol. ``pos`` is its place in the whole hub, where the hub told it."""

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
