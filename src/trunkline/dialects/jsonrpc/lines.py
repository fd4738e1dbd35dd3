"""Bytes to lines, and whether a line is text at all."""

from __future__ import annotations

import codecs
from typing import cast

MAX_LINE = 64 * 1024 * 1024
"""Longest line taken, in bytes. Agents really send lines of half a megabyte; embedded images make some of 20."""

KEPT_OF_MALFORMED = 4096
"""Bytes of a line that is no message, or is too long, which are kept to be shown."""

LARGE_LINE = 4 << 20
"""Bytes from which on reading a line takes so long that others must have their turn before anything else is done with it."""

VALUES_MOST = 16_000_000
"""Commas and opening brackets in a large line: one for every four bytes of the longest. To skip so many takes 60 ms, and that
cannot be cut; text has far fewer, and so has any output that people or models can do something with."""

_UTF8_STEP = 1 << 20


class LineSplitter:
    """Cuts a byte stream into lines, at a cost linear in its length however it was cut before.

    A line over ``limit``, or with more than VALUES_MOST, is thrown away up to its end; a stub of it is returned in its place, and
    ``cut`` maps the stub's index in the list returned last to the line's true size; ``why_cut`` says why. ``lends``: a line over
    LARGE_LINE is handed out as the very buffer that it was gathered in, without a copy.
    """

    def __init__(self, limit: int = MAX_LINE, *, lends: bool = False) -> None:
        self._limit = limit
        self._lends = lends
        self.had_large = False
        """Whether one of the lines returned last is over LARGE_LINE."""
        self._held = bytearray()
        self._size = self._values = 0
        self.cut: dict[int, int] = {}
        self.why_cut = ""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their newline."""
        if self.cut:
            self.cut = {}
        self.had_large = False
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            if self._size:
                lines[0] = self._finish(lines[0])
            if len(data) > self._limit:
                self._cut_overlong(lines)
        if rest:
            self._hold(rest)
        return lines

    def flush(self) -> list[bytes]:
        """What stands after the last newline, as a line, when the stream has ended."""
        self.cut = {}
        return [self._finish(b"")] if self._size else []

    def _hold(self, piece: bytes) -> None:
        # A bytearray grows by an eighth at a time: linear in total even when fed byte by byte.
        self._size += len(piece)
        if self._size > LARGE_LINE:
            self._values += piece.count(b",") + piece.count(b"[") + piece.count(b"{")
        if self._size <= self._limit and self._values <= VALUES_MOST:
            self._held += piece
        else:
            del self._held[KEPT_OF_MALFORMED:]
            self._held += piece[: KEPT_OF_MALFORMED - len(self._held)]

    def _finish(self, piece: bytes) -> bytes:
        self._hold(piece)
        self.had_large = self._size > LARGE_LINE
        line = cast("bytes", self._held) if self._lends and self.had_large else bytes(self._held)
        if self._size > self._limit or self._values > VALUES_MOST:
            self.cut[0] = self._size
            is_long = self._size > self._limit
            self.why_cut = f"longer than {self._limit} bytes" if is_long else f"more than {VALUES_MOST} values in one line"
        self._held = bytearray()
        self._size = self._values = 0
        return line

    def _cut_overlong(self, lines: list[bytes]) -> None:
        for index, line in enumerate(lines):
            if len(line) > self._limit:
                self.cut[index] = len(line)
                self.why_cut = f"longer than {self._limit} bytes"
                lines[index] = line[:KEPT_OF_MALFORMED]


def utf8_fault(line: bytes) -> str | None:
    """Why ``line`` is not UTF-8, looking at a megabyte at a time: a decoded copy of 64 MiB may take 256."""
    if line.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(line)
    try:
        for start in range(0, len(view), _UTF8_STEP):
            decoder.decode(view[start : start + _UTF8_STEP])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error.reason}"
    return None


class Utf8Check:
    """Whether a line is UTF-8, looked at piece by piece while it comes."""

    def __init__(self) -> None:
        self.is_good = True
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def begin(self, piece: bytes) -> None:
        """A line begins so."""
        self._decoder.reset()
        self.is_good = True
        self.go_on(piece)

    def go_on(self, piece: bytes, *, last: bool = False) -> None:
        """It goes on so, or ends."""
        try:
            self._decoder.decode(piece, last)
        except UnicodeDecodeError:
            self.is_good = False
            self._decoder.reset()
