"""The sessions that a hub shows as an editor is shown them, page by page, the newest activity first.

Rule 1: a cursor is a place in that order, not a number of sessions: whatever happens between two pages, no session comes twice.
Rule 2: a session that becomes active between two pages moves to the front, where the editor has been already. It comes with the
last page, if the editor has not got it before.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

from trunkline.dialects.acp.sessions import ListSessionsResponse, SessionInfo
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import Invalid
from trunkline.hub import Hub, SessionView
from trunkline.hub.sight import ListPlace, Sight
from trunkline.journal.base import RowFilter

LISTED = 50
"""Sessions in one page of a list."""


class Listing:
    """One editor's way through the sessions."""

    def __init__(self, hub: Hub, sight: Sight) -> None:
        """``sight``: what is listed."""
        self._hub = hub
        self._sight = sight
        self._cursor: str | None = None
        """Where the pages that we remember end."""
        self._newest: ListPlace | None = None
        self._listed: set[str] = set()

    async def page(self, cwd: str | None, cursor: str | None) -> ListSessionsResponse:
        """The sessions after a cursor, or the first, in a folder, or all."""
        before = _place_of(cursor)
        cwd = await self._hub.lane.run(_as_kept, cwd) if cwd is not None else None
        if before is None:
            self._newest, self._listed = None, set()
        elif cursor != self._cursor:
            self._newest = None  # pages of another connection, or of an earlier way: what was listed is not known
        found, more = await self._after(before, cwd)
        if not more and before is not None and self._newest is not None:
            found += await self._moved(self._newest, cwd)
        self._listed.update(view.id for _, view in found)
        self._cursor = f"{found[-1][0][0]}.{found[-1][0][1]}" if more else None
        return ListSessionsResponse(sessions=[_info(view) for _, view in found], next_cursor=self._cursor)

    async def _after(self, before: ListPlace | None, cwd: str | None) -> tuple[list[tuple[ListPlace, SessionView]], bool]:
        """A page, and whether there is more."""
        found: list[tuple[ListPlace, SessionView]] = []
        async for place, view in self._from(before):
            if before is None and self._newest is None:
                self._newest = place
            if cwd is None or view.cwd == cwd:
                if len(found) == LISTED:
                    return found, True
                found.append((place, view))
        return found, False

    async def _moved(self, newest: ListPlace, cwd: str | None) -> list[tuple[ListPlace, SessionView]]:
        """What has moved to the front since the first page, or is new, and was not listed."""
        moved: list[tuple[ListPlace, SessionView]] = []
        async for place, view in self._from(None):
            if place <= newest:
                break
            if view.id not in self._listed and cwd in (None, view.cwd):
                moved.append((place, view))
        return moved

    async def _from(self, before: ListPlace | None) -> AsyncIterator[tuple[ListPlace, SessionView]]:
        while True:
            views, before = await self._sight.list_on(RowFilter(before=before, limit=LISTED + 1))
            for each in views:
                yield each
            if before is None:
                return


def _info(view: SessionView) -> SessionInfo:
    return SessionInfo(session_id=view.id, cwd=view.cwd, title=view.title or None, updated_at=view.updated_at,
                       meta={"trunkline": {"agent": view.agent, "status": view.status}})


def _as_kept(cwd: str) -> str:
    """A folder as a session's is kept, whatever way to it somebody names."""
    return os.path.realpath(cwd) if "\0" not in cwd else cwd


def _place_of(cursor: str | None) -> ListPlace | None:
    if cursor is None:
        return None
    at, _, session_id = cursor.partition(".")
    if not (is_whole_number(at) and session_id):
        raise Invalid("cursor is not one that a list gave")
    return int(at), session_id
