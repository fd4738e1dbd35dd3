"""The sessions that are in memory: those that are used or wait for a person, and the newest of the others.

Rule: of one id there is one session. One that was dropped and that a reader still holds is called back; no second one is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from trunkline.session.session import Session

KEPT_IDLE = 200
"""Sessions kept in memory though nobody uses them; beyond it the one that was used longest ago is dropped."""


class SessionsInMemory:
    """Sessions by id. Going through them sees those of the moment in which it began."""

    def __init__(self) -> None:
        self._kept: dict[str, Session] = {}
        self._dropped: WeakValueDictionary[str, Session] = WeakValueDictionary()
        """Sessions that only their readers, if anybody, still hold."""
        self.released = 0
        """How many were dropped or deleted so far."""

    def __iter__(self) -> Iterator[Session]:
        return iter([*self._kept.values()])

    def __len__(self) -> int:
        return len(self._kept)

    def kept(self, session_id: str) -> Session | None:
        """The session of that id, if it is kept."""
        return self._kept.get(session_id)

    def find(self, session_id: str) -> Session | None:
        """The session of that id, called back where it was dropped and somebody still holds it."""
        session = self._kept.get(session_id)
        if session is None and (session := self._dropped.pop(session_id, None)) is not None:
            session.lifecycle.wake()
            self._kept[session_id] = session
        return session

    def add(self, session: Session) -> None:
        """Keep a session, and drop what nobody uses; that is opened again when somebody asks for it."""
        self._kept[session.id] = session
        unused = [each for each in self._kept.values() if not (each.busy or each.agent.running or each.fold.questions)]
        unused.sort(key=lambda each: each.fold.updated_at)
        for each in unused[:max(0, len(unused) - KEPT_IDLE)]:
            self._dropped[each.id] = self._kept.pop(each.id)
            self.released += 1
            each.lifecycle.doze()

    def remove(self, session_id: str) -> None:
        """The session is deleted."""
        if self._kept.pop(session_id, None) is not None:
            self.released += 1

    async def store_rows(self) -> None:
        """Have every session's row say how it is now."""
        await asyncio.gather(*(session.lifecycle.store_row() for session in self))

    def on_drained(self) -> None:
        """The committer takes entries again."""
        for session in self:
            session.lifecycle.drained()

    def on_rules_changed(self) -> None:
        """What waits for a person in any session may be decided by the policy now. Always from the loop, never from within a
        session that just added a rule: its own answer comes first."""
        for session in self:
            session.rules.on_change()
