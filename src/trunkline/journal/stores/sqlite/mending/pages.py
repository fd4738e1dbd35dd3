"""The pages of an SQLite file and of its write-ahead log, read without SQLite, as they would be after the log was applied.

The format is the documented one (sqlite.org/fileformat2.html). SQLite itself stops at the first thing that does not fit: a bad
page in the middle of a tree hides all below it, a bad frame in the log all behind it. Here every page stands for itself.

Rule 1: nothing raises for what is in the file. A page, frame or row that does not fit is left out.
Rule 2: the log's frames are checked one by one, each against the sum that the frame before it carries, so that a bad one takes
only itself along.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE_BYTES = 4096
"""SQLite's default, and so ours; where the first page is damaged there is nobody to ask."""

TABLE_LEAF, INDEX_LEAF = 0x0D, 0x0A
_MAGIC = b"SQLite format 3\0"
_FILE_HEADER = 100
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGICS = {0x377F0682: "little", 0x377F0683: "big"}
Value = int | float | str | bytes | None
"""What a column holds."""


class PageRow(NamedTuple):
    """One row: its rowid (0 in a table without) and its columns as they are stored."""

    rowid: int
    values: tuple[Value, ...]


class Pages:
    """The newest version of each page that can be read."""

    def __init__(self, path: Path, *, with_log: bool = True) -> None:
        self._main = _opened(path)
        self._log = _opened(path.with_name(path.name + "-wal")) if with_log else None
        header = _read(self._main, _FILE_HEADER, 0)
        self.size = _page_size(header)
        stored = -(-_length(self._main) // self.size)
        most = stored + _length(self._log) // self.size  # each frame adds one page at most; a number beyond is nonsense
        self._in_log = {number: place for number, place in _frames(self._log, self.size) if number <= most}
        self.count = max(stored, max(self._in_log, default=0))
        self._usable = self.size - (header[20] if _begins_a_file(header) else 0)

    def close(self) -> None:
        """Let the files go."""
        for descriptor in (self._main, self._log):
            if descriptor is not None:
                os.close(descriptor)

    def page(self, number: int) -> bytes:
        """One page (they count from 1); empty where there is none, or the disk does not give it back."""
        place = self._in_log.get(number)
        if place is not None:
            return _read(self._log, self.size, place)
        return _read(self._main, self.size, (number - 1) * self.size)

    def rows(self) -> Iterator[tuple[int, PageRow]]:
        """(kind of page, row) of every leaf that is in use."""
        _, free = self.free_pages()
        for number in range(1, self.count + 1):
            if number in free:
                continue
            page = self.page(number)
            start = _FILE_HEADER if number == 1 and page.startswith(_MAGIC) else 0
            if len(page) == self.size and page[start] in (TABLE_LEAF, INDEX_LEAF):
                yield from ((page[start], row) for row in self._rows_of(page, start))

    def _rows_of(self, page: bytes, start: int) -> Iterator[PageRow]:
        count = int.from_bytes(page[start + 3:start + 5], "big")
        for index in range(min(count, self.size // 4)):
            at = start + 8 + 2 * index
            try:
                yield self._row(page, int.from_bytes(page[at:at + 2], "big"), page[start] == TABLE_LEAF)
            except (ValueError, IndexError, struct.error, UnicodeDecodeError, OverflowError, MemoryError):
                continue  # Rule 1

    def _row(self, page: bytes, at: int, has_rowid: bool) -> PageRow:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at) if has_rowid else (0, at)
        if not 0 < length <= self.count * self.size:
            raise ValueError("no length of a row")
        local = _local_bytes(length, self._usable, has_rowid)
        payload = page[at:at + local]
        if local < length:
            payload += self._overflow(int.from_bytes(page[at + local:at + local + 4], "big"), length - local)
        if len(payload) != length:
            raise ValueError("the row is cut off")
        return PageRow(rowid - (1 << 64) if rowid >= 1 << 63 else rowid, _columns(payload))

    def _overflow(self, number: int, left: int) -> bytes:
        parts: list[bytes] = []
        room = self._usable - 4
        while left > 0:
            page = self.page(number) if number else b""
            if len(page) != self.size:
                raise ValueError("the rest of the row is missing")
            parts.append(page[4:4 + min(left, room)])
            left -= room
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)

    def free_pages(self) -> tuple[int, frozenset[int]]:
        """How many pages the file states to be in use by nobody, and which these are; their contents are of the past."""
        header = self.page(1)
        if not _begins_a_file(header):
            return 0, frozenset()
        trunk, stated = struct.unpack_from(">II", header, 32)
        found: set[int] = set()
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            listed = min(int.from_bytes(page[4:8], "big"), self.size // 4 - 2)
            found.update(struct.unpack_from(f">{listed}I", page, 8) if len(page) == self.size else ())
            trunk = int.from_bytes(page[:4], "big")
        return stated, frozenset(found)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None


def _length(descriptor: int | None) -> int:
    return os.fstat(descriptor).st_size if descriptor is not None else 0


def _read(descriptor: int | None, size: int, place: int) -> bytes:
    if descriptor is None:
        return b""
    try:
        return os.pread(descriptor, size, place)
    except OSError:
        return b""  # a place that the disk does not give back is like one that is full of nonsense


def _begins_a_file(page: bytes) -> bool:
    """Whether a whole header is there: a file may end within it."""
    return page.startswith(_MAGIC) and len(page) >= _FILE_HEADER


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big") if _begins_a_file(header) else 0
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else PAGE_BYTES


def _frames(log: int | None, page_bytes: int) -> Iterator[tuple[int, int]]:
    """(page number, place in the log) of the frames that count, in order, up to the last whole transaction."""
    header = _read(log, _LOG_HEADER, 0)
    order, salts, sums = _log_start(log, header)
    place, waiting = _LOG_HEADER, list[tuple[int, int]]()
    while len(frame := _read(log, _FRAME_HEADER + page_bytes, place)) == _FRAME_HEADER + page_bytes:
        number, committed = struct.unpack_from(">II", frame)
        stated = struct.unpack_from(">II", frame, 16)
        if frame[8:16] == salts:
            if sums is None or _sums(frame[:8] + frame[_FRAME_HEADER:], order, sums) == stated:
                waiting.append((number, place + _FRAME_HEADER))
                if committed:
                    yield from waiting
                    waiting.clear()
            sums = stated
        else:
            sums = None  # an older generation of the log, or a bad frame: the next one has nothing to be checked against
        place += len(frame)


def _log_start(log: int | None, header: bytes) -> tuple[str, bytes, tuple[int, int] | None]:
    """(byte order of the sums, this generation's salts, the sum before the first frame); from the first frame where the header is
    damaged, and then that frame is taken as it is."""
    if len(header) == _LOG_HEADER:
        order = _LOG_MAGICS.get(int.from_bytes(header[:4], "big"))
        stated = struct.unpack_from(">II", header, 24)
        if order is not None and _sums(header[:24], order, (0, 0)) == stated:
            return order, header[16:24], stated
    return sys.byteorder, _read(log, 8, _LOG_HEADER + 8), None


def _sums(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of a log."""
    words = array("I", data)
    if order != sys.byteorder:
        words.byteswap()
    first, second = sums
    for index in range(0, len(words), 2):
        first = (first + words[index] + second) & 0xFFFFFFFF
        second = (second + words[index + 1] + first) & 0xFFFFFFFF
    return first, second


def _local_bytes(length: int, usable: int, is_table: bool) -> int:
    """How much of a row stands in its leaf."""
    most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return length
    least = (usable - 12) * 32 // 255 - 23
    fitting = least + (length - least) % (usable - 4)
    return fitting if fitting <= most else least


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9


_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer, by its type in the row's header."""


def _columns(payload: bytes) -> tuple[Value, ...]:
    end, at = _varint(payload, 0)
    body = end
    values: list[Value] = []
    while at < end:
        kind, at = _varint(payload, at)
        value, size = _value(payload, body, kind)
        if body + size > len(payload):
            raise ValueError("a column is longer than its row")
        values.append(value)
        body += size
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return int.from_bytes(payload[at:at + size], "big", signed=True), size
    if kind in (0, 8, 9):
        return (None, 0, 1)[(0, 8, 9).index(kind)], 0
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], 8
    if kind < 12:
        raise ValueError("no kind of column")
    size = (kind - 12) // 2
    data = payload[at:at + size]
    return (data.decode() if kind % 2 else data), size
