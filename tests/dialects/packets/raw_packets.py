"""The packet that updates of one call add up to, as its JSON."""

from __future__ import annotations

import json
from typing import Any

from tests.dialects.packets.calls import AT, call_of
from trunkline.dialects.packets.derive import progress_packet
from trunkline.dialects.packets.raw_inputs import Beside


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": said}}]


def packet_of(*updates: dict[str, Any], beside: Beside | None = None, as_sent: bool = False) -> dict[str, Any]:
    packet = json.loads(progress_packet(call_of(*updates), AT, beside=beside or Beside(), as_sent=as_sent))
    assert isinstance(packet, dict)
    return packet


DONE = {"status": "completed"}
