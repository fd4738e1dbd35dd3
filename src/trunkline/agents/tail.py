"""The last bytes of an endless stream, at a fixed cost in memory.

Rule 1: never more than ``limit`` bytes are held, however fast they come.
Rule 2: what was cut is known (``truncated``), and text starts at a character boundary.
"""

from __future__ import annotations

from collections import deque


class Tail:
    """Keeps the end of what is appended, up to ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.truncated = False
        self._chunks: deque[bytes] = deque()
        self._size = 0

    def append(self, data: bytes) -> None:
        """Take more of the stream, dropping the oldest bytes over the limit."""
        self._chunks.append(data)
        self._size += len(data)
        while self._size > self.limit:
            self._drop_oldest(self._size - self.limit)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return b"".join(self._chunks)

    def text(self) -> str:
        """The kept bytes as text; half a character at the cut is left out, other bad bytes show as U+FFFD."""
        kept = bytes(self)
        return (_from_character_boundary(kept) if self.truncated else kept).decode("utf-8", "replace")

    def _drop_oldest(self, excess: int) -> None:
        self.truncated = True
        oldest = self._chunks.popleft()
        self._size -= len(oldest)
        if len(oldest) > excess:
            rest = oldest[excess:]
            self._chunks.appendleft(rest)
            self._size += len(rest)


def _from_character_boundary(data: bytes) -> bytes:
    """``data`` without the continuation bytes (10xxxxxx) of a character whose head was cut off: three at most."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
