"""Packets and events that survive a lost connection: one stream to the caller, however many connections it takes.

Rule 1: the caller sees rising seqs with no gap and no duplicate; every reconnect goes on after the last one seen.
Rule 2: only trouble that passes is waited out (``Unavailable``, a stream that ends early, silence); everything else is raised.
Rule 3: giving up is bounded by time without progress, never by the number of tries.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Generic, TypeVar

import h11

from trunkline.client.http import (
    ERROR_MOST,
    Connection,
    HttpRequest,
    HttpResponse,
    Pool,
    error_of,
    error_of_fault,
    error_of_packet,
    headers_of,
)
from trunkline.client.records import ContextEvent, EventParser, Packet, ServerEvent, converted
from trunkline.client.views import Fault
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import HubLocked, TrunklineError, Unavailable

SILENCE_S = 45.0
"""Three of the hub's keep-alives (15 s): after that the connection is taken for dead."""
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0

Numbered = tuple[int, Packet]
T = TypeVar("T")
Relocate = Callable[[], Awaitable[None]]


class Patience:
    """How long to go on trying: pauses that grow, and an end after ``limit_s`` without progress."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self.progress()

    def progress(self) -> None:
        """Something came through: start counting anew."""
        self._pause_s = FIRST_PAUSE_S
        self._since: float | None = None

    async def wait(self, trouble: TrunklineError) -> None:
        """Pause before the next try, or raise the trouble when its time is over."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if isinstance(trouble, HubLocked) or now - self._since >= self._limit_s:
            raise trouble
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)


class Stream(Generic[T]):
    """Follows a stream of numbered things over as many connections as it takes.

    ``read`` makes a thing of its data; ``failure`` makes the error of a frame that is none, where it is an error."""

    def __init__(self, pool: Pool, request: Callable[[int], HttpRequest], *, after: int, limit_s: float, relocate: Relocate,
                 read: Callable[[bytes], T], failure: Callable[[bytes], TrunklineError | None]) -> None:
        self._pool = pool
        self._request = request
        self._after = after
        self._patience = Patience(limit_s)
        self._relocate = relocate
        self._read = read
        self._failure = failure

    async def things(self) -> AsyncGenerator[tuple[int, T], None]:
        """(number, thing), rising; ends only when the caller stops or an error says so."""
        while True:
            try:
                async with aclosing(self._one_connection()) as stream:
                    async for numbered in stream:
                        yield numbered
                trouble: TrunklineError = Unavailable(f"the hub at {self._pool.endpoint.url} ended the stream")
            except Unavailable as error:
                trouble = error
            await self._patience.wait(trouble)
            await self._find_again()

    async def _find_again(self) -> None:
        try:
            await self._relocate()
        except Unavailable as error:
            await self._patience.wait(error)

    async def _one_connection(self) -> AsyncGenerator[tuple[int, T], None]:
        parser = EventParser(str(self._after))
        async with aclosing(_chunks(self._pool, self._request(self._after))) as chunks:
            async for chunk in chunks:
                for event in parser.feed(chunk):
                    numbered = self._accept(event)
                    if numbered is not None:
                        yield numbered
                self._advance(parser.last_id)

    def _accept(self, event: ServerEvent) -> tuple[int, T] | None:
        """The thing, unless it was seen before. A frame without an id is no entry, but may be a failure of the stream."""
        if event.id is None:
            failure = self._failure(event.data)
            if failure is not None:
                raise failure
            return None
        if not is_whole_number(event.id) or int(event.id) <= self._after:
            return None
        self._after = int(event.id)
        self._patience.progress()
        return self._after, self._read(event.data)

    def _advance(self, last_id: str) -> None:
        """A keep-alive may carry a position without a packet."""
        if is_whole_number(last_id):
            self._after = max(self._after, int(last_id))


def packet_failure(data: bytes) -> TrunklineError | None:
    """The error that a packet without an id carries."""
    packet = Packet(data)
    return error_of_packet(packet) if packet.type == "error" else None


def event_failure(data: bytes) -> TrunklineError | None:
    """The error that a frame without an id carries in a stream of events."""
    body = ContextEvent(data)
    return error_of_fault(converted(dict(body), Fault)) if body.type == "error" else None


async def _chunks(pool: Pool, request: HttpRequest) -> AsyncGenerator[bytes, None]:
    connection, head = await _begin(pool, request)
    try:
        if not 200 <= head.status_code < 300:
            raise error_of(HttpResponse(head.status_code, headers_of(head), await _error_body(connection, pool.endpoint.url)))
        async with aclosing(_until_silent(connection, pool.endpoint.url)) as chunks:
            async for chunk in chunks:
                yield chunk
    finally:
        await connection.close()


async def _error_body(connection: Connection, url: str) -> bytes:
    try:
        async with asyncio.timeout(SILENCE_S):
            return await connection.whole(ERROR_MOST)
    except TimeoutError as error:
        raise Unavailable(f"the hub at {url} did not finish its answer within {SILENCE_S:g} s") from error


async def _begin(pool: Pool, request: HttpRequest) -> tuple[Connection, h11.Response]:
    try:
        async with asyncio.timeout(SILENCE_S):
            return await pool.begin(request)
    except TimeoutError as error:
        raise _silent(pool.endpoint.url) from error


async def _until_silent(connection: Connection, url: str) -> AsyncGenerator[bytes, None]:
    chunks = connection.chunks()
    while True:
        try:
            async with asyncio.timeout(SILENCE_S):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise _silent(url) from error
        yield chunk


def _silent(url: str) -> Unavailable:
    return Unavailable(f"the hub at {url} said nothing for {SILENCE_S:g} s")
