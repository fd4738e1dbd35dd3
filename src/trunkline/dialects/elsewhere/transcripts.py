"""What readers of stored sessions share, whoever stored them: times, texts and tool calls as updates.

Rule: nothing here fails on a value of another shape than expected; what is not there is left out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.dialects.notes import AgentNote, TokensSpent
from trunkline.dialects.outside import BROKEN, Json
from trunkline.dialects.signals import Malformed, Signal, Update

Timed = tuple[int, Signal]
"""A signal and when it was: UTC, microseconds; 0 where it is not known."""

SHOWN_OF_BROKEN: Final = 4096
COUNT_MOST: Final = 1 << 53
"""No count of tokens, and no time in milliseconds, is as high; what is was not counted."""

TEXT_MOST: Final = 256 << 10
"""Characters of a tool's output that are kept in ``rawOutput`` too."""

OPEN_MOST: Final = 1_000
"""Calls whose end is waited for; of more than that the oldest is forgotten."""

_COMMANDS: Final = ("command", "cmd")
_PATHS: Final = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "dir_path", "directory")
_OLD: Final = ("old_string", "oldString", "old_str")
_NEW: Final = ("new_string", "newString", "new_str")
_WHOLE: Final = ("content", "file_text", "contents")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def read_object(raw: bytes) -> Json | None:
    """One line, or one column, as a JSON object; None where it is none (a torn write, another format)."""
    if utf8_fault(raw) is not None:
        return None
    try:
        value = _decode(raw)
    except BROKEN:
        return None
    return value if isinstance(value, dict) else None


def malformed(raw: bytes) -> Malformed:
    """A line that is no object."""
    return Malformed(raw[:SHOWN_OF_BROKEN], "not a line of a transcript", len(raw))


def instant(stamp: Any) -> int:
    """A timestamp, as ISO text or in milliseconds, in microseconds; 0 for what is none."""
    if type(stamp) in (int, float):
        return int(stamp * 1000) if 0 < stamp < COUNT_MOST // 1000 else 0
    if not isinstance(stamp, str):
        return 0
    try:
        read = datetime.fromisoformat(stamp)
        return max(0, int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1e6))
    except (ValueError, OverflowError):
        return 0


def text_of(fields: Any, *names: str) -> str:
    """The first of these members that is a text with something in it."""
    if isinstance(fields, dict):
        for name in names:
            value = fields.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def object_of(fields: Any, name: str) -> Json:
    """A member that is an object; an empty one where it is none."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, dict) else {}


def objects_of(fields: Any, name: str) -> list[Json]:
    """The objects of a member that is a list."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def count_of(fields: Any, *names: str) -> int:
    """The first of these members that is a count."""
    if isinstance(fields, dict):
        for name in names:
            value = fields.get(name)
            if type(value) is int and 0 <= value < COUNT_MOST:
                return value
    return 0


def update(fields: Json) -> Update:
    """One update."""
    return Update(_encode(fields))


def said(text: str, message_id: str, kind: str = "agent_message_chunk") -> Update:
    """A text of the agent's, a thought of its, or a prompt."""
    return update({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": message_id})


def prompted(blocks: Iterable[Json], message_id: str) -> list[Signal]:
    """What a person sent, as content blocks of the Agent Client Protocol."""
    return [update({"sessionUpdate": "user_message_chunk", "content": block, "messageId": message_id}) for block in blocks]


def spent(message_id: str | None, *, taken: int, given: int, read: int = 0, written: int = 0) -> list[Signal]:
    """Tokens that one answer took: new ones, those of the answer, those out of the cache and into it."""
    if not (taken or given or read or written):
        return []
    return [AgentNote(TokensSpent(input=taken, output=given, cache_read=read, cache_write=written, message_id=message_id))]


def begun(call_id: str, name: str, kind: str, given: Json, *, cwd: str = "", title: str = "") -> Update:
    """A ``tool_call`` for a call whose input is known."""
    call = called(call_id, name, kind, given, cwd=cwd, title=title)
    return update({"sessionUpdate": "tool_call", "status": "in_progress", **call})


def asked(call_id: str, name: str, kind: str, given: Json, *, cwd: str = "", title: str = "") -> bytes:
    """The same call as a permission is asked about it."""
    return _encode(called(call_id, name, kind, given, cwd=cwd, title=title))


def called(call_id: str, name: str, kind: str, given: Json, *, cwd: str = "", title: str = "") -> Json:
    """A call by its input: what it is about, as far as that is known before it runs."""
    call: Json = {"toolCallId": call_id, "name": name, "kind": kind, "title": title or title_of(name, given), "rawInput": given}
    path = text_of(given, *_PATHS)
    if path:
        call["locations"] = [{"path": posixpath.join(cwd, path)}]
    diff = planned_diff(given, cwd) if kind == "edit" else None
    if diff is not None:
        call["content"] = [diff]
    return call


def ended(call_id: str, text: str, *, failed: bool = False, exit_code: int | None = None, diffs: Iterable[Json] = (),
          more: Mapping[str, Any] | None = None) -> Update:
    """A ``tool_call_update`` for a call that ended."""
    call: Json = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed" if failed else "completed"}
    content = list(diffs) or ([{"type": "content", "content": {"type": "text", "text": text}}] if text else [])
    if content:
        call["content"] = content
    raw: Json = {**(more or {})}
    if exit_code is not None:
        raw = {"exitCode": exit_code, **raw}
    if text and len(text) <= TEXT_MOST:
        raw["output"] = text
    if raw:
        call["rawOutput"] = raw
    return update(call)


def title_of(name: str, given: Json) -> str:
    """What people read of a call in one line: its command, or its name and the file."""
    for key in _COMMANDS:
        value = given.get(key)
        if isinstance(value, list):
            value = " ".join(word for word in value if isinstance(word, str))
        if isinstance(value, str) and value.strip():
            return value
    about = text_of(given, *_PATHS, "pattern", "query", "url", "description")
    return f"{name} {about}".strip() or "tool"


def planned_diff(given: Json, cwd: str = "") -> Json | None:
    """What a call is about to change, as far as its input says."""
    path = text_of(given, *_PATHS)
    if not path:
        return None
    where = posixpath.join(cwd, path)
    for old, new in zip(_OLD, _NEW, strict=True):
        if isinstance(given.get(old), str) and isinstance(given.get(new), str):
            return {"type": "diff", "path": where, "oldText": given[old], "newText": given[new]}
    for key in _WHOLE:
        if isinstance(given.get(key), str):
            return {"type": "diff", "path": where, "newText": given[key]}
    return None


def plan(steps: Iterable[Json], *words: str) -> Update:
    """A ``plan`` of steps, each with its text in one of these members."""
    entries = [{"content": text_of(step, *words), "priority": "medium", "status": _status(step)} for step in steps]
    return update({"sessionUpdate": "plan", "entries": [entry for entry in entries if entry["content"]]})


def _status(step: Json) -> str:
    status = text_of(step, "status")
    return status if status in ("pending", "in_progress", "completed") else "pending"


class OpenCalls:
    """Calls that have begun, with what was begun: a bounded number."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Json]] = {}

    def begin(self, call_id: str, name: str, given: Json) -> None:
        """It has begun."""
        if len(self._calls) >= OPEN_MOST:
            self._calls.pop(next(iter(self._calls)))
        self._calls[call_id] = (name, given)

    def end(self, call_id: str) -> tuple[str, Json] | None:
        """Its name and input; None where it has ended already, or nobody saw it begin."""
        return self._calls.pop(call_id, None)

    def __contains__(self, call_id: object) -> bool:
        return call_id in self._calls
