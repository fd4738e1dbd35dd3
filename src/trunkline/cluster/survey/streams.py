"""Each stream and bucket of a cluster: what is in it, of how much, on which servers, and whether it is set as we need it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import NO_STREAM, Refusal, accepted, ask
from trunkline.cluster.streams import Sizes, configs
from trunkline.errors import ClusterDenied, NodeAway, NodeSilent

CHOSEN: Final = ("num_replicas", "max_bytes")
"""What whoever sets a cluster up decides; all else is ours."""


class Replica(msgspec.Struct, frozen=True, omit_defaults=True):
    """A copy of a stream at a server."""

    server: str
    is_current: bool = msgspec.field(name="current")
    behind: int = 0
    """Messages that it does not have yet."""


class Stream(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stream, or a bucket by its stream."""

    name: str
    state: str = "there"
    """``there``; ``missing``; ``hidden``: this key may not look at it; ``silent``: it has no leader at this moment."""
    messages: int = 0
    bytes: int = 0
    most: int = -1
    """What it may hold on each server; -1: all that the server has."""
    replicas: int = 0
    """How many copies there should be."""
    current: int = 0
    """Of these, how many have everything."""
    leader: str = ""
    copies: list[Replica] = []
    """Those beside the leader's."""
    wrong: list[str] = []
    """Settings that are not as we need them."""

    @property
    def part(self) -> float:
        """How full it is, from 0 to 1."""
        return self.bytes / self.most if self.most > 0 else 0.0


ALL: Final = (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS, *map(subjects.bucket_stream, subjects.BUCKETS))


async def read_streams(connection: Connection) -> list[Stream]:
    """All of them, in the order in which they are made; NodeSilent where nobody answers for any."""
    found = await asyncio.gather(*(_read(connection, name) for name in ALL))
    if all(each.state in ("silent", "hidden") for each in found):
        raise NodeSilent("no stream answers this node")
    return found


async def _read(connection: Connection, name: str) -> Stream:
    try:
        answer = await ask(connection, f"STREAM.INFO.{name}")
    except ClusterDenied:
        return Stream(name=name, state="hidden")
    except (NodeAway, NodeSilent):
        return Stream(name=name, state="silent")
    if isinstance(answer, Refusal) and answer.err_code == NO_STREAM:
        return Stream(name=name, state="missing")
    return stream_of(accepted(answer, name))


def stream_of(found: dict[str, Any]) -> Stream:
    """A stream by what its leader says of it."""
    config, state, group = found["config"], found["state"], found.get("cluster") or {}
    copies = [Replica(each["name"], bool(each.get("current")) and not each.get("offline"), each.get("lag", 0))
              for each in group.get("replicas") or ()]
    return Stream(name=config["name"], messages=state["messages"], bytes=state["bytes"], most=config["max_bytes"],
                  replicas=config["num_replicas"], current=1 + sum(each.is_current for each in copies),
                  leader=group.get("leader", ""), copies=copies, wrong=_differing(config))


def _differing(config: dict[str, Any]) -> list[str]:
    wanted = next(each for each in configs(config["num_replicas"], Sizes()) if each["name"] == config["name"])
    return [key for key, value in wanted.items() if key not in CHOSEN and config.get(key, 0) != value]
