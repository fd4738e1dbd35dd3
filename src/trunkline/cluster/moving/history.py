"""What a new owner gets of a session: an offer, then pages of entries, then an empty one that says that this is all.

Each is msgpack with its length before it (4 bytes). It goes between nodes of one version (``Offer.v``) and is stored nowhere.

Rule 1: the offer says where the session stands (epoch, last seq, last message). Its entries go up to that seq.
Rule 2: bytes never decide how much memory they take: a page has its bound.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster.checkpoints import read_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.claim import LastKnown
from trunkline.cluster.wire import ENTRY_MOST, Mark
from trunkline.dialects.outside import BROKEN
from trunkline.errors import ClusterUnavailable, Invalid, NodeVersion
from trunkline.journal.base import Entry, SessionRow

VERSION: Final = 1
PAGE_ENTRIES: Final = 1000
PAGE_MOST: Final = ENTRY_MOST + (2 << 20)
"""Of one page: a page is 1 MiB, or one entry that is larger."""
LAG_S: Final = 10.0
"""How long a replica may need to have what the leader has."""
LOOK_S: Final = 0.05
_HEAD: Final = 4

_encode = msgspec.msgpack.Encoder().encode


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it stands, before its entries."""

    v: int = VERSION
    session: str
    pool: str
    owner: str
    """The node that has it, or had it."""
    epoch: int
    seq: int
    stream_seq: int
    agent: str
    cwd: str
    title: str
    status: str
    created_at: int
    updated_at: int
    summary: bytes
    checkpoint: bytes = b""
    checkpoint_seq: int = 0
    was_away: bool = False
    """Whether the owner could not be asked: it may have entries that nobody else has."""
    by: str = ""

    @property
    def known(self) -> LastKnown:
        """What a claim is made from."""
        return LastKnown(self.epoch, self.seq, self.stream_seq)

    @property
    def row(self) -> SessionRow:
        """The session's row, for a journal."""
        return SessionRow(id=self.session, agent=self.agent, cwd=self.cwd, title=self.title, status=self.status,
                          created_at=self.created_at, updated_at=self.updated_at, summary=self.summary,
                          checkpoint=self.checkpoint, checkpoint_seq=self.checkpoint_seq)


_offer, _page = decoders.packed(Offer), decoders.packed(list[Entry])


async def make_offer(connection: Connection, place: SessionPlace, known: LastKnown, mark: Mark, *, was_away: bool, by: str
                     ) -> Offer:
    """The offer of a session that stands at ``known``, by its last message's ``mark``."""
    found = await read_checkpoint(connection, place.pool, place.id)
    if found is not None and not _counts(found.epoch, found.seq, known, mark):
        found = None  # an owner that was away wrote it, of entries that nobody has
    return Offer(session=place.id, pool=place.pool, owner=place.owner, epoch=known.epoch, seq=known.seq,
                 stream_seq=known.stream_seq, agent=place.agent, cwd=place.cwd, title=place.title, status=place.status,
                 created_at=place.created_at, updated_at=place.updated_at, summary=bytes(place.summary), was_away=was_away, by=by,
                 checkpoint=b"" if found is None else found.body, checkpoint_seq=0 if found is None else found.seq)


def _counts(epoch: int, seq: int, known: LastKnown, mark: Mark) -> bool:
    newest = known.seq if epoch == known.epoch else mark.after or 0
    return epoch <= known.epoch and seq <= newest


async def written(reader: StreamReader, offer: Offer) -> AsyncGenerator[bytes, None]:
    """The offer and the session's entries, as bytes."""
    yield _framed(_encode(offer))
    seen, waited_s = 0, 0.0
    while seen < offer.seq:
        page = await reader.read(offer.session, after=seen, before=offer.seq + 1, limit=PAGE_ENTRIES)
        if not page:
            if waited_s > LAG_S:
                raise ClusterUnavailable(f"the stream has session {offer.session} up to entry {seen} only, not to {offer.seq}")
            await asyncio.sleep(LOOK_S)
            waited_s += LOOK_S
            continue
        seen, waited_s = page[-1].seq, 0.0
        yield _framed(_encode(page))
    yield _framed(b"")


def _framed(body: bytes) -> bytes:
    return len(body).to_bytes(_HEAD, "big") + body


class Incoming:
    """The way back. ``chunks`` are the bytes as they come."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._have = bytearray()

    async def offer(self) -> Offer:
        """What comes first; Invalid where it is none, NodeVersion where another version wrote it."""
        body = await self._frame()
        try:
            offer = _offer.decode(body)
        except BROKEN as error:
            raise Invalid(f"this is no offer of a session: {error}") from error
        if offer.v != VERSION:
            raise NodeVersion(f"a session is offered in version {offer.v}, and this node knows {VERSION}")
        return offer

    async def pages(self) -> AsyncGenerator[list[Entry], None]:
        """The rest, up to the end that it must have."""
        while body := await self._frame():
            try:
                page = _page.decode(body)
            except BROKEN as error:
                raise Invalid(f"this is no page of entries: {error}") from error
            for entry in page:
                entry.pos = 0
            yield page

    async def _frame(self) -> bytes:
        size = int.from_bytes(await self._take(_HEAD), "big")
        if size > PAGE_MOST:
            raise Invalid(f"a page of {size} bytes is too large")
        return await self._take(size)

    async def _take(self, size: int) -> bytes:
        while len(self._have) < size:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                raise Invalid("a session's history ended in the middle")
            self._have += chunk
        taken = bytes(self._have[:size])
        del self._have[:size]
        return taken
