"""The live lines of one hub: open for agents whose person has agreed, and for no other.

Rule 1: consent that is given or taken back while the hub runs counts at once: the command that does it tells the hub.
Rule 2: where nobody agreed to any, nothing of this is loaded, and nothing runs.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from trunkline.agents.catalog import AgentSpec
from trunkline.reach.lines.consent import agreed
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Hub

BY: Final = "line"
"""Who attached, in the journal."""


class Carrier(Protocol):
    """What keeps one agent's line open."""

    async def close(self) -> None:
        """Hang up."""


class Lines:
    """Keeps them."""

    def __init__(self, hub: Hub, data: Path) -> None:
        self._hub = hub
        self._data = data
        self._lane = Lane(1)
        self._open: dict[str, Carrier] = {}
        self._looking = asyncio.Lock()
        self._closed = False

    async def look(self) -> None:
        """Open the lines that the person agreed to, and hang up on those that are not wanted any more."""
        async with self._looking:
            names = set() if self._closed else await self._lane.run(agreed, self._data)
            wanted = {name: self._hub.agents[name] for name in names if name in self._hub.agents}
            for name in [each for each in self._open if each not in wanted]:
                await self._open.pop(name).close()
            for name, spec in wanted.items():
                if name not in self._open and (spec.line.socket or spec.line.flags):
                    self._open[name] = self._carrier(spec)

    async def close(self) -> None:
        """Hang up on all of them."""
        self._closed = True
        await self.look()

    def _carrier(self, spec: AgentSpec) -> Carrier:
        from trunkline.reach.sessions import TerminalSessions

        sessions = TerminalSessions(self._hub, BY)
        if spec.line.flags:
            from trunkline.reach.lines.file_pairs import FilePairs, pairs_folder

            return FilePairs(self._hub, spec, sessions, pairs_folder(self._data, spec.name))
        from trunkline.reach.lines.server_line import ServerConnection

        return ServerConnection(self._hub, spec, sessions)
