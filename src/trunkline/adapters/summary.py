"""What was said in a session, as a first message for a new one.

Rule: mechanical. Nothing is asked of a model: the first words and the newest ones are there as they were, and what was left out
between them is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import Signal, Update

FIRST_CHARS: Final = 4_000
LAST_CHARS: Final = 20_000
EACH_CHARS: Final = 4_000
"""Characters of one message that are kept."""

BEFORE: Final = ("This continues an earlier session that cannot be opened again. What was said in it follows, shortened. "
                 "Read it, do nothing yet, and answer in one sentence that you are ready.\n\n")

_WHO: Final = {"user_message_chunk": "Person", "agent_message_chunk": "Agent"}


def summary_of(signals: Iterable[Signal]) -> str:
    """The message."""
    parts = [f"{who}: {text[:EACH_CHARS]}" for who, text in _said(signals) if text.strip()]
    first: list[str] = []
    while parts and sum(map(len, first)) + len(parts[0]) <= FIRST_CHARS:
        first.append(parts.pop(0))
    last: list[str] = []
    while parts and sum(map(len, last)) + len(parts[-1]) <= LAST_CHARS:
        last.append(parts.pop())
    between = [f"({len(parts)} messages are left out here.)"] if parts else []
    return BEFORE + "\n\n".join([*first, *between, *reversed(last)])


def _said(signals: Iterable[Signal]) -> list[tuple[str, str]]:
    """Who said what, one after the other; calls by their titles."""
    said: list[tuple[str, str]] = []
    for signal in signals:
        update = _read(signal)
        kind = update.get("sessionUpdate")
        if kind == "tool_call" and isinstance(update.get("title"), str):
            said.append(("Tool", update["title"]))
        content = update.get("content")
        text = content.get("text") if kind in _WHO and isinstance(content, dict) else None
        if not isinstance(text, str):
            continue
        who = _WHO[str(kind)]
        if said and said[-1][0] == who:
            said[-1] = who, said[-1][1] + text
        else:
            said.append((who, text))
    return said


def _read(signal: Signal) -> dict[str, Any]:
    if not isinstance(signal, Update):
        return {}
    try:
        return decoders.decode(signal.raw, dict[str, Any])
    except BROKEN:
        return {}
