"""A process that only reads streams and counts frames: ``python -m benchmarks.readers < job.json``.

The job names host, port, requests (one connection each) and how many frames each is to get. Prints ``ready`` once all are
answered, then one line of JSON: frames per connection, and when the first request went out, the first frame came and the last.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import cast

MARK = b"\nid: "


class Reader(asyncio.Protocol):
    """Counts the frames of one stream."""

    def __init__(self, request: bytes, wanted: int, watch: Watch) -> None:
        self._request = request
        self._wanted = wanted
        self._watch = watch
        self._rest = b""
        self.frames = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        window = self._rest + data
        self.frames += window.count(MARK)
        self._rest = window[-(len(MARK) - 1):]
        self._watch.saw(self)
        if self.frames >= self._wanted:
            self._watch.done(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.done(self)


class Watch:
    """When frames began to arrive, and when the last reader had all of its."""

    def __init__(self, count: int) -> None:
        self._open = count
        self._finished: set[Reader] = set()
        self._greeted: set[Reader] = set()
        self._count = count
        self.ready = asyncio.get_running_loop().create_future()
        self.finished = asyncio.get_running_loop().create_future()
        self.asked_at = time.monotonic()
        self.first_at: float | None = None
        self.last_at = 0.0

    def saw(self, reader: Reader) -> None:
        """Bytes came."""
        self.last_at = time.monotonic()
        if reader.frames and self.first_at is None:
            self.first_at = self.last_at
        if reader not in self._greeted:
            self._greeted.add(reader)
            if len(self._greeted) == self._count and not self.ready.done():
                self.ready.set_result(None)

    def done(self, reader: Reader) -> None:
        """A reader has all of its frames, or lost its connection."""
        self._finished.add(reader)
        if len(self._finished) == self._count and not self.finished.done():
            self.finished.set_result(None)


async def main() -> None:
    """Do the job."""
    job = json.load(sys.stdin)
    loop = asyncio.get_running_loop()
    requests = [request.encode() for request in job["requests"]]
    watch = Watch(len(requests))
    readers = []
    for request in requests:
        reader = Reader(request, job["wanted"], watch)
        await loop.create_connection(lambda reader=reader: reader, job["host"], job["port"])  # type: ignore[misc]
        readers.append(reader)
    async with asyncio.timeout(job["within_s"]):
        await watch.ready
        print("ready", flush=True)
        try:
            await watch.finished
        finally:
            frames = [reader.frames for reader in readers]
            begin = watch.first_at or watch.last_at
            seen = {"frames": frames, "asked_at": watch.asked_at, "first_at": begin, "last_at": watch.last_at}
            print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    try:
        import uvloop
        uvloop.run(main())
    except ImportError:
        asyncio.run(main())
