"""The way out of one answer: its head leaves with the first piece of its body.

uvicorn writes the head when an answer begins and the body when it comes, which is two writes for nearly every answer. The head is
held until more is written or the loop's turn is over, whichever comes first: nobody waits for it longer than before.
"""

from __future__ import annotations

import asyncio


class AnswerTransport:
    """What uvicorn's cycle asks of a transport, and no more."""

    __slots__ = ("_has_begun", "_held", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""
        self._has_begun = False

    def write(self, data: bytes) -> None:
        """Send, behind what is held; what comes first is held."""
        if not self._has_begun:
            self._has_begun, self._held = True, data
            self._loop.call_soon(self._flush)
        elif self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Close behind what was written."""
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether it is closed, or will be."""
        return self._transport.is_closing()

    def _flush(self) -> None:
        held, self._held = self._held, b""
        if held:
            self._transport.write(held)
