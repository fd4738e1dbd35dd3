"""Sessions that others started: a module per vendor's store, read-only, and what watches and follows them.

    base.py     what a store offers            watch.py      reports when a session appears, changes, goes away
    files.py    stores of a file per session   sqlite.py     a database that another program has open
    notice.py   what the kernel says           follow.py     one session's file, from its beginning and on as it grows
    claude_agents.py  a session and its sub-agents' files
    processes.py  which program has a session  follow_rows.py  the same for rows of a database

A catalog entry names its store by the module's name (``store = "…"``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from trunkline.discovery.base import AgentStore, Ending, FoundSession, TranscriptReading
from trunkline.discovery.files import FileStore
from trunkline.discovery.follow import Following, OnPart, OnSignals, Prepare
from trunkline.threads import check_off_loop

__all__ = ["AgentStore", "FoundSession", "StoreType", "TranscriptReading", "features_of", "reading_of", "store_of", "store_type"]


_STORES = {"claude": "ClaudeStore", "codex": "CodexStore", "copilot": "CopilotStore", "gemini": "GeminiStore",
           "goose": "GooseStore", "opencode": "OpencodeStore", "qwen": "QwenStore"}
"""The module of each store, and what reads it there."""


class StoreType(Protocol):
    """What reads a store."""

    @property
    def features(self) -> tuple[str, ...]:
        """As for the store."""

    def __call__(self, folder: str) -> AgentStore:
        """The store in that folder."""

    def following(self, path: str, session_id: str, position: int, on_signals: OnSignals, *, folder: str,
                  prepare: Prepare | None = None, parts: Mapping[str, int] | None = None,
                  on_part: OnPart | None = None) -> Following:
        """What reads one session, from a position on, and goes on doing so. ``folder`` is what is watched. ``parts`` are the
        positions in the files beside it, for stores that have such; ``on_part`` takes the next ones."""

    def ending(self, path: str, session_id: str) -> Ending:
        """Where one session ends now. It looks at the disk."""


def store_of(name: str, folder: str | None) -> AgentStore | None:
    """The store of that name in that folder; None where we cannot read it, or its place is not known. It looks at the disk."""
    check_off_loop()
    kind = store_type(name)
    return kind(os.path.realpath(folder)) if kind is not None and folder else None


def reading_of(name: str) -> TranscriptReading | None:
    """A reader for one file of the store of that name; None where it has no file for each session."""
    kind: object = store_type(name)
    return kind.reading() if isinstance(kind, type) and issubclass(kind, FileStore) else None


def features_of(name: str) -> tuple[str, ...]:
    """The capability flags of a session that is followed by its file in the store of that name."""
    kind = store_type(name)
    return kind.features if kind is not None else ()


def store_type(name: str) -> StoreType | None:
    """What reads the store of that name; loaded when the first of them is wanted."""
    if name not in _STORES:
        return None
    return cast(StoreType, getattr(import_module(f"trunkline.discovery.{name}"), _STORES[name]))
