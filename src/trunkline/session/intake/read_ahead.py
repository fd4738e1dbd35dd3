"""Long command lines are read off the loop, before the session takes them.

Reading one line takes up to tens of milliseconds, and judging it by many rules takes more: nobody else is to wait for that.

Rule 1: whoever folds or judges on the loop reads no long line (``at_once``): it finds what was read ahead here, or takes the line
        for high. So a line that nobody foresaw is judged too hard, never too mildly, and never on the loop.
Rule 2: order stays. What an agent says behind a long line, and its end, waits for it; the agent's pipe waits with it. Other
        sessions do not.
        With the first tool call of all comes what judges them (``session/judges.py``): that is loaded here too, off the loop.
Rule 3: reading is pure and has an end: lines over 16 KiB are not read at all, and are high at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.reading.decode import decode_tool_call_update, read_update
from trunkline.dialects.acp.updates import ToolCall, ToolCallUpdate
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import PermissionAsk, Signal, Update
from trunkline.errors import Invalid
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.calls.evidence import observe
from trunkline.session.interpret.calls.facts import read_open_call
from trunkline.session.judges import are_loaded, load_judges, load_judges_here

LONG_BYTES: Final = 4096
"""A message up to this size holds no long line (``dialects.shell.READ_AT_ONCE_CHARS``)."""

log = logging.getLogger("trunkline.session")


class ReadAhead(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's lines are judged by."""

    cwd: str
    roots: Sequence[str]
    home: str | None
    names: ToolNames = ToolNames()

    def read(self, signals: Iterable[Signal]) -> None:
        """Read every long line in these. In a thread; what is read is kept for who judges it on the loop."""
        load_judges_here()
        for signal in signals:
            update = _call_in(signal)
            if update is not None:
                state = CallState(tool_call_id=update.tool_call_id)
                merge_call(state, update)
                self.read_call(OpenCall(state, 0))

    def read_call(self, call: OpenCall) -> None:
        """Read the lines of a call, as everybody who judges it will want them read."""
        from trunkline.dialects.risk import Places, judge

        observe(call, ToolCallUpdate(tool_call_id=""), self.names, self.cwd)
        places = Places.of(self.cwd, list(self.roots) or [self.cwd], self.home)
        judge(read_open_call(call, self.names), places)

    async def prepare(self, signals: list[Signal]) -> None:
        """Read the long lines of these, off the loop, where there may be some."""
        if needs_reading(signals):
            await asyncio.to_thread(self.read, signals)

    async def read_input(self, given: bytes) -> None:
        """Read the lines in a tool's input, off the loop, where it may have long ones."""
        await load_judges()
        if len(given) > LONG_BYTES:
            await asyncio.to_thread(self.read_call, OpenCall(CallState(tool_call_id="", raw_input=given), 0))


def needs_reading(signals: Iterable[Signal]) -> bool:
    """Whether one of these may bring a long line, or is the first tool call. Spelled out: every chunk of text passes it."""
    if are_loaded():
        return any([len(each.raw) > LONG_BYTES and b"tool_call" in each.raw if type(each) is Update else _is_large_call(each)
                    for each in signals])
    return any([b"tool_call" in each.raw if type(each) is Update else type(each) is PermissionAsk for each in signals])


def _is_large_call(signal: Signal) -> bool:
    """Whether a message is about a tool call, and long enough to hold a long line."""
    if type(signal) is Update:
        return len(signal.raw) > LONG_BYTES and b"tool_call" in signal.raw
    return type(signal) is PermissionAsk and len(signal.tool_call) > LONG_BYTES


def _call_in(signal: Signal) -> ToolCall | ToolCallUpdate | None:
    """The call that a message with a long line is about."""
    if not _is_large_call(signal):
        return None
    if isinstance(signal, PermissionAsk):
        try:
            return decode_tool_call_update(signal.tool_call)
        except Invalid:
            return None
    update = read_update(signal.raw)[0] if isinstance(signal, Update) else None
    return update if isinstance(update, ToolCall | ToolCallUpdate) else None
