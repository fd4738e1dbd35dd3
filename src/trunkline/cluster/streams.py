"""The streams and buckets of a cluster: what each is set to, made by ``trunkline cluster init``.

Rule 1: never ``discard: old``. A full stream refuses, and its writer keeps what it has; it never forgets a session in silence.
Rule 2: what is there is brought to what is asked for, never deleted.
Rule 3: no roll-ups where nothing needs them: whoever may write one subject could empty the whole stream. Marks of what expired
        need them (servers switch them on), so only the buckets of leases have marks: their rows are written again all the time.
        Elsewhere a row's own clock says that its time is over.
Rule 4: nothing here needs a consumer. Stored messages are said again (``republish``), and the rest is read in pages.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import NO_STREAM, Refusal, accepted, ask
from trunkline.errors import ClusterUnavailable, NodeAway

Config = dict[str, Any]

SECOND_NS: Final = 1_000_000_000
DUPLICATE_WINDOW_NS: Final = 120 * SECOND_NS
MARKER_NS: Final = 1 * SECOND_NS
"""A message's life below this would be raised to it without a word: leases need the least that there is."""
READY_WITHIN_S: Final = 20.0
"""An election takes up to 7 s."""
READY_POLL_S: Final = 0.05


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much each may hold, in bytes, on every replica."""

    journal: int = 10 << 30
    parts: int = 10 << 30
    checkpoints: int = 1 << 30
    tables: int = 256 << 20
    """Each of the buckets."""


def configs(replicas: int, sizes: Sizes) -> list[Config]:
    """What all of them are set to."""
    return [_journal(replicas, sizes.journal), _parts(replicas, sizes.parts), _checkpoints(replicas, sizes.checkpoints),
            *(_bucket(bucket, replicas, sizes.tables) for bucket in subjects.BUCKETS)]


async def make_all(connection: Connection, wanted: list[Config]) -> list[str]:
    """Make what is missing and change what differs; returns a line for each."""
    return [await _make(connection, config) for config in wanted]


async def info(connection: Connection, stream: str) -> Config:
    """How a stream is; ClusterUnavailable where it is not there."""
    answer = await ask(connection, f"STREAM.INFO.{stream}")
    if isinstance(answer, Refusal) and answer.err_code == NO_STREAM:
        raise ClusterUnavailable(f"the cluster has no stream {stream}: run trunkline cluster init")
    return accepted(answer, stream)


async def _make(connection: Connection, config: Config) -> str:
    name = config["name"]
    found = await ask(connection, f"STREAM.INFO.{name}")
    if isinstance(found, Refusal):
        accepted(await ask(connection, f"STREAM.CREATE.{name}", config), f"cannot make {name}")
        await _wait_ready(connection, name)
        return f"{name}: made"
    if all(found["config"].get(key, 0) == value for key, value in config.items()):  # servers leave out what is 0
        return f"{name}: there"
    accepted(await ask(connection, f"STREAM.UPDATE.{name}", {**found["config"], **config}), f"cannot change {name}")
    return f"{name}: changed"


async def _wait_ready(connection: Connection, name: str) -> None:
    """A stream that was just made may have nobody who answers for a moment."""
    async with asyncio.timeout(READY_WITHIN_S):
        while True:
            try:
                if not isinstance(await ask(connection, f"STREAM.MSG.GET.{name}", {"seq": 1}), dict):
                    return
            except NodeAway:
                await asyncio.sleep(READY_POLL_S)


def _stream(name: str, topics: str, replicas: int, max_bytes: int, **more: object) -> Config:
    return {"name": name, "subjects": [topics], "num_replicas": replicas, "storage": "file", "retention": "limits",
            "discard": "new", "max_bytes": max_bytes, "allow_direct": True, "compression": "none", "max_consumers": 64,
            "duplicate_window": DUPLICATE_WINDOW_NS, "allow_rollup_hdrs": False, **more}


def _journal(replicas: int, max_bytes: int) -> Config:
    return _stream(subjects.JOURNAL, "tl.j.>", replicas, max_bytes, allow_atomic=True,
                   republish={"src": "tl.j.>", "dest": "tl.live.>"})


def _parts(replicas: int, max_bytes: int) -> Config:
    return _stream(subjects.PARTS, "tl.b.>", replicas, max_bytes)


def _checkpoints(replicas: int, max_bytes: int) -> Config:
    return _stream(subjects.CHECKPOINTS, "tl.k.>", replicas, max_bytes, max_msgs_per_subject=1)


def _bucket(bucket: str, replicas: int, max_bytes: int) -> Config:
    source, has_marks = f"$KV.{bucket}.>", bucket in subjects.LEASES
    return _stream(subjects.bucket_stream(bucket), source, replicas, max_bytes, max_msgs_per_subject=1, allow_msg_ttl=True,
                   allow_rollup_hdrs=has_marks, subject_delete_marker_ttl=MARKER_NS if has_marks else 0,
                   republish={"src": source, "dest": subjects.live_keys(bucket)})
