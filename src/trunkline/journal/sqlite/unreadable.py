"""Blocks that readers of a running hub found damaged: the newest, each once."""

from __future__ import annotations

import threading
import time

from trunkline.journal.base import Damage
from trunkline.journal.sqlite.block import EntryBlock

DAMAGES_LISTED = 100
"""Damages that a health lists, the newest: of more, nobody reads each."""


class Unreadable:
    """What readers met. They are in threads of their own, and whoever asks is in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], Damage] = {}

    def add(self, block: EntryBlock) -> None:
        """A reader met a block that cannot be read."""
        damage = Damage(number=0, at=time.time_ns() // 1000, session=block.session, first=block.first_seq, last=block.last_seq,
                        what="entries cannot be read")
        with self._lock:
            self._found.setdefault((block.session, block.first_seq), damage)
            if len(self._found) > DAMAGES_LISTED:
                del self._found[next(iter(self._found))]

    def newest_first(self) -> list[Damage]:
        """What is known of."""
        with self._lock:
            return [*reversed(self._found.values())]
