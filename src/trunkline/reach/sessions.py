"""The sessions of programs in terminals, by the programs' own ids: followed by their files from the first time they are wanted.

Rule: as if somebody had attached to it. One that the hub runs itself asks its own driver, and is left alone here.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from trunkline.adapters import CatalogAdapter
from trunkline.agents.catalog import AgentSpec
from trunkline.errors import NotFound, TrunklineError
from trunkline.hub import Hub

if TYPE_CHECKING:
    from trunkline.hub import Session

FOUND_S: Final = 5.0
"""How long a session may take to have a file; the program writes one with the first prompt."""
FOUND_LOOK_S: Final = 0.2
KNOWN_MOST: Final = 1_000
"""Sessions whose ids are remembered: a program may name as many as it likes, and the oldest is found again as at first."""
WAIT_S: Final = 20.0
"""How long a session may take to be followed, its file's reading included."""

log = logging.getLogger("trunkline.reach")


class TerminalSessions:
    """Those of one hub."""

    def __init__(self, hub: Hub, by: str) -> None:
        """``by``: who attached, in the journal."""
        self._hub = hub
        self._by = by
        self._known: dict[tuple[str, str], str] = {}
        """The hub's ids, by agent and its own id."""

    async def find(self, spec: AgentSpec, session_id: str, wait_s: float = WAIT_S) -> Session | None:
        """The session, followed from now on where it was not; None where there is none, or the hub runs it itself."""
        try:
            async with asyncio.timeout(wait_s):
                if self._hub.drives(session_id):
                    return None
                session = await self._find(spec, session_id)
        except (TrunklineError, TimeoutError) as error:
            log.info("a session of %s is not followed: %s", spec.name, error)
            return None
        return session if session.fold.watches is not None else None

    async def _find(self, spec: AgentSpec, session_id: str) -> Session:
        key = spec.name, session_id
        known = self._known.get(key)
        if known is not None:
            try:
                return await self._hub.session(known)
            except NotFound:
                del self._known[key]
        adapter, tries = CatalogAdapter(spec, self._hub), int(FOUND_S / FOUND_LOOK_S)
        for left in range(tries, -1, -1):
            try:
                joined = await adapter.attach_to_session(session_id, watch=True, by=self._by)
                break
            except NotFound:
                if not left:
                    raise
                await asyncio.sleep(FOUND_LOOK_S)
        self._remember(key, joined.session_id)
        return await self._hub.session(joined.session_id)

    def _remember(self, key: tuple[str, str], session_id: str) -> None:
        while len(self._known) >= KNOWN_MOST:
            del self._known[next(iter(self._known))]
        self._known[key] = session_id
