"""Which asks which devices were sent and may still show, in ``push.told``, so that a hub that comes back can take them back.

Rule 1: bounded; what can no longer be answered is forgotten.
Rule 2: a file that is lost or damaged costs a notification that stays until somebody looks, and nothing else: it is begun anew.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from trunkline.server.delivery.push.notes import PushNote
from trunkline.server.delivery.records import MakeRecord, Record, StateFile

log = logging.getLogger("trunkline.push")

SHOWN_FILE = "push.told"
SHOWN_MOST = 1_000


class ShownAsk(msgspec.Struct, frozen=True):
    """An ask, without what it says, and the ids of the devices' tokens that were sent it."""

    note: PushNote
    devices: frozenset[str]


class ShownAsks:
    """Asks by their id, the oldest first; in ``folder``, or in what ``make`` makes."""

    def __init__(self, folder: Path, make: MakeRecord | None = None) -> None:
        self._record: Record[list[ShownAsk]] = (
            StateFile(folder / SHOWN_FILE, list[ShownAsk], self._all, log) if make is None else make(list[ShownAsk], self._all))
        self._asks: dict[str, ShownAsk] = {}

    def _all(self) -> list[ShownAsk]:
        return list(self._asks.values())

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

    def get(self, ask: str | None) -> ShownAsk | None:
        """The ask, if devices were sent it."""
        return self._asks.get(ask or "")

    def drop(self, ask: str | None) -> None:
        """Forget it."""
        if self._asks.pop(ask or "", None) is not None:
            self._record.save_soon()

    def left(self, now: float) -> list[PushNote]:
        """What was sent and could still be shown."""
        return [shown.note for shown in self._asks.values() if shown.note.ttl_s(now) > 0]
