"""Lines of many megabytes, read in steps, so that others have their turn in between.

Rule 1: a text for people is emitted in pieces that make up all of it.
Rule 2: everything else is emitted by its beginning: what is kept of a line is at most KEPT_BYTES.
Rule 3: one step is one pass over the line at most, and no step copies more than it keeps.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.acp.reading.large import BEGINNING_BYTES, whole_characters
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import Signal, Update

LARGE_LINE: Final = 8 << 20
"""Bytes from which on a line is read so. To read one of this size in full takes some 50 ms; an image of 6 MB is smaller."""

KEPT_BYTES: Final = 4 << 20
"""Bytes of a line that are kept beside its texts; of what comes later only short values are."""

SHORT: Final = 1024
DEPTH: Final = 8
"""How deep a line is looked into for what makes it long; the input of a tool stands five deep."""

MEMBERS: Final = 1000
"""Members and items of one value that are kept."""

CHECKED_AT_ONCE: Final = 8 << 20

_TEXTS: Final = {"text", "thinking"}
_DELTAS: Final = {"text", "thinking", "partial_json"}
_QUOTE, _BRACE, _BRACKET = b'"{['

_read_members = decoders.of(dict[str, Raw]).decode
_read_items = decoders.of(list[Raw]).decode
_encode = msgspec.json.Encoder().encode

Path = tuple[str | int, ...]
ReadSteps = Generator[None, None, Any]


class Large(msgspec.Struct):
    """A line by its beginning, and where its long texts stand in it, as JSON strings."""

    frame: bytes
    texts: dict[Path, memoryview]


def read_large(line: bytes) -> Iterator[Large | str]:
    """A line that is too long to be read at once, or why it is none: what comes last. Before that, nothing after each step."""
    reading = _Reading()
    steps = chain(_utf8_steps(line), reading.steps(line))
    try:
        for _ in steps:
            yield ""
    except UnicodeDecodeError as error:
        yield f"not UTF-8: {error.reason}"
    except BROKEN as error:
        yield f"not a line of JSON: {error}"
    else:
        yield Large(_encode(reading.kept), reading.texts)


def marked(signal: Signal, size: int) -> Signal:
    """An update of a call, with how long the line was that it is the beginning of."""
    if not isinstance(signal, Update) or b'"toolCallId"' not in signal.raw[:SHORT]:
        return signal
    update = msgspec.json.decode(signal.raw)
    update["_meta"] = {**(update.get("_meta") or {}), "trunkline": {"truncated": {"bytes": size}}}
    return Update(_encode(update))


class _Reading:
    """Keeps the beginning of a line."""

    def __init__(self) -> None:
        self.texts: dict[Path, memoryview] = {}
        self.kept: Any = None
        self._room = KEPT_BYTES

    def steps(self, line: bytes) -> Iterator[None]:
        """Read a line; ``kept`` and ``texts`` are there at the end."""
        self.kept = yield from self._members(line, ())

    def _members(self, raw: bytes, path: Path) -> ReadSteps:
        found = _read_members(raw)
        yield
        kept: dict[str, Any] = {}
        for name, value in list(found.items())[:MEMBERS]:
            short = yield from self._value(value, (*path, name))
            if short is not None:
                kept[name[:SHORT]] = short
        return kept

    def _items(self, raw: bytes, path: Path) -> ReadSteps:
        found = _read_items(raw)[:MEMBERS]
        yield
        kept: list[Any] = []
        for index, value in enumerate(found):
            kept.append((yield from self._value(value, (*path, index))))
        return kept

    def _value(self, value: Raw, path: Path) -> ReadSteps:
        """A value, by its beginning where it is long; None where nothing can be kept of it."""
        view = memoryview(value)
        if len(view) <= (BEGINNING_BYTES if self._room > 0 else SHORT):
            self._room -= len(view)
            return Raw(bytes(view))  # a copy: it must not hold the line that it came in
        if view[0] == _QUOTE:
            if _is_text(path):
                self.texts[path] = view
            most = min(BEGINNING_BYTES, max(self._room, SHORT))
            self._room -= most
            return Raw(b'"%b"' % whole_characters(bytes(view[1:most]), is_last=False))
        if len(path) < DEPTH and view[0] in (_BRACE, _BRACKET):
            return (yield from (self._members if view[0] == _BRACE else self._items)(value, path))
        return None


def _is_text(path: Path) -> bool:
    """Whether what stands there is text for people."""
    match path:
        case ("result",) | ("message", "content"):
            return True
        case ("message", "content", int(), str(name)):
            return name in _TEXTS
        case ("event", "delta", str(name)):
            return name in _DELTAS
    return False


def _utf8_steps(line: bytes) -> Iterator[None]:
    """Raise UnicodeDecodeError for a line that is not UTF-8."""
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(line)
    for start in range(0, len(view), CHECKED_AT_ONCE):
        decoder.decode(view[start:start + CHECKED_AT_ONCE])
        yield
    decoder.decode(b"", final=True)
