"""A session's history between nodes: what is written is what is read, and what is none is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.aio import run
from tests.journal.samples import entries
from trunkline.cluster.moving.history import PAGE_MOST, Incoming, Offer, _framed
from trunkline.errors import Invalid, NodeVersion
from trunkline.journal.base import Entry

OFFER = Offer(session="ses_1", pool="farm", owner="box", epoch=3, seq=5, stream_seq=77, agent="demo", cwd="/work", title="T",
              status="idle", created_at=1, updated_at=2, summary=b"{}", checkpoint=b"fold", checkpoint_seq=4, by="ada")
_pack = msgspec.msgpack.encode


async def cut(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start:start + size]


async def read(body: bytes, size: int = 1000) -> tuple[Offer, list[Entry]]:
    incoming = Incoming(cut(body, size))
    return await incoming.offer(), [entry async for page in incoming.pages() for entry in page]


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_what_is_written_is_read_however_it_is_cut(size: int) -> None:
    body = b"".join(map(_framed, (_pack(OFFER), _pack(entries(1, 3)), _pack(entries(4, 5)), b"")))
    offer, found = run(read(body, size))
    assert offer == OFFER and found == entries(1, 5)
    assert (offer.row.id, offer.row.checkpoint, offer.known.stream_seq) == ("ses_1", b"fold", 77)


def test_what_is_no_history_is_refused() -> None:
    whole = _framed(_pack(OFFER))
    for body in (b"", whole[:-1], whole, whole + _framed(b"junk"), _framed(b"junk"), (PAGE_MOST + 1).to_bytes(4, "big"),
                 whole + (PAGE_MOST + 1).to_bytes(4, "big") + b"x"):
        with pytest.raises(Invalid):
            run(read(body))
    with pytest.raises(NodeVersion):
        run(read(_framed(_pack(msgspec.structs.replace(OFFER, v=2)))))
