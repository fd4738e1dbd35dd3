"""Up to where everything is done, while what came later may be done before what came earlier.

Rule: what is kept of it is never ahead of what is done. Whoever goes on from there does some things again, and leaves none out.
"""

from __future__ import annotations

from collections import Counter

from trunkline.server.delivery.records import MakeRecord, Record


class Progress:
    """A position in a feed, kept in a record; without one it is known only as long as the hub runs."""

    def __init__(self, make: MakeRecord | None = None) -> None:
        self._record: Record[int] | None = None if make is None else make(int, lambda: self.done)
        self._read = 0
        self._open: Counter[int] = Counter()

    @property
    def done(self) -> int:
        """Everything up to here is done."""
        return min(self._open) - 1 if self._open else self._read

    def begin(self, newest: int) -> int:
        """Where to go on; ``newest`` is the feed's end, where one without a record begins."""
        stored = None if self._record is None else self._record.load()
        self._read = newest if stored is None or stored > newest else stored
        return self._read

    async def kept(self) -> None:
        """Wait until it is kept."""
        if self._record is not None:
            self._record.save_soon()
            await self._record.saved()

    def on_read(self, position: int) -> None:
        """The feed was read up to here."""
        self._read = max(self._read, position)
        self._save()

    def start(self, position: int) -> None:
        """Something is to be done for what is at this position. It may be several things."""
        self._open[position] += 1

    def end(self, position: int) -> None:
        """One of them is done."""
        self._open[position] -= 1
        if not self._open[position]:
            del self._open[position]
            self._save()

    def _save(self) -> None:
        if self._record is not None:
            self._record.save_soon()
