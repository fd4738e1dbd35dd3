"""One reader for all streams of a run: descriptors in, the delay of each stamped chunk out.

It runs in the process that measures, which has nothing else to do meanwhile; it decodes nothing, so that the time that is
measured is the relay's and not its own.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Iterable
from typing import NamedTuple

MARKS = re.compile(rb"@(\d{19})@|stopReason")
"""A chunk's stamp, and the end of a turn."""

LONGEST = 20
"""Bytes of a mark that may wait for their rest: a stamp is 21."""

READ = 1 << 16


class Arrival(NamedTuple):
    """One chunk: when it was written, and how long it took."""

    stamp_ns: int
    took_ns: int


class Reader:
    """Reads all of its streams at once and keeps what came: chunks, and ends of turns per stream."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._rests: dict[int, bytes] = {}
        self.arrivals: list[Arrival] = []
        self.chunks: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.lost: set[int] = set()

    def add(self, stream: int) -> None:
        """Read this one too."""
        self._rests[stream] = b""
        self.chunks[stream] = self.ends[stream] = 0
        self._poll.register(stream, select.EPOLLIN)

    def forget(self) -> None:
        """Begin anew: nothing has come yet."""
        self.arrivals = []
        for stream in self._rests:
            self.chunks[stream] = self.ends[stream] = 0

    def read_until(self, deadline_ns: int) -> None:
        """Read until then."""
        while (left := deadline_ns - time.monotonic_ns()) > 0:
            for stream, _ in self._poll.poll(left / 1e9):
                self._take(stream)

    def read_ends(self, streams: Iterable[int], within_s: float) -> bool:
        """Read until a turn has ended on each of these; whether they did in time."""
        deadline = time.monotonic_ns() + int(within_s * 1e9)
        waiting = {stream for stream in streams if not self.ends[stream]} - self.lost
        while waiting and (left := deadline - time.monotonic_ns()) > 0:
            for stream, _ in self._poll.poll(left / 1e9):
                self._take(stream)
            waiting = {stream for stream in waiting if not self.ends[stream]} - self.lost
        return not waiting

    def read_chunk(self, stream: int, within_s: float) -> int:
        """Read until this stream has a chunk; when that came. What else the turn brings is left."""
        deadline = time.monotonic_ns() + int(within_s * 1e9)
        while not self.chunks[stream]:
            if time.monotonic_ns() > deadline:
                raise RuntimeError("no chunk came")
            for ready, _ in self._poll.poll(within_s):
                self._take(ready)
        return time.monotonic_ns()

    def close(self) -> None:
        """Watch nothing more."""
        self._poll.close()

    def _take(self, stream: int) -> None:
        data = os.read(stream, READ)
        now = time.monotonic_ns()
        if not data:
            self._poll.unregister(stream)
            self.lost.add(stream)
            return
        data = self._rests[stream] + data
        end = 0
        for mark in MARKS.finditer(data):
            end = mark.end()
            if mark[1]:
                stamp = int(mark[1])
                self.arrivals.append(Arrival(stamp, now - stamp))
                self.chunks[stream] += 1
            else:
                self.ends[stream] += 1
        self._rests[stream] = data[max(end, len(data) - LONGEST):]
