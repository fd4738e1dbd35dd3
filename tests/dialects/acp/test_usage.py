"""Tokens where agents report them, in one form; what cannot be read is none."""

from __future__ import annotations

import msgspec
import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.acp.usage import TokenCount, answer_stop, answer_usage, chunk_usage


@every_row(("answer", "count"), [
    (b'{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4}}', {"inputTokens": 3, "outputTokens": 4}),
    (b'{"usage":null,"_meta":{"quota":{"token_count":{"input_tokens":3,"output_tokens":4}}}}',
     {"inputTokens": 3, "outputTokens": 4}),
    (b'{"_meta":{"quota":{"token_count":7}}}', None), (b'{"stopReason":"end_turn"}', None), (b"[]", None),
])
def test_the_count_on_an_answer_is_found_whatever_it_is_called(answer: bytes, count: object) -> None:
    found = answer_usage(answer)
    assert (None if found is None else msgspec.json.decode(found)) == count


@pytest.mark.parametrize(("answer", "stop"), [
    (b'{"stopReason":"stop_sequence"}', "stop_sequence"), (b'{"stopReason":"end_turn"}', None), (b'{"stopReason":3}', None)])
def test_only_a_stop_that_the_protocol_does_not_know_is_the_agents_own(answer: bytes, stop: str | None) -> None:
    assert answer_stop(answer) == stop


def test_a_count_may_ride_on_a_chunk() -> None:
    found = chunk_usage(b'{"sessionUpdate":"agent_message_chunk","_meta":{"usage":{"inputTokens":3,"cachedReadTokens":9}}}')
    assert found == TokenCount(input_tokens=3, cached_read_tokens=9)
    assert chunk_usage(b'{"_meta":{}}') is chunk_usage(b'{"_meta":{"usage":{"inputTokens":"x"}}}') is chunk_usage(b"{") is None


def test_a_thought_alone_is_no_token_that_was_counted() -> None:
    assert TokenCount(thought_tokens=5).is_nothing and not TokenCount(cached_write_tokens=1).is_nothing
