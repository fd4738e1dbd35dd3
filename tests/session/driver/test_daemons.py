"""Which shared daemons an agent left running is reported once."""

from __future__ import annotations

from typing import cast

import msgspec

from trunkline.agents.process import AgentProcess
from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal
from trunkline.session.driver.base import DriverSink
from trunkline.session.driver.daemons import NOTE, DaemonsLeft


class Sink:
    """Keeps what a driver delivers."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []

    def on_signals(self, signals: list[Signal]) -> None:
        self.signals += signals


class Ended:
    """A process that was stopped."""

    def text_run(self, update: bytes) -> None:
        """Nothing is taken here."""

    def __init__(self, *left: tuple[int, str]) -> None:
        self.left_running = list(left)


def test_what_goes_on_after_the_agent_is_written_down_once_in_a_session() -> None:
    sink = Sink()
    daemons = DaemonsLeft(cast("DriverSink", sink))
    daemons.emit(cast("AgentProcess", Ended()))
    assert sink.signals == [], "nothing goes on"
    for _ in range(2):
        daemons.emit(cast("AgentProcess", Ended((7, "serverd"), (8, "watchd"))))
    (note,) = sink.signals
    assert isinstance(note, CustomNote) and note.kind == NOTE
    left = [{"process": 7, "name": "serverd"}, {"process": 8, "name": "watchd"}]
    assert msgspec.json.decode(note.data) == {"daemons": left}
