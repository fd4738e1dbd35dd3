"""The prompt that waits to be sent.

Rule 1: never two prompts in one turn: the CLI would fold the second into the first. One that comes while the CLI works of its
own accord (a background task woke it) waits until that is over.
Rule 2: with a full disk nothing is sent, and the turn ends with that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.claude.control import outgoing
from trunkline.dialects.signals import Signal, TurnEnd
from trunkline.session.driver.stream_json import faults
from trunkline.session.driver.stream_json.process import ClaudeProcess


class WaitingPrompt:
    """At most one prompt, held until the disk was looked at and the CLI is at rest."""

    def __init__(self, spec: AgentSpec, running: Callable[[], ClaudeProcess], has_room: Callable[[], Awaitable[bool]], *,
                 new_uuid: Callable[[], str], emit: Callable[[list[Signal]], None], on_sent: Callable[[], None],
                 is_plain: Callable[[], bool]) -> None:
        """``running`` gives the process, or raises where there is none. ``is_plain``: the CLI may know no prompts but texts."""
        self._spec = spec
        self._running = running
        self._has_room = has_room
        self._new_uuid = new_uuid
        self._emit = emit
        self._on_sent = on_sent
        self._is_plain = is_plain
        self._blocks: list[msgspec.Raw] | None = None
        self._looking: asyncio.Task[None] | None = None

    def hold(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Send this as soon as it may be sent."""
        self._running()
        self._blocks = list(blocks)
        self._looking = asyncio.get_running_loop().create_task(self._send_if_room())

    def drop(self) -> bool:
        """Send it no more; False where nothing waited."""
        had, self._blocks = self._blocks is not None, None
        return had

    def stop(self) -> None:
        """Look at the disk no more."""
        if self._looking is not None:
            self._looking.cancel()

    def send_next(self) -> None:
        """Send the prompt that waits, if it may be sent now."""
        if self._blocks is not None and self._looking is None and not self._running().translator.working:
            blocks, self._blocks = self._blocks, None
            self._send(blocks)

    async def _send_if_room(self) -> None:
        """Look at the disk, then send the prompt that waits, unless it was called off meanwhile."""
        has_room = await self._has_room()
        self._looking = None
        if self._blocks is None or self._running().ended is not None:
            return
        if has_room:
            self.send_next()
        else:
            self._blocks = None
            self._emit([TurnEnd(error=faults.disk_full(self._spec))])

    def _send(self, blocks: Sequence[msgspec.Raw]) -> None:
        cli, name, said = self._running(), self._new_uuid(), [bytes(block) for block in blocks]
        cli.translator.prompted(name)
        cli.write(outgoing.user_message(said, cli.translator.session_id, name, plain=self._is_plain()))
        self._on_sent()
