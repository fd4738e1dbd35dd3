"""What is new about a running call: what it prints, emitted while it prints it in pieces, each with its place in the whole; and
another title.

Rule 1: a piece goes on where the last one ended. One that begins earlier takes the place of what was sent from there on.
Rule 2: bounded: of a long piece its end is sent, and of a call that goes on printing no more until its result.
Rule 3: a title is sent once, with the first event about the call after it changed.
"""

from __future__ import annotations

from typing import Any, Final

from trunkline.session.fold import OpenCall, OutputSent

PIECE_CHARS: Final = 16 << 10
RUNNING_OUTPUT_CHARS: Final = 256 << 10
"""Characters of one call's output that are sent before its result."""

MARK_CHARS: Final = 64
"""Characters by which the end of what was sent is known again."""


def news_of(call: OpenCall, text: str) -> dict[str, Any]:
    """What is new in a running call's output, as ``{"offset", "output"}``; {} where nothing is, or enough was sent."""
    sent = call.output_sent or OutputSent()
    goes_on = text.startswith(sent.end, sent.chars - len(sent.end))
    start = sent.chars if goes_on else 0
    if sent.total >= RUNNING_OUTPUT_CHARS or len(text) == start:
        return {}
    offset = max(start, len(text) - PIECE_CHARS)
    call.output_sent = OutputSent(chars=len(text), end=text[-MARK_CHARS:], total=sent.total + len(text) - offset)
    return {"offset": offset, "output": text[offset:]}


def title_news(call: OpenCall) -> dict[str, Any]:
    """What ``_meta`` of the next event about a call says of its title: {} where that was sent already."""
    if call.state.title == call.sent_title:
        return {}
    call.sent_title = call.state.title
    return {"title": call.sent_title}
