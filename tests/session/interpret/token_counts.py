"""Tokens as agents report them, and what is told of them."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.session.interpret.told import Told, events
from trunkline.dialects.notes import AgentNote, CustomNote, read_note

COUNTS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), min_size=1, max_size=8)


def usage(entered: int, left: int) -> bytes:
    return msgspec.json.encode({"inputTokens": entered, "outputTokens": left})


def spent(told: Told) -> list[dict[str, Any]]:
    told.take()
    return [event for event in events(told.entries) if event["type"] == "resource:token_usage"]


def tokens(entered: int, left: int, **more: Any) -> AgentNote | CustomNote:
    return read_note("tokens", msgspec.json.encode({"input": entered, "output": left, **more}))


def check_sums(told: list[dict[str, Any]], entered: int, left: int) -> None:
    """Each cumulative is the one before plus the delta, and the last is the truth."""
    total = {"inputTokens": 0, "outputTokens": 0}
    for event in told:
        total = {key: total[key] + event["delta"][key] for key in total}
        assert {key: event["cumulative"][key] for key in total} == total
    assert total == {"inputTokens": entered, "outputTokens": left}
