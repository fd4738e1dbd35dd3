"""The server that a connection is with: what it says of itself, what protects the way to it, and what time it has."""

from __future__ import annotations

import ssl
import time
from datetime import datetime
from typing import Final

import msgspec

from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal, ask
from trunkline.dialects.outside import is_whole_number

VERSION_LEAST: Final = (2, 12)
"""The first that stores several messages as one, which three replicas need to be quick."""
PAYLOAD_LEAST: Final = 1 << 20
"""The servers' own default; no message of ours is larger."""


class Server(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a server says when one connects to it."""

    url: str
    name: str
    version: str
    has_jetstream: bool
    asks_for_key: bool
    max_payload: int
    cluster: str = ""
    """The name of the servers' own cluster; empty: it is alone."""

    @property
    def is_new_enough(self) -> bool:
        """Whether it can do all that we ask of it."""
        numbers = tuple(int(part) for part in self.version.split("-")[0].split(".")[:2] if is_whole_number(part))
        return numbers >= VERSION_LEAST


class Certificate(msgspec.Struct, frozen=True):
    """What the way to the server is encrypted by."""

    protocol: str
    until: float
    """Seconds since the epoch."""


class Clock(msgspec.Struct, frozen=True):
    """The server's clock: so many seconds before ours (or behind, below zero), as far as the way there lets one know."""

    ahead_s: float
    round_trip_s: float


def server_of(connection: Connection) -> Server:
    """The server that answers at this moment."""
    said, url = connection.client.server_info, connection.client.connected_url
    return Server(url=f"{url.scheme}://{url.netloc.rpartition('@')[2]}" if url is not None else "",
                  name=str(said.get("server_name", "")), version=str(said.get("version", "")),
                  has_jetstream=bool(said.get("jetstream")), asks_for_key=bool(said.get("auth_required")),
                  max_payload=int(said.get("max_payload", 0)), cluster=str(said.get("cluster", "")))


def certificate_of(connection: Connection) -> Certificate | None:
    """What the connection is encrypted by; None: it is not."""
    tls = connection.client.tls
    if tls is None:
        return None
    return Certificate(tls.version() or "TLS", float(ssl.cert_time_to_seconds(str((tls.getpeercert() or {})["notAfter"]))))


async def clock_of(connection: Connection) -> Clock | None:
    """How the clock of the journal's leader differs from ours; None where it does not tell its time."""
    before, asked_at = time.time(), time.monotonic()
    answer = await ask(connection, f"STREAM.INFO.{subjects.JOURNAL}")
    took = time.monotonic() - asked_at
    if isinstance(answer, Refusal) or "ts" not in answer:
        return None
    return Clock(seconds_of(answer["ts"]) - (before + took / 2), took)


def seconds_of(text: str) -> float:
    """A server's time, in seconds since the epoch. It has nine digits behind the point, Python reads six."""
    whole, _, rest = text.removesuffix("Z").partition(".")
    return datetime.fromisoformat(f"{whole}+00:00").timestamp() + float(f"0.{rest or 0}")
