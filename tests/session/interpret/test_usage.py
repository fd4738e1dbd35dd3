"""Tokens and money: what was spent just now and in all, whichever of the two an agent reports."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import update
from trunkline.dialects.acp.usage import answer_usage, chunk_usage
from trunkline.dialects.notes import AgentNote, CostSpent, CustomNote, read_note
from trunkline.session.fold import KEPT_CURRENCIES

COUNTS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), min_size=1, max_size=8)


def usage(entered: int, left: int) -> bytes:
    return msgspec.json.encode({"inputTokens": entered, "outputTokens": left})


def spent(told: Told) -> list[dict[str, Any]]:
    told.take()
    return [event for event in events(told.entries) if event["type"] == "resource:token_usage"]


def tokens(entered: int, left: int, **more: Any) -> AgentNote | CustomNote:
    return read_note("tokens", msgspec.json.encode({"input": entered, "output": left, **more}))


@given(COUNTS)
def test_turns_add_up_for_good_once_a_count_has_risen_by_less_than_the_earlier_total(counts: list[tuple[int, int]]) -> None:
    counts = [(1000, 50), (1500, 60), *counts]
    assert total_of(*counts) == (sum(entered for entered, _ in counts), sum(left for _, left in counts))


@given(COUNTS, st.booleans())
def test_nothing_is_ever_told_lower_than_before(counts: list[tuple[int, int]], of_session: bool) -> None:
    told = Told()
    for entered, left in counts:
        told.turn().at().turns.end("end_turn", usage(entered, left), usage_of_session=of_session)
    sums = [event["cumulative"] for event in spent(told)]
    for key in ("inputTokens", "outputTokens"):
        assert [each[key] for each in sums] == sorted(each[key] for each in sums)


def total_of(*reports: tuple[int, int], of_session: bool = False) -> tuple[int, int]:
    told = Told()
    for entered, left in reports:
        told.turn().at().turns.end("end_turn", usage(entered, left), usage_of_session=of_session)
    found = told.fold.tokens
    assert found is not None and spent(told)[-1]["cumulative"]["inputTokens"] == found.input_tokens
    return found.input_tokens, found.output_tokens


@pytest.mark.parametrize(("reports", "total"), [
    ([(100, 10), (200, 20), (300, 30)], (300, 30)),
    ([(100, 10), (150, 15), (200, 20)], (450, 45)),
    ([(1000, 50), (1500, 60), (2100, 70), (2800, 80)], (7400, 260)),
    ([(400, 0), (800, 0), (1200, 0)], (1200, 0)),
    ([(100, 0), (250, 0), (400, 0), (560, 0), (720, 0)], (720, 0)),
    ([(1000, 100), (2500, 130), (4700, 190), (7000, 300)], (7000, 300)),
    ([(100, 10), (100, 10), (100, 10)], (300, 30)),
    ([(100, 40), (120, 10), (140, 30), (90, 20)], (450, 100)),
    ([(100, 10), (150, 15), (200, 20), (210, 5)], (660, 50)),
])
def test_whether_counts_are_of_the_turn_or_of_the_session_is_found_out(
        reports: list[tuple[int, int]], total: tuple[int, int]) -> None:
    assert total_of(*reports) == total


def test_what_the_catalog_says_of_counts_is_only_a_first_guess() -> None:
    assert total_of((100, 10), (100, 10), of_session=True) == (200, 20)


def test_a_count_that_is_what_the_turn_told_is_of_the_turn() -> None:
    told = Told()
    for entered, left in [(100, 10), (300, 30), (700, 70)]:
        told.turn().hear(tokens(entered, left))
        told.at().turns.end("end_turn", usage(entered, left))
    assert told.fold.tokens is not None and told.fold.tokens.input_tokens == 1100


def test_what_was_counted_twice_is_made_up_for_by_what_comes() -> None:
    told = Told()
    for entered, left in [(100, 10), (250, 25), (400, 40), (600, 60)]:
        told.turn().at().turns.end("end_turn", usage(entered, left))
    assert [event["cumulative"]["inputTokens"] for event in spent(told)] == [100, 350, 400, 600]


def test_a_count_of_the_session_that_was_found_out_stays_one_when_it_falls() -> None:
    assert total_of((100, 10), (200, 20), (300, 30), (50, 5)) == (350, 35)


def test_an_agent_that_was_started_again_may_begin_at_zero() -> None:
    told = Told()
    for entered in (100, 200, 300):
        told.turn().at().turns.end("end_turn", usage(entered, entered // 10))
    told.at().lifecycle.resumed(None, "resumed")
    told.turn().at().turns.end("end_turn", usage(50, 5))
    assert told.fold.tokens is not None and told.fold.tokens.input_tokens == 350


@given(COUNTS.map(lambda counts: [(entered + 1, left + 1) for entered, left in counts]))
def test_an_agent_that_counts_from_the_sessions_beginning_is_told_apart(counts: list[tuple[int, int]]) -> None:
    told, entered, left = Told(), 0, 0
    for more_in, more_out in counts:
        entered, left = entered + more_in, left + more_out
        told.turn().at().turns.end("end_turn", usage(entered, left), usage_of_session=True)
    check_sums(spent(told), entered, left)


@given(COUNTS)
def test_what_was_told_while_a_turn_ran_is_not_counted_again_at_its_end(counts: list[tuple[int, int]]) -> None:
    told = Told().turn()
    told.hear(*[tokens(entered, left) for entered, left in counts])
    entered, left = sum(entered for entered, _ in counts), sum(left for _, left in counts)
    told.at().turns.end("end_turn", usage(entered + 5, left))
    check_sums(spent(told), entered + 5, left)


def check_sums(told: list[dict[str, Any]], entered: int, left: int) -> None:
    """Each cumulative is the one before plus the delta, and the last is the truth."""
    total = {"inputTokens": 0, "outputTokens": 0}
    for event in told:
        total = {key: total[key] + event["delta"][key] for key in total}
        assert {key: event["cumulative"][key] for key in total} == total
    assert total == {"inputTokens": entered, "outputTokens": left}


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


@pytest.mark.parametrize(("answer", "found"), [
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
