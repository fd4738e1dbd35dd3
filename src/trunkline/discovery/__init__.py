"""Sessions that others started: a module per vendor's store, read-only, and what watches and follows them.

    base.py     what a store offers            watch.py    reports when a session appears, changes, goes away
    notice.py   what the kernel says           follow.py   one session's file, from its beginning and on as it grows

A catalog entry names its store by the module's name (``store = "…"``).
"""

from __future__ import annotations

import os

from trunkline.discovery.base import AgentStore, FoundSession, TranscriptReading
from trunkline.discovery.claude import ClaudeStore
from trunkline.threads import check_off_loop

__all__ = ["AgentStore", "FoundSession", "TranscriptReading", "features_of", "reading_of", "store_of"]

_STORES = {"claude": ClaudeStore}


def store_of(name: str, folder: str | None) -> AgentStore | None:
    """The store of that name in that folder; None where we cannot read it, or its place is not known. It looks at the disk."""
    check_off_loop()
    kind = _STORES.get(name)
    return kind(os.path.realpath(folder)) if kind is not None and folder else None


def reading_of(name: str) -> TranscriptReading | None:
    """A reader for one file of the store of that name; None where we cannot read it."""
    kind = _STORES.get(name)
    return kind.reading() if kind is not None else None


def features_of(name: str) -> tuple[str, ...]:
    """The capability flags of a session that is followed by its file in the store of that name."""
    kind = _STORES.get(name)
    return kind.features if kind is not None else ()
