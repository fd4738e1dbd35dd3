"""What is owed to webhooks, on disk: a hub that stops, or is killed, goes on with it when it is back.

Rule 1: it holds places in the journal, never bodies or secrets: what is sent is read again where it stands.
Rule 2: what was read is written down before anything is sent of it, so nothing is lost and nothing is owed twice. A hub that was
killed right behind a delivery may send that one again, under the same id.
Rule 3: in a cluster it is in its table (``shared_records.py``), and whoever sends next goes on with it.
Rule 4: it is bounded: so many deliveries, none older than a day. A file that cannot be read is begun anew, and the log says so.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import msgspec

from trunkline.server.delivery.records import MakeRecord, Record, StateFile
from trunkline.server.delivery.webhooks.rules import Webhook

log = logging.getLogger("trunkline.notify")

LEDGER_FILE = "webhooks.json"
OWED_MOST = 1_000
AGE_MOST_S = 86_400.0
"""What is older than this nobody wants to know any more."""


class Owed(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery that is not done: its id over all tries, whom it is for, and which entry it is about."""

    id: str
    hook: str
    session_id: str
    pos: int


class _Books(msgspec.Struct):
    position: int
    """Up to where the journal was read."""
    owed: list[Owed]


def key_of(hook: Webhook) -> str:
    """What a webhook is known by: its address and what it wants to know, of which the file shows nothing."""
    identity = msgspec.json.encode((hook.url, hook.events, hook.agents))
    return hashlib.sha256(identity).hexdigest()[:16]


class Ledger:
    """The deliveries of one data folder, or of what ``make`` makes; without either known only as long as the hub runs."""

    def __init__(self, path: Path | None = None, make: MakeRecord | None = None) -> None:
        self._record: Record[_Books] = StateFile(path, _Books, self._books, log) if make is None else make(_Books, self._books)
        self._owed: dict[str, Owed] = {}
        self._position = 0

    def _books(self) -> _Books:
        return _Books(self._position, list(self._owed.values()))

    def open(self, newest: int) -> tuple[int, list[Owed]]:
        """Where to go on reading, and what is owed; ``newest`` is the journal's end, where one without a file begins."""
        stored = self._record.load()
        if stored is None or stored.position > newest:
            stored = _Books(newest, [])  # there is none, or it belongs to another journal
        self._position = stored.position
        self._owed = {owed.id: owed for owed in stored.owed if owed.pos <= newest}
        return stored.position, list(self._owed.values())

    def on_read(self, position: int) -> None:
        """The journal was read up to here, and what is owed of it is in here."""
        self._position = max(self._position, position)

    def owe(self, owed: Owed) -> bool:
        """Something is to be delivered; False where too much is."""
        if len(self._owed) >= OWED_MOST:
            return False
        self._owed[owed.id] = owed
        self.on_read(owed.pos)
        return True

    def settle(self, delivery_id: str) -> None:
        """It was delivered, refused, given up, or is not wanted any more."""
        if self._owed.pop(delivery_id, None) is not None:
            self._record.save_soon()

    async def saved(self) -> None:
        """All of it is on disk, or the log says why not. In a cluster's table it has to be: else an error."""
        self._record.save_soon()
        await self._record.saved()
