"""Tokens and money: what was spent just now and in all, whichever of the two an agent reports."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.session.interpret.token_counts import COUNTS, check_sums, spent, tokens, usage
from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import update
from tests.tooling.rows import every_row
from trunkline.dialects.acp.usage import answer_usage, chunk_usage
from trunkline.dialects.notes import AgentNote, CostSpent
from trunkline.session.fold import KEPT_CURRENCIES


@given(COUNTS)
def test_what_was_told_while_a_turn_ran_is_not_counted_again_at_its_end(counts: list[tuple[int, int]]) -> None:
    told = Told().turn()
    told.hear(*[tokens(entered, left) for entered, left in counts])
    entered, left = sum(entered for entered, _ in counts), sum(left for _, left in counts)
    told.at().turns.end("end_turn", usage(entered + 5, left))
    check_sums(spent(told), entered + 5, left)


def test_an_agent_that_begins_to_count_anew_goes_on_in_the_sessions_own_sum() -> None:
    told = Told()
    for total in (100, 300, 50):
        told.turn().at().turns.end("end_turn", usage(total, 0), usage_of_session=True)
    assert [(event["delta"]["inputTokens"], event["cumulative"]["inputTokens"]) for event in spent(told)] == [
        (100, 100), (200, 300), (50, 350)]


def test_nothing_spent_is_nothing_told_and_what_cannot_be_read_is_kept() -> None:
    told = Told().turn()
    told.at().turns.end("end_turn", usage(0, 0))
    told.turn().at().turns.end("end_turn", b'{"inputTokens":"many"}')
    told.take()
    assert "resource:token_usage" not in names(told.entries)
    assert "unreadable_usage" in names(told.entries)


def test_cached_tokens_are_told_apart_and_added_up() -> None:
    told = Told().turn()
    told.hear(tokens(1, 2, cacheRead=7), tokens(1, 2, cacheRead=3, cacheWrite=5))
    assert [event["cumulative"] for event in spent(told)] == [
        {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 7},
        {"inputTokens": 2, "outputTokens": 4, "cacheReadTokens": 10, "cacheWriteTokens": 5}]


def money(amount: float, currency: str = "USD") -> Any:
    return update(sessionUpdate="usage_update", used=1, size=10, cost={"amount": amount, "currency": currency})


def costs(told: Told) -> list[tuple[float, float, str]]:
    return [(event["delta"]["total"], event["cumulative"]["total"], event["delta"]["currency"])
            for event in events(told.entries) if event["type"] == "resource:cost"]


def test_an_agents_total_cost_is_told_by_its_differences() -> None:
    told = Told()
    told.hear(money(0.0006000000000000001), money(0.0024000000000000002), money(0.0024000000000000002))
    assert costs(told) == [(0.0006, 0.0006, "USD"), (0.0018, 0.0024, "USD")]


def test_a_cost_that_shrinks_began_anew_and_the_session_goes_on_counting() -> None:
    told = Told()
    told.hear(money(1.0), money(0.25), money(0.5))
    assert costs(told) == [(1.0, 1.0, "USD"), (0.25, 1.25, "USD"), (0.25, 1.5, "USD")]


def test_what_a_cost_is_made_of_is_not_made_up() -> None:
    told = Told()
    told.hear(money(1.0), AgentNote(CostSpent(0.5)))
    found = [event for event in events(told.entries) if event["type"] == "resource:cost"]
    assert [event["delta"] for event in found] == [{"total": 1.0, "currency": "USD"}, {"total": 0.5, "currency": "USD"}]
    assert found[-1]["cumulative"] == {"total": 1.5, "currency": "USD"}


def test_another_currency_is_another_account() -> None:
    told = Told()
    told.hear(money(1.0), money(3.0, "EUR"))
    assert costs(told) == [(1.0, 1.0, "USD"), (3.0, 3.0, "EUR")]


def test_what_was_spent_in_another_currency_is_not_lost() -> None:
    told = Told()
    told.hear(money(1.0), money(3.0, "EUR"), money(1.5))
    assert costs(told) == [(1.0, 1.0, "USD"), (3.0, 3.0, "EUR"), (0.5, 1.5, "USD")]
    told.at().lifecycle.completed("terminated", by="ann")
    completed = events(told.take())[-1]
    euros = [{"total": 3.0, "currency": "EUR"}]
    assert (completed["summary"]["cost"]["total"], completed["_meta"]["otherCosts"]) == (1.5, euros)
    changed = [event for event in events(told.entries) if event["type"] == "resource:cost"]
    assert [len(event.get("_meta", {}).get("otherCosts", [])) for event in changed] == [0, 1, 1]
    assert told.fold.dearest() == told.fold.other_costs["EUR"].cost, "a cap looks at the largest sum"


def test_currencies_that_are_made_up_are_not_all_kept() -> None:
    told = Told()
    told.hear(*(money(1.0, f"X{n}") for n in range(50)))
    assert len(told.fold.other_costs) == KEPT_CURRENCIES


def test_money_spent_is_added_with_its_parts() -> None:
    told = Told()
    note = AgentNote(CostSpent(0.5, input=0.25, output=0.25))
    first, second = events(told.hear(note, note))
    assert first["delta"] == first["cumulative"] == {"total": 0.5, "input": 0.25, "output": 0.25, "currency": "USD"}
    assert second["cumulative"] == {"total": 1.0, "input": 0.5, "output": 0.5, "currency": "USD"}
    (third,) = events(told.hear(AgentNote(CostSpent(0.75, is_total=True))))
    assert third["delta"]["total"] == 0.75


def test_tokens_that_ride_on_an_empty_chunk_are_no_message() -> None:
    told = Told().turn()
    said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""},
            "_meta": {"usage": {"inputTokens": 100, "outputTokens": 20, "thoughtTokens": 8}}}
    entries = told.hear(update(**said))
    assert names(entries) == ["resource:token_usage"]
    assert events(entries)[0]["_meta"] == {"thoughtTokens": 8}
    assert len(packets(entries)) == 1 and updates(entries) == [said]


def test_tokens_that_ride_on_words_are_told_beside_them() -> None:
    told = Told().turn()
    entries = told.hear(update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hi"},
                               _meta={"usage": {"inputTokens": 1, "outputTokens": 2}}))
    assert names(entries) == ["message:start", "message:delta", "resource:token_usage"]


@every_row(("answer", "found"), [
    (b'{"stopReason":"end_turn","usage":{"inputTokens":1}}', b'{"inputTokens":1}'),
    (b'{"stopReason":"end_turn","usage":null}', None),
    (b'{"_meta":{"quota":{"token_count":{"input_tokens":5,"output_tokens":6}}}}', b'{"inputTokens":5,"outputTokens":6}'),
    (b'{"usage":{"inputTokens":1},"_meta":{"quota":{"token_count":{"input_tokens":5}}}}', b'{"inputTokens":1}'),
    (b'{"_meta":{"quota":{"token_count":7}}}', None), (b'{"_meta":null}', None), (b'{"_meta":[]}', None), (b"[]", None),
])
def test_the_answer_to_a_prompt_tells_its_tokens_where_agents_put_them(answer: bytes, found: bytes | None) -> None:
    assert answer_usage(answer) == found


@pytest.mark.parametrize("chunk", [b"{}", b'{"_meta":null}', b'{"_meta":{"usage":"much"}}', b"7"])
def test_a_chunk_without_readable_counts_has_none(chunk: bytes) -> None:
    assert chunk_usage(chunk) is None
