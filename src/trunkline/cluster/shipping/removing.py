"""What a session had in the streams, taken out behind its end: on one server message by message, which overwrites the bytes, and
on three by a purge, which does not.

Rule 1: whoever calls this has a key that may delete anything, or a server that knows no keys. No key of a node may.
Rule 2: its end stays: by that nobody begins the same id anew, and stale owners find that it is over.
Rule 3: of three servers each keeps a log beside its files, in which bytes stay (``tests/cluster/test_facts.py``): so erasing is
        for one alone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.cluster.streams import info

PAGE: Final = 256
PAGE_BYTES: Final = 1 << 20


class Place(NamedTuple):
    """Messages of one subject (which may have wildcards) before a number; 0: all of them."""

    stream: str
    subject: str
    before: int = 0


def places_of(pool: str, session_id: str, ended: int) -> list[Place]:
    """Where a session has something, but for its end."""
    return [Place(subjects.PARTS, subjects.all_parts(pool, session_id)),
            Place(subjects.CHECKPOINTS, subjects.checkpoint(pool, session_id)),
            Place(subjects.JOURNAL, subjects.journal(pool, session_id), ended)]


async def is_on_one(connection: Connection) -> bool:
    """Whether only one server has the streams."""
    return bool((await info(connection, subjects.JOURNAL))["config"]["num_replicas"] == 1)


async def erase(connection: Connection, place: Place) -> int:
    """Overwrite messages, one by one; how many. ClusterDenied where the key may not."""
    count = 0
    async for message in messages_at(connection, place):
        answer = await jetstream.ask(connection, f"STREAM.MSG.DELETE.{place.stream}", {"seq": message.seq})
        jetstream.accepted(answer, place.subject)
        count += 1
    return count


async def purge(connection: Connection, place: Place) -> int:
    """Take messages out, all at once; how many."""
    asked: dict[str, object] = {"filter": place.subject} | ({"seq": place.before} if place.before else {})
    answer = jetstream.accepted(await jetstream.ask(connection, f"STREAM.PURGE.{place.stream}", asked), place.subject)
    return int(answer["purged"])


async def messages_at(connection: Connection, place: Place, *, from_seq: int = 1) -> AsyncGenerator[Stored, None]:
    """The messages of a place, in order."""
    while True:
        page = await jetstream.read_page(connection, place.stream, place.subject, from_seq=from_seq, batch=PAGE,
                                         max_bytes=PAGE_BYTES)
        for message in page.messages:
            if place.before and message.seq >= place.before:
                return
            yield message
        if not page.messages or not page.more:
            return
        from_seq = page.messages[-1].seq + 1
