"""What is owed to webhooks, on disk: a hub that stops, or is killed, goes on with it when it is back.

Rule 1: it holds places in the journal, never bodies or secrets: what is told is read again where it stands.
Rule 2: what was heard is written down before anything is sent of it, so nothing is lost and nothing is owed twice. A hub that was
killed right behind a delivery may send that one again, under the same id.
Rule 3: it is bounded: so many deliveries, none older than a day. A file that cannot be read is begun anew, and the log says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from pathlib import Path

import msgspec

from trunkline.dialects.outside import BROKEN
from trunkline.server.notify.rules import Webhook
from trunkline.server.tokens import write_private

log = logging.getLogger("trunkline.notify")

LEDGER_FILE = "webhooks.json"
OWED_MOST = 1_000
AGE_MOST_S = 86_400.0
"""What is older than this nobody wants to hear any more."""


class Owed(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery that is not done: its id over all tries, whom it is for, and which entry it tells of."""

    id: str
    hook: str
    session_id: str
    pos: int


class _Stored(msgspec.Struct):
    position: int
    """Up to where the journal was heard."""
    owed: list[Owed]


def key_of(hook: Webhook) -> str:
    """What a webhook is known by: its address and what it wants to hear, of which the file shows nothing."""
    told = msgspec.json.encode((hook.url, hook.events, hook.agents))
    return hashlib.sha256(told).hexdigest()[:16]


class Ledger:
    """The deliveries of one data folder; without a path they are known only as long as the hub runs."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._owed: dict[str, Owed] = {}
        self._position = 0
        self._changed = False
        self._saving: asyncio.Task[None] | None = None

    def open(self, newest: int) -> tuple[int, list[Owed]]:
        """Where to go on hearing, and what is owed; ``newest`` is the journal's end, where one without a file begins."""
        stored = self._load()
        if stored is None or stored.position > newest:
            stored = _Stored(newest, [])  # there is none, or it belongs to another journal
        self._position = stored.position
        self._owed = {owed.id: owed for owed in stored.owed if owed.pos <= newest}
        return stored.position, list(self._owed.values())

    def heard(self, position: int) -> None:
        """The journal was heard up to here, and what is owed of it was said before."""
        self._position = max(self._position, position)

    def owe(self, owed: Owed) -> bool:
        """Something is to be delivered; False where too much is."""
        if len(self._owed) >= OWED_MOST:
            return False
        self._owed[owed.id] = owed
        self.heard(owed.pos)
        return True

    def settle(self, delivery_id: str) -> None:
        """It was delivered, refused, given up, or is not wanted any more."""
        if self._owed.pop(delivery_id, None) is not None:
            self._save_soon()

    async def saved(self) -> None:
        """All of it is on disk, or the log says why not."""
        self._save_soon()
        if self._saving is not None:
            await asyncio.shield(self._saving)

    def _save_soon(self) -> None:
        self._changed = True
        if self._path is not None and self._saving is None:
            self._saving = asyncio.create_task(self._save(self._path))

    async def _save(self, path: Path) -> None:
        try:
            while self._changed:
                self._changed = False
                content = msgspec.json.encode(_Stored(self._position, list(self._owed.values())))
                await asyncio.to_thread(write_private, path, content)
        except OSError as error:
            log.warning("what is owed to webhooks is not kept: cannot write %s: %s", path, error.strerror)
        finally:
            self._saving = None

    def _load(self) -> _Stored | None:
        if self._path is None or not self._path.exists():
            return None
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Stored)
        except (OSError, *BROKEN) as error:
            log.warning("what was owed to webhooks is lost: %s cannot be read: %s", self._path, error)
            return None
