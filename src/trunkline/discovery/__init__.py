"""Sessions that others started: a module per vendor's store, read-only, and what watches and follows them.

    base.py     what a store offers            watch.py    reports when a session appears, changes, goes away
    notice.py   what the kernel says           follow.py   one session's file, from its beginning and on as it grows

A catalog entry names its store by the module's name (``store = "…"``).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trunkline.discovery.base import AgentStore, FoundSession, TranscriptReading
from trunkline.threads import check_off_loop

if TYPE_CHECKING:
    from trunkline.discovery.claude import ClaudeStore

__all__ = ["AgentStore", "FoundSession", "TranscriptReading", "features_of", "reading_of", "store_of"]


def store_of(name: str, folder: str | None) -> AgentStore | None:
    """The store of that name in that folder; None where we cannot read it, or its place is not known. It looks at the disk."""
    check_off_loop()
    kind = _store_type(name)
    return kind(os.path.realpath(folder)) if kind is not None and folder else None


def reading_of(name: str) -> TranscriptReading | None:
    """A reader for one file of the store of that name; None where we cannot read it."""
    kind = _store_type(name)
    return kind.reading() if kind is not None else None


def features_of(name: str) -> tuple[str, ...]:
    """The capability flags of a session that is followed by its file in the store of that name."""
    kind = _store_type(name)
    return kind.features if kind is not None else ()


def _store_type(name: str) -> type[ClaudeStore] | None:
    """What reads the store of that name; loaded when the first of them is wanted."""
    if name != "claude":
        return None
    from trunkline.discovery.claude import ClaudeStore

    return ClaudeStore
