"""A node that owns sessions, for tests: a journal in memory, and a shipper that is fed as the committer feeds it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.cluster.connecting import connected
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.cluster.shipping.ledger import Ledger
from trunkline.cluster.shipping.shipper import SPOOL_BYTES, Lost, Shipper
from trunkline.cluster.streams import Sizes, configs, make_all
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.memory import MemoryJournal

SMALL = Sizes(journal=256 << 20, parts=256 << 20, checkpoints=16 << 20, tables=8 << 20)


class Owner:
    """One start of a node."""

    def __init__(self, connection: Connection, journal: MemoryJournal, shipper: Shipper) -> None:
        self.connection, self.journal, self.shipper = connection, journal, shipper
        self.lost: list[Lost] = []
        shipper.on_taken = self._on_taken

    async def commit(self, session_id: str, entries: list[Entry]) -> None:
        """Store entries locally, and have them shipped."""
        await self.journal.append(Group({session_id: entries}, {}))
        self.shipper.committed({session_id: entries})

    async def ship(self, session_id: str, entries: list[Entry]) -> None:
        """The same, and wait until the stream has them."""
        await self.commit(session_id, entries)
        await self.shipper.shipped(session_id, entries[-1].seq)

    async def _on_taken(self, lost: Lost) -> None:
        self.lost.append(lost)


@asynccontextmanager
async def owner(*urls: str, node: str = "box", pool: str = "box", journal: MemoryJournal | None = None,
                ledger: Path | None = None, spool_bytes: int = SPOOL_BYTES,
                on_full: Callable[[bool], None] = lambda full: None) -> AsyncIterator[Owner]:
    """A node that is connected and ships. With the same journal and ledger it is the same node, started again."""
    async with connected(*urls, node=node) as connection:
        own = journal if journal is not None else MemoryJournal()
        shipper = Shipper(connection, own, Ledger(ledger), pool=pool, incarnation="i1", spool_bytes=spool_bytes, on_full=on_full)
        await shipper.open()
        try:
            yield Owner(connection, own, shipper)
        finally:
            await shipper.close(within_s=0.2)


async def set_up(*urls: str) -> None:
    """Make the streams."""
    async with connected(*urls, node="admin") as admin:
        await make_all(admin, configs(len(urls), SMALL))


async def messages(connection: Connection, session_id: str, pool: str = "box") -> list[Stored]:
    """All messages of a session, in order."""
    found: list[Stored] = []
    while True:
        page = await jetstream.read_page(connection, subjects.JOURNAL, subjects.journal(pool, session_id),
                                         from_seq=found[-1].seq + 1 if found else 1, batch=200, max_bytes=4 << 20)
        if not page.messages:
            return found
        found += page.messages


async def shipped_seqs(connection: Connection, session_id: str, pool: str = "box") -> list[int]:
    """The seqs of all entries of a session in the stream, in order."""
    seqs: list[int] = []
    for message in await messages(connection, session_id, pool):
        read = wire.read_message(message.headers, message.data)
        if isinstance(read, wire.Entries):
            seqs += sorted([entry.seq for entry in read.entries] + list(read.parts))
    return seqs
