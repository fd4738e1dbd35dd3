"""The newest of many ids: a set that has an end.

Whoever deletes a session warns those who still have it in their hands by its id. They are done within moments, so the id need not
be kept for ever: a hub that makes and deletes sessions all day would grow by each.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

KEPT_IDS: Final = 4096
"""Far more sessions than are deleted while one read of the journal or one look into the index is under way."""


class DeletedIds(Set[str]):
    """The last KEPT_IDS ids that were added."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def add(self, name: str) -> None:
        """Keep an id; the oldest goes when they are too many."""
        self._ids.pop(name, None)
        self._ids[name] = None
        if len(self._ids) > KEPT_IDS:
            del self._ids[next(iter(self._ids))]

    def discard(self, name: str) -> None:
        """It is there again: it came back from another hub."""
        self._ids.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
