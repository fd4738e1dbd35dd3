"""What copies a hub's sessions elsewhere, as the hub sees it. Without one nothing of this is called.

Rule 1: the local journal commits first. ``committed`` and ``rows`` are on the commit path: they do not wait, and do not fail.
Rule 2: what shall be elsewhere before anybody sees it is the business of the journal that ``wrap`` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trunkline.hub.shapes import Removed
from trunkline.journal.base import Entry, Journal, SessionRow


class Replica(Protocol):
    """A hub's copy in a cluster."""

    @property
    def node(self) -> str:
        """What the hub is called there."""

    @property
    def stored_within_s(self) -> float | None:
        """How long whoever asks how a session is waits for what the journal of ``wrap`` holds back; None: it holds nothing."""

    def wrap(self, journal: Journal, hold: Callable[[bool], None]) -> Journal:
        """The journal that the hub is to use. ``hold`` holds the agents (True) and lets them go."""

    async def open(self) -> None:
        """The journal is open, and nothing is written yet."""

    def committed(self, parts: dict[str, list[Entry]]) -> None:
        """This was stored."""

    def rows(self, rows: dict[str, SessionRow]) -> None:
        """These rows were stored."""

    async def deleted(self, session_id: str) -> Removed | None:
        """The session is gone here; what became of it there, None where it is another's."""

    def stopping(self) -> None:
        """The hub is about to store its last entries: from now on none waits for long."""

    async def close(self) -> None:
        """The hub has stored its last entry; the journal is still open."""
