"""Single keys of a bucket: written, taken away and read, each under a fence.

Rule 1: a fence decides, never a look before. It is the number of the key's last message.
Rule 2: an answer that did not come says nothing: the same is sent again, under the same id. Where the fence has moved meanwhile
        the leader is asked whether that was this very message.
Rule 3: a key that was taken away leaves a mark for a while, and one that expired leaves one for a second. Both count as nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

import msgspec

from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal, Stored
from trunkline.errors import ClusterUnavailable, Conflict, NodeAway, NodeSilent

TTL: Final = "Nats-TTL"
OPERATION: Final = "KV-Operation"
MARKER: Final = "Nats-Marker-Reason"
MARK_S: Final = 3_600
"""How long the mark of a key that was taken away stays: every copy has read it long before."""
ANSWER_S: Final = 3.0
TRIES_S: Final = 8.0
"""An election takes up to 7 s; who waits for longer is told."""
PAUSE_S: Final = 0.02
PAUSE_MOST_S: Final = 0.5
AGAIN: Final = frozenset((jetstream.IN_FLIGHT, jetstream.DUPLICATE_IN_PROCESS))


class Row(msgspec.Struct, frozen=True):
    """A key's value; ``revision`` is the fence for what comes next."""

    value: bytes
    revision: int


def is_mark(headers: dict[str, str]) -> bool:
    """Whether a message only says that there is nothing any more."""
    return OPERATION in headers or MARKER in headers


class Keys:
    """The keys of one bucket."""

    def __init__(self, connection: Connection, bucket: str) -> None:
        self._connection = connection
        self.bucket = bucket
        self.stream = subjects.bucket_stream(bucket)

    async def read(self, key: str) -> Row | None:
        """What the leader has; None where there is nothing."""
        last = await self._last(key)
        return None if last is None or is_mark(last.headers) else Row(last.data, last.seq)

    async def create(self, key: str, value: bytes, *, ttl_s: float | None = None) -> int:
        """Write a key that is not there; Conflict where it is. Returns its revision."""
        try:
            return await self._write(key, value, {jetstream.FENCE: "0", **_ttl(ttl_s)})
        except Conflict:
            last = await self._last(key)
            if last is None or not is_mark(last.headers):
                raise
        return await self._write(key, value, {jetstream.FENCE: str(last.seq), **_ttl(ttl_s)})

    async def put(self, key: str, value: bytes, *, revision: int | None = None, ttl_s: float | None = None) -> int:
        """Write a key, whatever is there; with ``revision`` only over that one, else Conflict. Returns its revision."""
        fence = {} if revision is None else {jetstream.FENCE: str(revision)}
        return await self._write(key, value, fence | _ttl(ttl_s))

    async def take(self, key: str, revision: int) -> None:
        """Take a key away, if it is still this one; Conflict where somebody else was there first."""
        await self._write(key, b"", {jetstream.FENCE: str(revision), OPERATION: "DEL", **_ttl(MARK_S)})

    async def drop(self, key: str) -> None:
        """Take a key away, whatever it is."""
        await self._write(key, b"", {OPERATION: "DEL", **_ttl(MARK_S)})

    async def _last(self, key: str) -> Stored | None:
        return await jetstream.last_message(self._connection, self.stream, subjects.key(self.bucket, key))

    async def _write(self, key: str, value: bytes, headers: dict[str, str]) -> int:
        """Store one message, however often that has to be tried; Conflict where its fence has moved."""
        subject, own = subjects.key(self.bucket, key), secrets.token_hex(12)
        named = {**headers, jetstream.MSG_ID: own, jetstream.EXPECTED_STREAM: self.stream}
        pause_s, problem = PAUSE_S, ""
        try:
            async with asyncio.timeout(TRIES_S):
                while True:
                    try:
                        answer = await jetstream.publish(self._connection, subject, value, named, within_s=ANSWER_S)
                    except (NodeAway, NodeSilent) as error:
                        problem = error.message
                    else:
                        if not isinstance(answer, Refusal):
                            return answer.seq
                        if answer.err_code == jetstream.WRONG_LAST:
                            return await self._own(key, own)
                        if answer.err_code not in AGAIN:
                            raise ClusterUnavailable(f"{key} cannot be written: {answer.description} ({answer.err_code})")
                        problem = answer.description
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, PAUSE_MOST_S)
        except TimeoutError:
            raise NodeSilent(f"the cluster did not say whether {key} was written: {problem}") from None

    async def _own(self, key: str, own: str) -> int:
        """The revision that this very message has, where an earlier try of it was stored; else Conflict."""
        last = await self._last(key)
        if last is not None and last.headers.get(jetstream.MSG_ID) == own:
            return last.seq
        raise Conflict(f"{key} was changed by another node meanwhile")


def _ttl(seconds: float | None) -> dict[str, str]:
    """Whole seconds, at least one: servers take nothing else."""
    return {} if seconds is None else {TTL: f"{max(1, round(seconds))}s"}
