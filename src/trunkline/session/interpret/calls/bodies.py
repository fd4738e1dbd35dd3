"""What the calls of a session carry beside their names (inputs, outputs, what they show), kept within bounds together.

Rule: the call that was spoken of last has its bodies whole, however large. Where all together are more than KEPT_BODIES, those
that had no update for longest give theirs up: what was sent of them is in the journal, and a result may say it again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import AudioContent, ImageContent, TextContent
from trunkline.dialects.acp.tools import Content, Diff, ToolCallContent
from trunkline.session.fold import LIGHT_BODY, OpenCall

KEPT_BODIES: Final = 32 << 20
"""Bytes of bodies of all calls of a session. Most calls carry a few kilobytes; one that reads a large file carries it twice."""


_ITEM_BYTES: Final = 100
"""What a place or an item takes beside its text."""


class Bodies:
    """How much each call carries, the one that was spoken of longest ago first. Light calls are not counted."""

    def __init__(self) -> None:
        self._heavy: OrderedDict[str, tuple[OpenCall, int]] = OrderedDict()
        self._total = 0

    def weigh(self, call: OpenCall) -> None:
        """The call was spoken of: others may have to give up their bodies for it."""
        key = call.state.tool_call_id
        self.forget(key)
        size = size_of(call)
        if size <= LIGHT_BODY:
            return
        self._heavy[key] = (call, size)
        self._total += size
        while self._total > KEPT_BODIES and len(self._heavy) > 1:
            _, (other, freed) = self._heavy.popitem(last=False)
            self._total -= freed
            _lighten(other)

    def forget(self, tool_call_id: str) -> None:
        """The call is no longer kept."""
        known = self._heavy.pop(tool_call_id, None)
        if known is not None:
            self._total -= known[1]


def size_of(call: OpenCall) -> int:
    """About how many bytes a call's bodies take."""
    state, evidence = call.state, call.evidence
    size = len(state.raw_input or b"") + len(state.raw_output or b"") + sum(map(_size_of_item, state.content or ()))
    size += sum(len(place.path) + _ITEM_BYTES for place in state.locations or ())
    if evidence is not None:
        size += len(evidence.printed) + sum(map(_size_of_item, evidence.diffs)) + sum(map(len, evidence.before.values()))
        size += sum(len(file.text or "") for file in evidence.found.values())
    return size


def _size_of_item(item: ToolCallContent) -> int:
    match item:
        case Diff():
            return _ITEM_BYTES + len(item.path) + len(item.old_text or "") + len(item.new_text)
        case Content(content=TextContent(text=text)):
            return _ITEM_BYTES + len(text)
        case Content(content=ImageContent(data=data) | AudioContent(data=data)):
            return _ITEM_BYTES + len(data)
    return _ITEM_BYTES


def _lighten(call: OpenCall) -> None:
    state: CallState = call.state
    state.content = state.raw_output = call.evidence = None
    if sum(len(place.path) + _ITEM_BYTES for place in state.locations or ()) > LIGHT_BODY:
        state.locations = None
        call.input_cut = True
    if len(state.raw_input or b"") > LIGHT_BODY:
        state.raw_input = None
        call.input_cut = True
