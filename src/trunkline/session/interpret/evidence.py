"""What an update says of a call beside its fields: the tool's name, the parent call, diffs, terminals, a record of the result.

Rule 1: ``_meta`` is looked through by shape, at most DEPTH levels deep: no vendor's key is known here but the one that the
catalog names (``parent_call``).
Rule 2: what is remembered is bounded, and forgotten when the call has ended.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator
from typing import Any, Final

from trunkline.dialects import acp
from trunkline.dialects.roles import ToolNames, usual_name
from trunkline.session.fold import Evidence, OpenCall

DEPTH: Final = 3
PRINTED_CHARS: Final = 256 << 10
"""Characters of a terminal's output that are kept for the result."""

BEFORE_CHARS: Final = 256 << 10
"""Characters of a file's text that are kept from its ask to its end; what is shown of a longer one is a sentence."""

_NAME_KEYS: Final = ("toolName", "tool_name")
_RESPONSE_KEYS: Final = ("toolResponse", "tool_response", "toolResult")
OUTPUT_KEYS: Final = ("terminal_output", "terminal_output_delta")


def observe(call: OpenCall, update: acp.ToolCall | acp.ToolCallUpdate, names: ToolNames) -> None:
    """Keep what an update says beside its fields."""
    if update.content:
        _content(call, update.content)
    if update.meta:
        _remarks(call, update.meta, names)
    if call.state.tool is None:
        _name(call, call.state.name or names.named_in(call.state.tool_call_id, call.state.first_title), names)


def evidence_of(call: OpenCall) -> Evidence:
    """The call's evidence, begun where there is none."""
    if call.evidence is None:
        call.evidence = Evidence()
    return call.evidence


def printed(evidence: Evidence, text: str) -> None:
    """A terminal printed; agents send the next piece or all of it again."""
    whole = text if text.startswith(evidence.printed) else evidence.printed + text
    evidence.printed = whole[:PRINTED_CHARS]


def remembering(call: OpenCall, read: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """``read``, with what it reads kept: it is the text before, should the call go through."""
    def kept(path: str) -> str | None:
        text = read(path)
        if text and len(text) <= BEFORE_CHARS:
            evidence_of(call).before[os.path.normpath(path)] = text
        return text
    return kept


def _content(call: OpenCall, content: list[acp.ToolCallContent]) -> None:
    diffs = [item for item in content if isinstance(item, acp.Diff)]
    if diffs:
        evidence_of(call).diffs = diffs
    for item in content:
        if isinstance(item, acp.Terminal) and item.terminal_id not in evidence_of(call).terminals:
            evidence_of(call).terminals.append(item.terminal_id)


def _remarks(call: OpenCall, meta: dict[str, Any], names: ToolNames) -> None:
    _parent(call, meta, names.parent_call)
    for key, value in _members(meta, DEPTH):
        if key in _NAME_KEYS and isinstance(value, str) and call.state.tool is None:
            _name(call, call.state.name or value, names)
        elif key in _RESPONSE_KEYS and isinstance(value, dict):
            evidence_of(call).response = value
        elif key in OUTPUT_KEYS and isinstance(value, dict) and isinstance(value.get("data"), str):
            printed(evidence_of(call), value["data"])
        elif key == "terminal_exit" and isinstance(value, dict) and type(value.get("exit_code")) is int:
            evidence_of(call).exit_code = value["exit_code"]


def _members(meta: dict[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in meta.items():
        yield key, value
        if depth > 1 and isinstance(value, dict) and key not in _RESPONSE_KEYS:
            yield from _members(value, depth - 1)


def _name(call: OpenCall, said: str | None, names: ToolNames) -> None:
    if said:
        call.state.tool = usual_name(said, names.role_of(said))


def _parent(call: OpenCall, meta: dict[str, Any], path: str) -> None:
    value: Any = meta
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    if path and isinstance(value, str) and value != call.state.tool_call_id:
        call.parent = value
