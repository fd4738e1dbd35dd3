"""Every target holds: on its kept inputs, on a short pass of mutated ones, and in linear time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from tests.fuzz.mutate import mutated
from tests.fuzz.run import CORPORA, corpus_of, run
from tests.fuzz.targets import TARGETS

QUICK, PASS_S = 150, 4.0
LARGE, LARGER = 32 << 10, 128 << 10
GROWTH = 12.0
"""Four times the size may take four times as long; a quadratic parser takes sixteen times. The rest is the machine."""
FLOOR_S = 0.01
"""Less than this cannot be told from noise."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A library warns of each broken form."""
    caplog.set_level("CRITICAL")
    yield


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {path.name for path in CORPORA.iterdir()} == set(TARGETS)
    assert all(corpus_of(name) for name in TARGETS)


def test_the_same_seed_makes_the_same_inputs() -> None:
    pool = [b'{"a": 1}', b"other"]
    first, again = ([mutated(random.Random(5), pool) for _ in range(20)] for _ in range(2))
    assert first == again


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_on_what_was_kept_and_on_a_few_more(name: str) -> None:
    assert run(name, seed=1, inputs=len(corpus_of(name)) + QUICK).inputs >= QUICK


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_a_while(name: str) -> None:
    run(name, seed=2, seconds=PASS_S)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_longer_input_takes_no_more_than_linearly_longer(name: str) -> None:
    target = TARGETS[name]
    for data in corpus_of(name)[:12]:
        if data:
            short, long = (_best(target, (data * (size // len(data) + 1))[:size]) for size in (LARGE, LARGER))
            assert long < FLOOR_S or long < short * GROWTH, f"{short:.4f} s, then {long:.4f} s: {data[:200]!r}"


def _best(target: object, data: bytes) -> float:
    assert callable(target)
    times = []
    for _ in range(2):
        began = time.process_time()
        target(data)
        times.append(time.process_time() - began)
    return min(times)
