"""What the hub's own terminals print for calls: while they run, and what is left of it for the result."""

from __future__ import annotations

from typing import Final

import msgspec

from trunkline.session.fold import OpenCall, remember
from trunkline.session.interpret.calls.evidence import evidence_of, printed
from trunkline.session.interpret.writer import Writer

KEPT_TERMINALS: Final = 16
"""Outputs of the hub's terminals that wait for the call which points at them."""


class _TerminalEnd(msgspec.Struct, frozen=True):
    output: str
    exit_code: int | None


class CallTerminals:
    """The last outputs of terminals that the hub runs for the agent, by terminal."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._ends: dict[str, _TerminalEnd] = {}

    def keep(self, terminal_id: str, output: str, exit_code: int | None) -> None:
        """A terminal has something to show, or has ended: keep it for the call that points at it."""
        remember(self._ends, terminal_id, _TerminalEnd(output, exit_code), KEPT_TERMINALS)

    def emit_printed(self, terminal_id: str, offset: int, output: str) -> bool:
        """A command prints; False where no running call shows its terminal yet."""
        calls = self._writer.fold.calls.values()
        shown = (call for call in calls if not call.finished and call.evidence and terminal_id in call.evidence.terminals)
        call = next(shown, None)
        if call is not None:
            data = {"toolCallId": call.state.tool_call_id, "terminalId": terminal_id, "offset": offset, "output": output}
            self._writer.custom("terminal_output", data)
        return call is not None

    def hand_over(self, call: OpenCall) -> None:
        """Put what terminals printed for a call into its evidence."""
        for terminal_id in call.evidence.terminals if call.evidence else ():
            end = self._ends.pop(terminal_id, None)
            if end is not None:
                printed(evidence_of(call), end.output)
                evidence_of(call).exit_code = end.exit_code
