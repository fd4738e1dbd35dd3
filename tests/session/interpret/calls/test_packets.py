"""The progress packets of a call."""

from __future__ import annotations

from typing import Any

from tests.session.interpret.told import Told, packets
from tests.session.script import update
from trunkline.session.interpret.calls.packets import KEPT_RUNS


def late_exit(told: Told, call_id: str) -> Any:
    """The exit code in the packet of an update that comes after the call's end."""
    late = told.hear(update(sessionUpdate="tool_call_update", toolCallId=call_id, title="later"))
    return packets(late)[-1]["rawOutput"]["metadata"]["exit"]


def test_how_the_last_commands_ended_is_known_in_packets_that_come_late() -> None:
    told = Told().turn()
    for number in range(KEPT_RUNS + 1):
        told.hear(update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="bash", kind="execute", status="in_progress",
                         rawInput={"command": "make"}))
        told.hear(update(sessionUpdate="tool_call_update", toolCallId=f"c{number}", status="completed",
                         rawOutput={"exit_code": 3, "output": "done"}))
    assert late_exit(told, f"c{KEPT_RUNS}") == late_exit(told, "c1") == 3
    assert late_exit(told, "c0") is None, "of older ones it is forgotten"
