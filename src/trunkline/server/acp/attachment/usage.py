"""What a turn took, for the answer to its prompt: ``usage``, as the protocol's draft has it and agents send it.

Rule: tokens are those that the session counted while the turn ran, so that every editor is answered the same, and a turn of which
no token is known has no ``usage``.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from trunkline import decoders
from trunkline.journal.base import Entry

TOKENS = "resource:token_usage"


class _TokenDelta(msgspec.Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class _ThoughtMeta(msgspec.Struct, rename="camel"):
    thought_tokens: int = 0


class _TokenEvent(msgspec.Struct):
    delta: _TokenDelta
    meta: _ThoughtMeta = msgspec.field(name="_meta", default_factory=_ThoughtMeta)


class TurnUsage(msgspec.Struct, rename="camel", frozen=True):
    """Tokens of one turn, in the protocol's words."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    cached_read_tokens: int | UnsetType = UNSET
    cached_write_tokens: int | UnsetType = UNSET
    thought_tokens: int | UnsetType = UNSET


_event = decoders.of(_TokenEvent)


class TurnTokens:
    """The tokens of the turn that runs."""

    def __init__(self) -> None:
        self._sums = [0, 0, 0, 0, 0]

    def begin(self) -> None:
        """Another turn starts."""
        self._sums = [0, 0, 0, 0, 0]

    def add(self, entry: Entry) -> None:
        """Count an entry whose event is a ``TOKENS``."""
        event = _event.decode(entry.event)
        delta = event.delta
        more = (delta.input_tokens, delta.output_tokens, delta.cache_read_tokens, delta.cache_write_tokens,
                event.meta.thought_tokens)
        self._sums = [before + each for before, each in zip(self._sums, more, strict=True)]

    def usage(self) -> TurnUsage | None:
        """What the turn took; None where nothing was reported."""
        given, gave, read, wrote, thought = self._sums
        if not any(self._sums):
            return None
        return TurnUsage(sum(self._sums[:4]), given, gave, read or UNSET, wrote or UNSET, thought or UNSET)
