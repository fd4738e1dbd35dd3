"""Each fault alone, a few times under the load of some sessions: on one server, and on three."""

from __future__ import annotations

import random
import time

import pytest

from tests.faults.cluster.faults import OF_HUBS, OF_ONE_SERVER, OF_THREE_SERVERS, Fault
from tests.faults.cluster.judge import check_requests, judge, settle
from tests.faults.cluster.load import Tally, start_work
from tests.faults.cluster.world import World
from tests.faults.conftest import Report

pytestmark = pytest.mark.slow
TIMES = 3
SESSIONS_EACH = 2
RULE = 9


def named(fault: Fault) -> str:
    return fault.what


@pytest.mark.parametrize("fault", [*OF_ONE_SERVER, *OF_HUBS[:6]], ids=named)
def test_with_one_server_nothing_that_was_shown_is_lost_and_all_goes_on(one_server: World, fault: Fault, report: Report) -> None:
    strike_alone(one_server, fault, report, "one server")


@pytest.mark.parametrize("fault", [*OF_THREE_SERVERS, *OF_HUBS], ids=named)
def test_with_three_servers_nothing_that_was_shown_is_lost_and_all_goes_on(three_servers: World, fault: Fault,
                                                                          report: Report) -> None:
    strike_alone(three_servers, fault, report, "three servers")


def strike_alone(world: World, fault: Fault, report: Report, where: str) -> None:
    """From the shortest that it lasts to the longest."""
    dice, tally = random.Random(fault.what), Tally()
    works = start_work(world, SESSIONS_EACH, tally)
    worst_s = 0.0
    for number in range(TIMES):
        time.sleep(1)  # there is work under way
        mend = fault.strike(world, dice)
        time.sleep(fault.least_s + (fault.most_s - fault.least_s) * number / (TIMES - 1))
        began = time.monotonic()
        mend()
        world.wait_whole()
        worst_s = max(worst_s, time.monotonic() - began)
    settle(world, works)
    counts = judge(world, works)
    print(f"{fault.what}, {where}: {counts}\n{tally}")
    check_requests(tally)
    report(RULE, f"{fault.what}, {where}", tried=TIMES, held=TIMES if not counts.faults else 0, worst_ms=worst_s * 1000,
           lost=counts.lost + counts.lost_at_owner)
    assert counts.faults == {}, counts
