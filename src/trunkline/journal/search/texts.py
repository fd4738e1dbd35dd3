"""What of an entry can be found: words of people and agents, and what tools were called with.

Rule 1: pure; one entry in, at most one passage out.
Rule 2: the type is read from the bytes before anything is decoded: most entries are pieces of text that come again, whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from trunkline.dialects.context.envelope import UnknownEvent, decode_event
from trunkline.dialects.context.events import Event, MessageCompleteEvent, ToolCallExecutingEvent, ToolCallStartEvent
from trunkline.dialects.context.unions import TextPart
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid
from trunkline.journal.base import Entry

PassageKind = Literal["title", "user", "assistant", "tool"]

TEXT_MOST = 64 << 10
"""Characters of one message that can be found; what comes behind them is in the journal all the same."""

VALUE_MOST = 500
CALL_MOST = 4_000
"""Characters of one argument and of all arguments of a call: commands and paths are short, contents of files are not."""

DEPTH_MOST = 4
"""How deep arguments are looked into."""

_FOUND_IN = frozenset({b"message:complete", b"tool:start", b"tool:executing"})
_TYPE = b'"type":"'
_ENVELOPE_MOST = 512


class Passage(msgspec.Struct, frozen=True):
    """A text and where it stands. ``key`` is the tool call that it is about; ``more`` says that it adds to that one's text."""

    seq: int
    at: int
    kind: PassageKind
    text: str
    key: str = ""
    more: bool = False


def passage_of(entry: Entry) -> Passage | None:
    """What can be found of an entry; None where there is nothing."""
    if type_of(entry.event) not in _FOUND_IN:
        return None
    try:
        return _passage(entry, decode_event(entry.event))
    except (Invalid, *BROKEN):
        return None  # input nested beyond reason: one entry that cannot be read must not hide all behind it


def _passage(entry: Entry, event: Event | UnknownEvent) -> Passage | None:
    match event:
        case MessageCompleteEvent(role="user" | "assistant" as role):
            text = _message_text(event)
            return Passage(entry.seq, entry.at, role, text) if text else None
        case ToolCallStartEvent():
            return Passage(entry.seq, entry.at, "tool", _called(event)[:CALL_MOST], event.tool_call_id)
        case ToolCallExecutingEvent():
            given = _given(event.input)
            return Passage(entry.seq, entry.at, "tool", given, event.tool_call_id, more=True) if given else None
    return None


def type_of(event: bytes) -> bytes:
    """An encoded event's type, without decoding it; empty where it is not where our envelopes have it."""
    start = event.find(_TYPE, 0, _ENVELOPE_MOST)
    if start < 0:
        return b""
    start += len(_TYPE)
    return event[start:event.find(b'"', start)]


def _message_text(event: MessageCompleteEvent) -> str:
    texts = [part.text for part in event.content if isinstance(part, TextPart)]
    return "\n".join(texts).strip()[:TEXT_MOST]


def _called(event: ToolCallStartEvent) -> str:
    """What a call is called: its tool, its line and its title, but none that another one says already."""
    title = "" if event.meta is msgspec.UNSET else event.meta.get("title", "")
    words = (event.name, "" if event.description is msgspec.UNSET else event.description, title)
    names: list[str] = []
    for word in (word for word in words if isinstance(word, str) and word):
        if not any(_says(other, word) for other in names):
            names = [*(other for other in names if not _says(word, other)), word]
    return " ".join(names)


def _says(text: str, words: str) -> bool:
    """Whether the words stand in a text as they are, not as parts of longer ones."""
    text, words = text.casefold(), words.casefold()
    start = text.find(words)
    end = start + len(words)
    return start >= 0 and not any(beside.isalnum() for beside in (text[max(start - 1, 0):start] + text[end:end + 1]))


def _given(call_input: msgspec.Raw) -> str:
    """What a tool was called with: the short strings of its input, whatever their names."""
    values = dict.fromkeys(each.strip()[:VALUE_MOST] for each in _strings(msgspec.json.decode(call_input), DEPTH_MOST))
    return "\n".join(each for each in values if each)[:CALL_MOST]


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth - 1)
