"""Reports when a session of the hub appears, changes or goes away.

Rule 1: what changed is read off the sessions' rows, newest activity first: the cost depends on how many sessions changed,
never on how long they are.
Rule 2: one look a second at most; a session that streams is one change, not a thousand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from trunkline.adapters.listing import LISTED_MOST
from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.errors import StorageError
from trunkline.hub import Hub
from trunkline.journal.base import RowFilter

LOOK_GAP_S = 1.0
NEWEST = 20
"""Sessions looked at first: rarely do more than that change within a second."""

Callback = Callable[[SessionDiscoveryEvent], None]


def watch_hub(hub: Hub, agent: str, callback: Callback) -> asyncio.Task[None]:
    """Call back for sessions of one agent, from now on until the task is cancelled or the hub stops."""
    return asyncio.get_running_loop().create_task(_Watcher(hub, agent, callback).run())


class _Watcher:
    def __init__(self, hub: Hub, agent: str, callback: Callback) -> None:
        self._hub = hub
        self._agent = agent
        self._callback = callback
        self._known: dict[str, int] = {}

    async def run(self) -> None:
        """Look whenever something was committed or deleted, until the hub stops."""
        try:
            await self._run()
        except (StorageError, RuntimeError):  # RuntimeError: the journal's threads have ended
            if not self._hub.everything.closed:
                raise

    async def _run(self) -> None:
        feed = self._hub.everything
        position, forgotten = feed.last_pos, feed.forgotten
        self._known = await self._rows(whole=True)
        while not feed.closed:
            if feed.forgotten == forgotten:
                await feed.wait(position)
            whole, forgotten, position = feed.forgotten != forgotten, feed.forgotten, feed.last_pos
            await self._look(whole)
            await asyncio.sleep(LOOK_GAP_S)

    async def _look(self, whole: bool) -> None:
        rows = await self._rows(whole)
        for session_id, seq in reversed(rows.items()):
            if session_id not in self._known:
                self._emit("session_created", session_id)
            elif self._known[session_id] != seq:
                self._emit("session_updated", session_id)
        if whole:
            for session_id in self._known.keys() - rows.keys():
                self._emit("session_removed", session_id)
            self._known = rows
        else:
            self._known |= rows

    async def _rows(self, whole: bool) -> dict[str, int]:
        """The last seq of each session; without ``whole`` of the newest alone, as long as not all of them have changed."""
        views = await self._hub.list(RowFilter(agent=self._agent, limit=LISTED_MOST if whole else NEWEST))
        if not whole and views and all(self._known.get(view.id) != view.last_seq for view in views):
            views = await self._hub.list(RowFilter(agent=self._agent, limit=LISTED_MOST))
        return {view.id: view.last_seq for view in views}

    def _emit(self, kind: Literal["session_created", "session_removed", "session_updated"], session_id: str) -> None:
        try:
            self._callback(SessionDiscoveryEvent(type=kind, session_id=session_id, agent=self._agent))
        except Exception as error:  # a listener's boundary: its fault must not end the watch
            asyncio.get_running_loop().call_exception_handler({"message": "a session callback failed", "exception": error})
