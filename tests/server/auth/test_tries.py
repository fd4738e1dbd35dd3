"""Failed tries: counted per address and over all, given back to who was right, forgotten after a while."""

from __future__ import annotations

import contextlib

import pytest

from trunkline.errors import TooManyRequests
from trunkline.server.auth.tries import ADDRESSES, FailedTries


class Clock:
    """Time that somebody sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fail(tries: FailedTries, address: str) -> None:
    with contextlib.suppress(ValueError), tries.counted(address):
        raise ValueError("wrong")


def test_who_was_wrong_too_often_waits_even_with_the_right_secret() -> None:
    clock = Clock()
    tries = FailedTries(clock, most=2, of_all=100, within_s=60.0)
    for _ in range(2):
        fail(tries, "a")
    with pytest.raises(TooManyRequests) as refused, tries.counted("a"):
        pass
    assert refused.value.details == {"retryAfterS": 61}
    with tries.counted("b"):
        pass
    clock.now = 60.0
    with tries.counted("a"):
        pass


def test_a_try_that_was_right_is_given_back() -> None:
    tries = FailedTries(Clock(), most=1, of_all=1)
    for _ in range(5):
        with tries.counted("a"):
            pass


def test_all_addresses_together_have_a_limit_too_and_what_is_remembered_is_bounded() -> None:
    tries = FailedTries(Clock(), most=10, of_all=3)
    for address in "abc":
        fail(tries, address)
    with pytest.raises(TooManyRequests), tries.counted("d"):
        pass
    many = FailedTries(Clock(), most=10, of_all=10**9)
    for number in range(ADDRESSES + 50):
        fail(many, str(number))
    assert len(many._tries) <= ADDRESSES
