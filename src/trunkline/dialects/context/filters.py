"""Which events somebody wants: ``tool:start`` exactly, ``tool:`` by prefix, several with commas between.

Rule 1: a word that no event can ever match is refused, so that a slip of the pen is no stream that stays silent.
Rule 2: an encoded event is looked at, not decoded: its type stands at a known place (see ``envelope.py``).
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from trunkline import decoders
from trunkline.dialects.context.events import EVENTS, event_types
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid

_HEAD = re.compile(rb'\{"seq":\d+,"sessionId":"[^"\\]*(?:\\.[^"\\]*)*","timestamp":"[^"\\]*","type":"([^"\\]*)"')


class _Typed(Struct, gc=False):
    type: str


_typed: Final = decoders.of(_Typed)


class TypeFilter(Struct, frozen=True):
    """The wanted types; no words at all want everything."""

    exact: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    encoded: frozenset[bytes] = frozenset()
    """The known types among the wanted, as they stand in an encoded event."""

    @property
    def everything(self) -> bool:
        """Whether nothing is filtered out, so that a stream need not look at its events."""
        return not self.exact and not self.prefixes

    def text(self) -> str:
        """The words, in one order: filters that let the same pass for the same reason have the same text."""
        return ",".join(sorted((*self.exact, *self.prefixes)))

    def matches(self, event_type: str) -> bool:
        """Whether events of this type are wanted."""
        return self.everything or event_type in self.exact or event_type.startswith(self.prefixes)

    def matches_encoded(self, event: bytes) -> bool:
        """Whether an event as ``encode_event`` wrote it is wanted."""
        head = _HEAD.match(event)
        if head is None:
            return self.matches(encoded_type(event))
        return head[1] in self.encoded or not (self.exact or self.prefixes)


def encoded_type(event: bytes) -> str:
    """The type of an encoded event, wherever in the object it stands; ``Invalid`` if there is none."""
    if head := _HEAD.match(event):
        return head[1].decode()
    try:
        return _typed.decode(event).type
    except BROKEN as wrong:
        raise Invalid(f"not an event: {wrong}") from wrong


def parse_types(text: str | None) -> TypeFilter:
    """Read ``?types=``: ``"tool:,message:delta"``. Nothing, or only commas, is a filter that lets everything pass."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    for word in words:
        _check(word)
    exact = frozenset(word for word in words if not word.endswith(":"))
    prefixes = tuple(dict.fromkeys(word for word in words if word.endswith(":")))
    wanted = frozenset(kind.encode() for kind in EVENTS if kind in exact or kind.startswith(prefixes))
    return TypeFilter(exact, prefixes, wanted)


def matches_types(event_type: str, wanted: str | None) -> bool:
    """Whether ``wanted`` (see ``parse_types``) has room for this type."""
    return parse_types(wanted).matches(event_type)


def _check(word: str) -> None:
    if word in EVENTS or (word.endswith(":") and event_types(word)):
        return
    hint = f"; for all of them write {word + ':'!r}" if event_types(f"{word}:") else ""
    raise Invalid(f"types: {word!r} is neither an event type nor a prefix of some{hint}", details={"types": list(EVENTS)})
