"""Packets back from bytes: for clients, and for tests that hold us to the shapes."""

from __future__ import annotations

from msgspec import Struct

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.detect import packet_type
from trunkline.dialects.packets.shapes import PACKETS, Packet
from trunkline.errors import Invalid


class UnknownPacket(Struct, frozen=True, gc=False):
    """A packet that this version does not know, whole."""

    raw: bytes


def decode_packet(raw: bytes) -> Packet | UnknownPacket:
    """Read one packet; ``UnknownPacket`` for a type of tomorrow, ``Invalid`` for one that breaks its shape."""
    kind = packet_type(raw)
    if kind is None:
        return UnknownPacket(raw)
    try:
        return decoders.decode(raw, PACKETS[kind])
    except BROKEN as wrong:
        raise Invalid(f"not a {kind} packet: {wrong}") from wrong
