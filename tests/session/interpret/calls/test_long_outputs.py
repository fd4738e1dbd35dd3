"""Long outputs: they stand in what is written as they stood in what the agent sent."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.session.interpret.call_builders import call, listening, more, text

RUN: dict[str, Any] = {"rawInput": {"command": "make"}}


def test_a_long_text_stands_in_the_packet_as_the_agent_wrote_it() -> None:
    told = listening()
    told.hear(call(kind="execute", status="in_progress", **RUN))
    (entry, *_) = told.hear(more(status="completed", content=text('say "|" \\ \u2028 é\n' * 1000)))
    packet = msgspec.json.decode(entry.packet or b"")
    assert packet["content"][0]["content"]["text"] == 'say "|" \\ \u2028 é\n' * 1000
    assert list(packet)[:2] == ["_meta", "content"]
