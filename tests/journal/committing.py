"""Journals and sessions that remember what a committer gave them."""

from __future__ import annotations

import asyncio

from tests.journal.samples import seqs
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group
from trunkline.journal.committer import Committer
from trunkline.journal.run_delay import RunDelay
from trunkline.journal.stores.memory import MemoryJournal


class Watched(MemoryJournal):
    """Remembers each group and when it was committed; fails while ``failure`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[Group] = []
        self.times_ms: list[float] = []
        self.failure: Exception | None = None

    def append_now(self, group: Group) -> bool:
        if self.failure is not None:
            raise self.failure
        super().append_now(group)
        self.groups.append(group)
        self.times_ms.append(round((asyncio.get_running_loop().time() - 1000.0) * 1000, 3))
        return True


class NoDelay(RunDelay):
    """Of a machine that always has a core: the one that runs the tests may be busy, and its time is not theirs."""

    def read(self) -> bytes:
        return b""


class Slow(Watched):
    """Commits only when told to, as a disk does."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    def append_now(self, group: Group) -> bool:
        return False

    async def append(self, group: Group) -> None:
        await self.go.wait()
        super().append_now(group)


class Sink:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[list[int]] = []
        self.sizes: list[int] = []
        self.errors: list[StorageError] = []
        self.lost: list[list[int]] = []

    def committed(self, entries: list[Entry], size: int) -> None:
        assert all(each.pos for each in entries)
        self.told.append(seqs(entries))
        self.sizes.append(size)

    def failed(self, error: StorageError, entries: list[Entry]) -> None:
        self.errors.append(error)
        self.lost.append(seqs(entries))


def with_sinks(committer: Committer, *session_ids: str) -> list[Sink]:
    sinks = [Sink() for _ in session_ids]
    for session_id, sink in zip(session_ids, sinks, strict=True):
        committer.register(session_id, sink)
    return sinks


async def wait_ms(milliseconds: float) -> None:
    await asyncio.sleep(milliseconds / 1000)
