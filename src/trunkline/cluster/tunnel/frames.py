"""The bytes of one message: its version, its kind, its number, and what it carries.

Rule 1: the version is the first byte of every message, whatever the version. One that we do not speak is refused by its name.
Rule 2: what is no message of ours is an error of the tree (NodeVersion, NodeSilent); nothing else leaves ``decode``.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from trunkline.errors import NodeSilent, NodeVersion

VERSION = 1
_HEAD = struct.Struct(">BBI")
HEAD_BYTES = _HEAD.size
_COUNT = struct.Struct(">I")


class Kind(IntEnum):
    """What a message is."""

    OPEN = 1
    """A request begins: ``heads.RequestHead``."""
    HEAD = 2
    """Its answer begins: ``heads.ReplyHead``."""
    PIECE = 3
    """Some of a body; more follows. Of a WebSocket: some of a message."""
    LAST = 4
    """The rest of a body."""
    TEXT = 5
    """The rest of a WebSocket's text message."""
    BINARY = 6
    """The rest of its binary message."""
    CREDIT = 7
    """How many pieces may have been sent in all."""
    BEAT = 8
    """The sender is there, and waits."""
    END = 9
    """It is over, and why: ``heads.Ending``."""


PIECES = frozenset((Kind.PIECE, Kind.LAST, Kind.TEXT, Kind.BINARY))
"""What needs credit."""


class Frame(NamedTuple):
    """One message."""

    kind: Kind
    number: int
    body: bytes


def encode(kind: Kind, number: int, body: bytes = b"") -> bytes:
    """A message as it is sent."""
    return _HEAD.pack(VERSION, kind, number) + body


def decode(data: bytes) -> Frame:
    """A message as it came; NodeVersion where another version wrote it, NodeSilent where nothing can be made of it."""
    if data and data[0] != VERSION:
        raise NodeVersion(f"this node speaks version {VERSION} of the tunnel, not version {data[0]}",
                          details={"speaks": VERSION, "got": data[0]})
    if len(data) < HEAD_BYTES:
        raise NodeSilent(f"a message of {len(data)} bytes is no message of a tunnel")
    _, kind, number = _HEAD.unpack_from(data)
    if kind not in _KINDS:
        raise NodeSilent(f"a tunnel of version {VERSION} has no messages of kind {kind}")
    return Frame(_KINDS[kind], number, data[HEAD_BYTES:])


_KINDS = {kind.value: kind for kind in Kind}


def encode_count(count: int) -> bytes:
    """What a CREDIT carries."""
    return _COUNT.pack(count)


def decode_count(body: bytes) -> int:
    """The same as it came."""
    if len(body) != _COUNT.size:
        raise NodeSilent("a credit of a tunnel has no number")
    count: int = _COUNT.unpack(body)[0]
    return count
