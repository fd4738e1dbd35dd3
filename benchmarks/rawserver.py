"""What a server could do at best: the frames of a session, written straight to every socket that asks.

``python -m benchmarks.rawserver``: prints its port, waits for a line ``COUNT SIZE PER_SECOND READERS`` on stdin, writes that
many frames at that rate to that many connections, and ends.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Connection(asyncio.Protocol):
    """One reader."""

    def __init__(self, open_connections: list[asyncio.Transport]) -> None:
        self._open = open_connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(HEAD)
        self._open.append(self._transport)


async def main() -> None:
    """Serve one run."""
    loop = asyncio.get_running_loop()
    connections: list[asyncio.Transport] = []
    server = await loop.create_server(lambda: Connection(connections), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    count, size, rate, _ = (float(word) for word in (await asyncio.to_thread(sys.stdin.readline)).split())
    body = (b'{"_meta":null,"content":{"_meta":null,"annotations":null,"text":"%b","type":"text"},'
            b'"sessionUpdate":"agent_message_chunk","type":"agent_message_chunk",'
            b'"timestamp":"2026-01-22T19:13:30.917345+00:00"}' % (b"x" * int(size)))
    begin = loop.time()
    for index in range(int(count)):
        wait = begin + index / rate - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        frame = b"event: message\nid: %d\ndata: %b\n\n" % (index + 1, body)
        for connection in connections:
            connection.write(frame)
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    try:
        import uvloop
        uvloop.run(main())
    except ImportError:
        asyncio.run(main())
