"""The progress packet of a call: all that is known of it, also what the call's own fields do not have."""

from __future__ import annotations

from typing import Final

from trunkline.dialects.packets.derive import progress_packet
from trunkline.dialects.packets.raw_inputs import Beside
from trunkline.session.fold import OpenCall, remember
from trunkline.session.interpret.asks.subjects import has_input
from trunkline.session.interpret.calls.followed import FollowedCalls
from trunkline.session.interpret.calls.structured import run_of
from trunkline.session.interpret.calls.terminals import CallTerminals
from trunkline.session.interpret.writer import Writer

KEPT_RUNS: Final = 16
"""Commands that have ended and whose ends are still known, for packets that come late."""


class CallPackets:
    """Progress packets. ``as_sent``: inputs and outputs are in them as the agent sent them."""

    def __init__(self, writer: Writer, calls: FollowedCalls, terminals: CallTerminals, *, as_sent: bool = False) -> None:
        self._writer = writer
        self._calls = calls
        self._terminals = terminals
        self._as_sent = as_sent
        self._ran: dict[str, Beside] = {}
        """How the last commands ended."""

    def forget(self, tool_call_id: str) -> None:
        """Another call has this id now."""
        self._ran.pop(tool_call_id, None)

    def progress(self, call: OpenCall, token: memoryview | None, *, finished: bool) -> bytes:
        """All that is known of a call; ``token`` is its text, where that is in the update as it is to be sent."""
        beside = Beside() if self._as_sent else self._beside(call, finished=finished)
        return progress_packet(call.state, self._writer.at, token, beside=beside, as_sent=self._as_sent)

    def _beside(self, call: OpenCall, *, finished: bool) -> Beside:
        """What packets cannot know from the call alone; looked for where it counts, a command without an input or at its end."""
        given = has_input(call.state)
        if not finished and call.finished and call.state.tool_call_id in self._ran:
            return self._ran[call.state.tool_call_id]
        if not finished and given:
            return Beside(shows_ask=call.shows_ask)
        if finished:
            self._terminals.hand_over(call)
        facts = self._calls.facts(call)
        if facts.role != "terminal":
            return Beside(shows_ask=call.shows_ask)
        code, printed = run_of(facts) if call.state.status == "completed" else (None, None)
        beside = Beside(command="" if given else facts.command, exit_code=code, printed=printed,
                        shows_ask=call.shows_ask)
        if finished:
            remember(self._ran, call.state.tool_call_id, beside, KEPT_RUNS)
        return beside
