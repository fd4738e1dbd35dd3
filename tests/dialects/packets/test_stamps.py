"""The packets' timestamp: the moment, whatever was remembered of the one before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from trunkline.dialects.moments import Moments
from trunkline.dialects.packets.stamps import stamp, timestamp


@given(st.lists(st.integers(0, 4_000_000_000_000_000) | st.integers(1_790_000_000_000_000, 1_790_000_002_000_000), min_size=1))
def test_a_moment_has_its_own_stamp_in_whatever_order_moments_come(moments: list[int]) -> None:
    for at_us in moments:
        for _ in range(2):
            passed = datetime.fromisoformat(timestamp(at_us)) - datetime(1970, 1, 1, tzinfo=UTC)
            assert passed // timedelta(microseconds=1) == at_us


def test_microseconds_are_always_written_out() -> None:
    assert stamp(1_769_109_210_000_000) == b"2026-01-22T19:13:30.000000+00:00"
    assert stamp(1_769_109_210_917_345) == b"2026-01-22T19:13:30.917345+00:00"


def test_a_moment_that_no_year_of_four_digits_has_is_the_nearest_that_one_has() -> None:
    form = Moments(b"%b%03dZ", 1000)
    first, last = b"1000-01-01T00:00:00.000Z", b"9999-12-31T23:59:59.999Z"
    for at, told in ((-(1 << 80), first), (1 << 80, last), (0, b"1970-01-01T00:00:00.000Z"), (-(1 << 80), first)):
        assert form.stamp(at) == told
