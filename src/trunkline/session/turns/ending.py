"""What is done when a turn ends: artifacts are looked for, calls that it left open end, and its end is written down.

Rule: however many calls a turn left open, to end them holds nobody up: others have their turn in between.
"""

from __future__ import annotations

import asyncio

import msgspec

from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.signals import TurnEnd
from trunkline.errors import AgentAuthRequired, AgentError, TrunklineError
from trunkline.session.fold import OpenCall, Turn
from trunkline.session.intake.intake import GAP_S, HOLD_S
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.artifacts import ArtifactFinder

End = TurnEnd | TrunklineError

CALLS_AT_ONCE = 16
"""Calls that end with their turn at once: more than most turns leave open. One with a large input takes a millisecond."""


class TurnEnding:
    """Ends turns, one at a time."""

    def __init__(self, recorder: Recorder, finder: ArtifactFinder) -> None:
        self._recorder = recorder
        self._finder = finder

    async def look_for_artifacts(self) -> None:
        """Look for what the turn made, before its end is written."""
        try:
            await self._finder.look()
        except Exception as error:  # what cannot be looked at must not keep the turn from its end
            report_fault("artifacts could not be looked for", error)

    async def end_calls(self, turn: Turn, end: End) -> None:
        """End what the turn left open in pieces, where that is much; what was asked about ends with the asks."""
        if len(self._recorder.fold.calls) <= CALLS_AT_ONCE:
            return
        stop = end.stop if isinstance(end, TurnEnd) else None
        cancelled = turn.cancelled or stop == "cancelled"
        pending = {key for view in self._recorder.fold.approvals.values() for key in view.call_ids}
        open_calls = self._recorder.at().tools.calls.of_turn(cancelled=cancelled)
        calls = [call for call in open_calls if call.state.tool_call_id not in pending]
        if len(calls) <= CALLS_AT_ONCE:
            return
        self._recorder.backpressure.hold("turn")  # what the agent sends meanwhile would have to be ended, too
        try:
            self._recorder.at().text.close("cancelled" if turn.cancelled else stop)
            await self._end_in_pieces(calls, cancelled=cancelled)
        finally:
            self._recorder.backpressure.let_go("turn")

    async def _end_in_pieces(self, calls: list[OpenCall], *, cancelled: bool) -> None:
        now = asyncio.get_running_loop().time
        until = now() + HOLD_S
        for call in calls:
            self._recorder.at().tools.end(call, cancelled=cancelled)
            if now() > until:
                self._recorder.write()
                await asyncio.sleep(GAP_S)
                until = now() + HOLD_S

    def write(self, turn: Turn, end: End) -> str:
        """Write the end down; returns the stop reason or the code of the error."""
        turns = self._recorder.at().turns
        if isinstance(end, TrunklineError):
            turns.fail(end)
            return end.code
        stop = "cancelled" if turn.cancelled else end.stop
        if stop is not None:
            turns.end(stop, end.usage, usage_of_session=end.usage_of_session, agent_stop=end.agent_stop)
            return stop
        fault = end.error
        assert fault is not None, "a turn ends by a stop reason or by an error"
        details = {"agentData": msgspec.Raw(fault.data)} if fault.data is not None else None
        kind = AgentAuthRequired if fault.code == ErrorCode.AUTH_REQUIRED else AgentError
        error = kind(fault.message, details=details, agent_code=str(fault.code))
        turns.fail(error, rpc_code=fault.code)
        return error.code


def report_fault(message: str, error: Exception) -> None:
    """Something of ours failed, and the turn goes on to its end."""
    asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})
