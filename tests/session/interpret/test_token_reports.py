"""Whether counts of tokens are of the turn or of the session: found out, and never told lower than before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.session.interpret.token_counts import COUNTS, check_sums, spent, tokens, usage
from tests.session.interpret.told import Told
from tests.tooling.rows import every_row


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


@every_row(("reports", "total"), [
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
