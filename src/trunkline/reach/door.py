"""The hub's door for programs in terminals: it listens from the start, and loads what serves them with the first call. It also
opens the live lines that the person agreed to.

Rule: a hub that cannot listen is a hub without this: the log says so, and programs ask their people alone.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from trunkline.reach.lines.lines import Lines
from trunkline.reach.socket import Call, Gone, HookSocket, Wire

if TYPE_CHECKING:
    from trunkline.hub import Hub
    from trunkline.reach.desk import TerminalDesk

log = logging.getLogger("trunkline.reach")


class Door:
    """Listens for the hooks of one hub."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self._hub = hub
        self._socket = HookSocket(folder, self._take, self._hold)
        self._desk: TerminalDesk | None = None
        self._lines = Lines(hub, folder)
        self._looking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listen in the data folder, and on the lines that the person agreed to."""
        self._looking = asyncio.create_task(self._lines.look())
        try:
            await self._socket.start()
        except OSError as error:
            log.warning("programs in terminals cannot be answered: %s: %s", self._socket.path, error)

    async def close(self) -> None:
        """Hang up on everybody: what waits goes on waiting in its terminal."""
        await self._lines.close()
        await self._socket.close()
        if self._desk is not None:
            await self._desk.close()

    async def _take(self, call: Call, gone: Gone) -> bytes:
        if call.kind == "ping":
            return b"pong"
        if call.kind == "lines":  # the person agreed to one, or does not any more
            await self._lines.look()
            if self._desk is not None:
                await self._desk.look()
            return b"looked"
        return await (await self._opened()).take(call, gone)

    async def _hold(self, call: Call, wire: Wire) -> None:
        await (await self._opened()).hold(call, wire)

    async def _opened(self) -> TerminalDesk:
        if self._desk is None:
            made = await asyncio.to_thread(_new_desk, self._hub)
            self._desk = self._desk or made
        return self._desk


def _new_desk(hub: Hub) -> TerminalDesk:
    from trunkline.reach.desk import TerminalDesk

    return TerminalDesk(hub)
