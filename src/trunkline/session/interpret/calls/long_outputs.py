"""Long outputs: they go into their event as they stand in what the agent sent, not decoded and encoded again."""

from __future__ import annotations

from typing import Final

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.acp.reading.decode import shown_token
from trunkline.dialects.acp.tools import Content
from trunkline.session.interpret.writer import TEXT_LIMIT

SPLICED_FROM: Final = 4096
"""Outputs from this many bytes on are worth it."""


def long_text(state: CallState, wire: bytes | None) -> memoryview | None:
    """The one text that an update shows, as it stands in it, where it is long enough to be worth not encoding it again."""
    if wire is None or len(wire) < SPLICED_FROM or state.content is None or len(state.content) != 1:
        return None
    item = state.content[0]
    shows_text = isinstance(item, Content) and isinstance(item.content, TextContent)
    return shown_token(wire) if shows_text else None


def spliceable(token: bytes | memoryview | None) -> bytes | memoryview | None:
    """A text that goes into an event as it stands: long enough to be worth it, short enough to be there whole."""
    return token if token is not None and SPLICED_FROM <= len(token) <= TEXT_LIMIT else None
