"""Tells when a session of a vendor's store appears, changes or goes away, by what happens to its file.

Rule: nothing is read. A burst of writes is one change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from trunkline.dialects.context import SessionDiscoveryEvent
from trunkline.discovery.base import Store
from trunkline.discovery.notice import Changes, What, listen

Kind = Literal["session_created", "session_removed", "session_updated"]
Callback = Callable[[SessionDiscoveryEvent], None]

_KINDS: dict[What, Kind] = {"added": "session_created", "deleted": "session_removed", "changed": "session_updated"}


def watch_store(store: Store, agent: str, callback: Callback) -> Callable[[], None]:
    """Call back for every session of a store, from now on; returns what ends it."""

    def heard(changes: Changes) -> None:
        for kind, session_id in _news(store, changes):
            callback(SessionDiscoveryEvent(type=kind, session_id=session_id, agent=agent))

    return listen(store.folder, heard)


def _news(store: Store, changes: Changes) -> list[tuple[Kind, str]]:
    """What a burst of changes comes to: one piece of news for each session."""
    news: dict[str, Kind] = {}
    for what, path in changes:
        session_id = store.session_of(path)
        if session_id is not None and news.get(session_id) != "session_created":
            news[session_id] = _KINDS[what]
    return [(kind, session_id) for session_id, kind in sorted(news.items())]
