"""What is shown to whoever reads: sessions one by one, all of them in a list, and what happens in all.

A hub shows its own sessions, and is a ``Sight`` itself. One in a cluster shows those of every node
(``cluster/showing/sight.py``): the faces that only read ask a sight, and do not know whose a session is.

Rule: what changes a session is not here. That is the owner's alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import Feed
from trunkline.hub.shapes import PendingAsk
from trunkline.journal.base import RowFilter
from trunkline.session.fold import Fold, SessionView
from trunkline.threads import Lane

ListPlace = tuple[int, str]
"""Where a session stands in a list, the newest activity first: when something last happened in it, and its id."""
ListPage = tuple[Sequence[tuple[ListPlace, SessionView]], ListPlace | None]
"""Sessions with their places, and the place to go on from; None at the end."""


class ShownSession(Protocol):
    """A session, for whoever reads it."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def fold(self) -> Fold:
        """Its state. Only its owner changes it."""

    @property
    def feed(self) -> Feed:
        """Its entries."""

    @property
    def lane(self) -> Lane:
        """Where work for its readers is done that may take long."""

    def view(self) -> SessionView:
        """Its state as clients see it, beside the last entry that readers can have."""

    async def snapshot(self) -> SessionView:
        """The same; entries after its ``last_seq`` are news."""

    async def commands(self) -> list[dict[str, Any]] | None:
        """The slash commands that its agent offers."""


class Sight(Protocol):
    """All that is shown."""

    @property
    def everything(self) -> HubFeed:
        """The entries of all sessions, as ``whole`` gave it last."""

    async def whole(self) -> HubFeed:
        """The same, and its end is known."""

    async def session(self, session_id: str) -> ShownSession:
        """The session of that id; SessionNotFound where there is none."""

    def pending(self) -> list[PendingAsk]:
        """Every approval and question that waits, in every session."""

    async def list_on(self, which: RowFilter, *, node: str | None = None) -> ListPage:
        """Sessions, newest activity first, page by page; ``node``: only those of this one."""

    async def list(self, which: RowFilter) -> list[SessionView]:
        """The same without their places."""
