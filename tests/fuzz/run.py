"""A pass over one target: its corpus replayed, then mutated for a while.

What is new about an input is how it ended: which errors of ours, which values. Such inputs join the pool, so that later ones are
made of them; that is the whole of the guidance, and it needs nothing but the interpreter.
"""

from __future__ import annotations

import hashlib
import random
import time
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.mutate import mutated
from tests.fuzz.targets import ENDS, TARGETS, Target

CORPORA = Path(__file__).parent / "corpora"
SLOW_S = 1.0
"""Own CPU time that no input of MOST_BYTES may take; the slowest that was seen took a tenth of it."""
KEPT_BYTES = 2048
"""A kept input is small enough to be read by a person."""
KEPT_MOST = 40
POOL_MOST = 400


class Finding(Exception):
    """An input that a target did not take as it should."""


class Pass(NamedTuple):
    """What came of a pass: how many inputs, the slowest of them, and those that ended in a new way."""

    inputs: int
    worst_s: float
    fresh: list[bytes]


def corpus_of(name: str) -> list[bytes]:
    """The kept inputs of a target."""
    return [path.read_bytes() for path in sorted((CORPORA / name).iterdir())]


def run(name: str, *, seed: int, inputs: int | None = None, seconds: float | None = None) -> Pass:
    """Replay and mutate until so many inputs, or so much time, are over; raises Finding with the first that does not hold."""
    target, dice = TARGETS[name], random.Random(f"{name} {seed}")
    pool = corpus_of(name) or [b""]
    ends = {_feed(name, target, data)[0] for data in pool}
    count, worst, fresh = len(pool), 0.0, []
    until = time.monotonic() + seconds if seconds is not None else None
    while (inputs is None or count < inputs) and (until is None or time.monotonic() < until):
        data = mutated(dice, pool)
        end, took = _feed(name, target, data)
        count, worst = count + 1, max(worst, took)
        if end not in ends:
            ends.add(end)
            fresh.append(data)
            if len(pool) < POOL_MOST:
                pool.append(data)
    return Pass(count, worst, fresh)


def keep(name: str, fresh: list[bytes]) -> int:
    """Store what is small among new inputs, up to the corpus's size; returns how many."""
    folder = CORPORA / name
    folder.mkdir(parents=True, exist_ok=True)
    room = KEPT_MOST - len(list(folder.iterdir()))
    small = sorted((data for data in fresh if len(data) <= KEPT_BYTES), key=len)[:max(room, 0)]
    for data in small:
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    return len(small)


def _feed(name: str, target: Target, data: bytes) -> tuple[str, float]:
    """How an input ended, and the time it took."""
    ENDS.clear()
    began = time.process_time()
    try:
        target(data)
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:300]}"
        raise Finding(f"{name}: {what}\ninput ({len(data)} bytes): {data[:3000]!r}") from error
    took = time.process_time() - began
    if took > SLOW_S:
        raise Finding(f"{name}: {took:.1f} s\ninput ({len(data)} bytes): {data[:3000]!r}")
    return " ".join(sorted(set(ENDS))), took
