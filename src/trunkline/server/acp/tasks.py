"""What is being done because of one editor's messages: requests, notifications, and background work beside them.

Rule 1: an editor may have only so much under way; until then it is not read on.
Rule 2: what cannot be broken off halfway is carried out to its end, whoever leaves meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from trunkline.errors import TrunklineError
from trunkline.server.websocket import PeerGone

REQUESTS_AT_ONCE = 64

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Do something beside the conversation."""

log = logging.getLogger("trunkline.server")


class EditorTasks:
    """The tasks of one connection."""

    def __init__(self) -> None:
        self._requests: dict[bytes, asyncio.Task[None]] = {}
        """By the id that the editor gave; of two with one id, the newer."""
        self._under_way: set[asyncio.Task[None]] = set()
        """All that is being done because of a message: requests, notifications, complaints."""
        self._background: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether something that the editor sent is being answered or carried out."""
        return bool(self._under_way)

    async def room(self) -> None:
        """Wait while too much is being done for this editor at once, or it does not read what it is answered."""
        while len(self._under_way) >= REQUESTS_AT_ONCE:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)

    def begin_request(self, key: bytes, work: Coroutine[Any, Any, None]) -> None:
        """Answer a request, which has this id."""
        task = asyncio.create_task(work)
        self._requests[key] = task
        self._count(task)

        def on_end(task: asyncio.Task[None]) -> None:
            if self._requests.get(key) is task:
                del self._requests[key]

        task.add_done_callback(on_end)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what a message that is no request wants."""
        self._count(self.spawn(work))

    def cancel_request(self, key: bytes) -> None:
        """The editor takes a request back."""
        request = self._requests.get(key)
        if request is not None:
            request.cancel()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside the conversation."""
        task = asyncio.create_task(_quietly(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def carry_out(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what cannot be broken off halfway. Who takes the request back learns that it was done."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                continue
        task.result()

    async def end_requests(self) -> None:
        """The connection is over: break off what only it waits for."""
        requests = self._under_way - self._background
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    async def background_done(self) -> None:
        """Wait for what is carried out to its end."""
        await asyncio.gather(*self._background, return_exceptions=True)

    def _count(self, task: asyncio.Task[None]) -> None:
        """The editor may have only so much under way."""
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except (PeerGone, OSError):
        return
    except TrunklineError as error:
        # Not for everybody's log: an editor can say such things as often as it likes.
        log.debug("an editor's wish came to nothing: %s", error.message)
