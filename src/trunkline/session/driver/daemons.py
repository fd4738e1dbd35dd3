"""Reports to a session which shared daemons its agent left running: once, whatever the agent is driven by."""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.agents.process import AgentProcess
from trunkline.dialects.notes import CustomNote
from trunkline.session.driver.base import DriverSink

NOTE: Final = "daemons_left_running"


class DaemonsLeft:
    """Of one agent process after the other, in one session."""

    def __init__(self, sink: DriverSink) -> None:
        self._sink = sink
        self._emitted = False

    def emit(self, process: AgentProcess) -> None:
        """The process has been stopped: write down what goes on."""
        left = [{"process": pid, "name": name} for pid, name in process.left_running]
        if left and not self._emitted:
            self._emitted = True
            self._sink.on_signals([CustomNote(NOTE, msgspec.json.encode({"daemons": left}))])
