"""What a turn took: the sum of what was counted while it ran, and nothing where nobody counted."""

from __future__ import annotations

import msgspec

from trunkline.journal.base import Entry
from trunkline.server.acp.attachment.usage import TurnTokens


def counted(**delta: int) -> Entry:
    return Entry(1, 1, msgspec.json.encode({"type": "resource:token_usage", "delta": delta, "_meta": {"thoughtTokens": 2}}))


def test_a_turns_tokens_are_summed_and_the_next_turn_begins_at_nothing() -> None:
    tokens = TurnTokens()
    assert tokens.usage() is None
    for _ in range(2):
        tokens.add(counted(inputTokens=10, outputTokens=3, cacheReadTokens=1))
    found = msgspec.to_builtins(tokens.usage())
    assert found == {"totalTokens": 28, "inputTokens": 20, "outputTokens": 6, "cachedReadTokens": 2, "thoughtTokens": 4}
    tokens.begin()
    assert tokens.usage() is None
