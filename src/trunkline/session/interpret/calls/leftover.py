"""What an update says of a call that no other event carries, for the ``custom`` event that stands for it.

Rule 1: once a call has ended, the whole update: nothing comes after it.
Rule 2: while it runs, what changed and what we do not know. What it prints is sent piece by piece, a title in ``_meta``.
Rule 3: bounded: the longest members are left out first, and ``_meta.truncated`` says so.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.reading.decode import without_text
from trunkline.dialects.acp.tools import Content
from trunkline.dialects.context.types import to_raw
from trunkline.session.fold import OpenCall
from trunkline.session.interpret.calls.evidence import DEPTH, OUTPUT_KEYS
from trunkline.session.interpret.calls.facts import decoded, members_of, shown_text
from trunkline.session.interpret.calls.output import RUNNING_OUTPUT_CHARS
from trunkline.session.interpret.writer import TEXT_LIMIT

_NAMED: Final = frozenset({"sessionUpdate", "toolCallId", "title"})
"""Members that the event itself names."""

_FIELDS: Final = {"name": "name", "kind": "kind", "status": "status", "content": "content", "locations": "locations",
                  "rawInput": "raw_input", "rawOutput": "raw_output"}
"""Members of an update, and what a merged call names them."""

Members = dict[str, Raw]


def leftover_of(call: OpenCall, changed: frozenset[str], wire: bytes) -> tuple[Members, bool]:
    """The members of an update that its event carries, and whether all that should be are there."""
    if call.finished:
        return _fitting(members_of(wire), TEXT_LIMIT)
    members = members_of(without_text(wire))  # output that is streamed is sent otherwise, and is not worth reading again
    news = {name: value for name, value in members.items() if not _is_emitted(name, call.state, changed)}
    if "_meta" in news:
        news["_meta"] = _unprinted(news["_meta"], call.state)
    kept, whole = _fitting(news, RUNNING_OUTPUT_CHARS - call.leftover_sent)
    call.leftover_sent += sum(map(_size, kept.values()))
    return kept, whole


def _is_emitted(name: str, state: CallState, changed: frozenset[str]) -> bool:
    if name in _NAMED:
        return True
    field = _FIELDS.get(name)
    return field is not None and (field not in changed or (field == "content" and _is_text(state)))


def _is_text(state: CallState) -> bool:
    return all(isinstance(item, Content) and isinstance(item.content, TextContent) for item in state.content or ())


def _unprinted(meta: Raw, state: CallState) -> Raw:
    """``_meta`` without what a terminal printed, where that is sent as the call's output."""
    if not any(key.encode() in bytes(meta) for key in OUTPUT_KEYS) or shown_text(state):
        return meta
    remarks = decoded(meta)
    return to_raw(_without_output(remarks, DEPTH)) if isinstance(remarks, dict) else meta


def _without_output(remarks: dict[str, Any], depth: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in remarks.items():
        if key in OUTPUT_KEYS and isinstance(value, dict):
            kept[key] = {name: member for name, member in value.items() if name != "data"}
        else:
            kept[key] = _without_output(value, depth - 1) if depth > 1 and isinstance(value, dict) else value
    return kept


def _fitting(members: Members, most: int) -> tuple[Members, bool]:
    """The members that fit in so many bytes together, short ones first, in their own order."""
    if sum(map(_size, members.values())) <= most:
        return members, True
    fits = set[str]()
    for name, value in sorted(members.items(), key=lambda member: _size(member[1])):
        most -= _size(value)
        if most < 0:
            break
        fits.add(name)
    return {name: value for name, value in members.items() if name in fits}, False


def _size(value: Raw) -> int:
    return len(memoryview(value))
