"""Faults at random, one after the other, under the load of twenty sessions: what a hub promises of its cluster, all at once.

``FAULT_ROUNDS`` is how many: 6 where it is not set, 100 in ``make test-faults``.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.cluster.conftest import GATEWAYS, OWNERS
from tests.faults.cluster.faults import OF_HUBS, OF_ONE_SERVER, OF_THREE_SERVERS, Fault
from tests.faults.cluster.judge import Counts, check_requests, judge, settle
from tests.faults.cluster.load import Tally, start_work
from tests.faults.cluster.world import World
from tests.faults.conftest import Report

pytestmark = pytest.mark.slow
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "6"))
SEED = int(os.environ.get("FAULT_SEED", "0")) or random.randrange(1, 1 << 30)
SESSIONS_EACH = 10
RULE = 9


@pytest.mark.parametrize("replicas", [3, 1])
def test_rounds_at_random_lose_repeat_and_hang_nothing(tmp_path: Path, report: Report, replicas: int) -> None:
    rounds = ROUNDS if replicas == 3 else max(3, ROUNDS // 4)
    faults = [*OF_HUBS, *(OF_THREE_SERVERS if replicas == 3 else OF_ONE_SERVER)]
    tally = Tally()
    with World(tmp_path, replicas, OWNERS, GATEWAYS, keyed=replicas == 3) as world:
        works = start_work(world, SESSIONS_EACH, tally)
        done = go_wrong(world, faults, rounds)
        settle(world, works)
        counts = {commit: judge(world, [work for work in works if world.commits[world.sessions[work.id]] == commit])
                  for commit in ("local", "all")}
    print(f"seed {SEED}: {dict(done)}\n{counts}\n{tally}")
    check_requests(tally)
    assert not {commit: found.faults for commit, found in counts.items() if found.faults}, (SEED, counts, done)
    tell(report, f"{rounds} rounds at random, {replicas} server{'s' * (replicas > 1)}, 20 sessions", counts, tally)


def go_wrong(world: World, faults: list[Fault], rounds: int) -> Counter[str]:
    """So many faults, each mended before the next."""
    dice, done = random.Random(SEED), Counter[str]()
    for number in range(rounds):
        fault = dice.choice(faults)
        done[fault.what] += 1
        print(f"{time.strftime('%H:%M:%S')} round {number}: {fault.what}", flush=True)
        mend = fault.strike(world, dice)
        time.sleep(dice.uniform(fault.least_s, fault.most_s))
        mend()
        world.wait_whole()
        time.sleep(dice.uniform(0.0, 1.0))
    return done


def tell(report: Report, what: str, counts: dict[str, Counts], tally: Tally) -> None:
    """A row for each promise."""
    total = sum(counts.values(), Counts())
    shown = total.shown + counts["all"].shown_at_owner
    lost = total.lost + counts["all"].lost_at_owner
    report(RULE, f"{what}: packets that a gateway showed, with `all` anybody", tried=shown, held=shown - lost, lost=lost)
    ordered = total.shown + total.shown_at_owner
    report(RULE, f"{what}: shown once and in order", tried=ordered, held=ordered - total.twice - total.disorder - total.missed)
    report(RULE, f"{what}: commands done at most once", tried=total.commands, held=total.commands - total.done_twice,
           lost=total.promised)
    report(RULE, f"{what}: entries in the stream once, in order, of one owner at a time", tried=total.entries,
           held=total.entries - total.not_in_stream - total.two_owners)
    report(RULE, f"{what}: requests answered by their deadline", tried=tally.requests, held=tally.requests - len(tally.hung),
           worst_ms=tally.slowest_s * 1000)
