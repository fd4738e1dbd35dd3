"""What a fold makes of what it is told, in a form that tests can compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from trunkline.dialects.signals import Signal
from trunkline.journal.base import Entry
from trunkline.server.packets.frames import packet_of
from trunkline.session.fold import Fold, Steps, checkpoint, restore
from trunkline.session.interpret import Interpreter


class Told:
    """An interpreter, and everything it has written."""

    def __init__(self, guarded: Sequence[str] = ()) -> None:
        self.fold = Fold(session_id="s", agent="a", cwd="/w", created_at=0, updated_at=0)
        self.interpret = Interpreter(self.fold, guarded=guarded)
        self._steps = Steps(self.fold, known=False)
        self.steps: list[bytes] = []
        self.entries: list[Entry] = []
        self._at = 1_790_000_000_000_000

    def at(self, later_us: int = 1_000) -> Interpreter:
        self._at += later_us
        return self.interpret.at(self._at)

    def hear(self, *signals: Signal, later_us: int = 1_000) -> list[Entry]:
        """Tell it; returns the new entries."""
        self.at(later_us).on_signals(signals)
        return self.take()

    def take(self) -> list[Entry]:
        new = self.interpret.take()
        self.entries += new
        self.steps.append(self._steps.take())
        kept = restore(b"{}", self.steps)
        kept.seq = self.fold.seq
        assert kept == restore(checkpoint(self.fold)), "all that a checkpoint would have is in the steps"
        return new

    def turn(self, text: str = "go") -> Told:
        self.at().turns.start("turn-1", [msgspec.Raw(msgspec.json.encode({"type": "text", "text": text}))], by="ann")
        self.take()
        return self


def events(entries: list[Entry]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(entry.event) for entry in entries]


def names(entries: list[Entry]) -> list[str]:
    return [event["eventName"] if event["type"] == "custom" else event["type"] for event in events(entries)]


def packets(entries: list[Entry]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(packet) for entry in entries if (packet := packet_of(entry)) is not None]


def updates(entries: list[Entry]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(entry.update) for entry in entries if entry.update is not None]
