"""Which asks which devices were sent and may still show, in ``push.told``, so that a hub that comes back can take them back.

Rule 1: bounded; what can no longer be answered is forgotten.
Rule 2: a file that is lost or damaged costs a notification that stays until somebody looks, and nothing else: it is begun anew.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from trunkline.server.delivery.push.notes import PushNote
from trunkline.server.delivery.records import StateFile

log = logging.getLogger("trunkline.push")

SHOWN_FILE = "push.told"
SHOWN_MOST = 1_000


class ShownAsk(msgspec.Struct, frozen=True):
    """An ask, without what it says, and the ids of the devices' tokens that were sent it."""

    note: PushNote
    devices: frozenset[str]


class ShownAsks:
    """Asks by their id, the oldest first."""

    def __init__(self, folder: Path) -> None:
        self._record = StateFile(folder / SHOWN_FILE, list[ShownAsk], lambda: list(self._asks.values()), log)
        self._asks: dict[str, ShownAsk] = {}

    def load(self) -> None:
        """Read what a hub before this one sent. It blocks."""
        self._asks = {shown.note.ask or "": shown for shown in self._record.load() or []}

    def add(self, note: PushNote, devices: frozenset[str]) -> None:
        """These devices are being sent this ask."""
        while len(self._asks) >= SHOWN_MOST:
            del self._asks[next(iter(self._asks))]
        # What it says is nobody's business any more: only that it is shown.
        kept = PushNote(kind=note.kind, session_id=note.session_id, ask=note.ask, until=note.until)
        self._asks[note.ask or ""] = ShownAsk(kept, devices)
        self._record.save_soon()

    def pop(self, ask: str | None) -> ShownAsk | None:
        """The ask, if devices were sent it, and forget it."""
        found = self._asks.pop(ask or "", None)
        if found is not None:
            self._record.save_soon()
        return found

    def left(self, now: float) -> list[PushNote]:
        """What was sent and could still be shown."""
        return [shown.note for shown in self._asks.values() if shown.note.ttl_s(now) > 0]
