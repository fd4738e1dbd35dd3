"""Which asks which devices were told of and may still show, in ``push.told``, so that a hub that comes back can take them back.

Rule 1: bounded; what can no longer be answered is forgotten.
Rule 2: a file that is lost or damaged costs a notification that stays until somebody looks, and nothing else: it is begun anew.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from trunkline.dialects.outside import BROKEN
from trunkline.disk.private_file import PrivateFile
from trunkline.server.delivery.push.notes import Note

log = logging.getLogger("trunkline.push")

TOLD_FILE = "push.told"
TOLD_MOST = 1_000


class ToldAsk(msgspec.Struct, frozen=True):
    """An ask, without what it says, and the ids of the devices' tokens that were told of it."""

    note: Note
    devices: frozenset[str]


class ToldAsks:
    """Asks by their id, the oldest first."""

    def __init__(self, folder: Path) -> None:
        self._file = PrivateFile(folder / TOLD_FILE, lambda: msgspec.json.encode(list(self._asks.values())))
        self._asks: dict[str, ToldAsk] = {}

    def load(self) -> None:
        """Read what a hub before this one told. It blocks."""
        self._asks = _load(self._file.path)

    def add(self, note: Note, devices: frozenset[str]) -> None:
        """These devices are being told of this ask."""
        while len(self._asks) >= TOLD_MOST:
            del self._asks[next(iter(self._asks))]
        # What it says is nobody's business any more: only that it was told.
        kept = Note(kind=note.kind, session_id=note.session_id, ask=note.ask, until=note.until)
        self._asks[note.ask or ""] = ToldAsk(kept, devices)
        self._file.save_soon()

    def pop(self, ask: str | None) -> ToldAsk | None:
        """The ask, if devices were told of it, and forget it."""
        found = self._asks.pop(ask or "", None)
        if found is not None:
            self._file.save_soon()
        return found

    def left(self, now: float) -> list[Note]:
        """What was told and could still be shown."""
        return [told.note for told in self._asks.values() if told.note.ttl_s(now) > 0]


def _load(path: Path) -> dict[str, ToldAsk]:
    try:
        asks = msgspec.json.decode(path.read_bytes(), type=list[ToldAsk])
    except FileNotFoundError:
        return {}
    except (OSError, *BROKEN) as error:
        log.warning("%s cannot be read and is begun anew: %s", path, error)
        return {}
    return {told.note.ask or "": told for told in asks}
