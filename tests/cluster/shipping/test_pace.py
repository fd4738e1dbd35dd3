"""Shipping's share of the loop: who is quiet never waits, who is loud gets its share, many share what a message costs."""

from __future__ import annotations

import asyncio

import pytest

from tests.virtual_time import run_in_virtual_time
from trunkline.cluster.shipping.pace import MESSAGE_S, SHARE, SHARED_BY, Pace


async def messages_in(pace: Pace, seconds: float) -> int:
    """How many may be made in a time, by somebody who makes one after the other."""
    clock = asyncio.get_running_loop().time
    until, made = clock() + seconds, 0
    while clock() < until:
        await pace.turn()
        pace.charge(0)
        made += 1
    return made


def paced() -> Pace:
    return Pace(asyncio.get_running_loop().time)


def test_a_word_now_and_then_never_waits() -> None:
    async def go() -> None:
        pace, clock = paced(), asyncio.get_running_loop().time
        for _ in range(200):
            await asyncio.sleep(0.02)
            before = clock()
            await pace.turn()
            pace.charge(300)
            assert clock() == before

    run_in_virtual_time(go())


@pytest.mark.parametrize("busy", [1, 100])
def test_a_flood_gets_its_share_and_many_share_the_cost(busy: int) -> None:
    async def go() -> int:
        pace = paced()
        pace.busy = busy
        return await messages_in(pace, 10.0)

    share = 10.0 * SHARE / MESSAGE_S * min(busy, SHARED_BY)
    assert run_in_virtual_time(go()) == pytest.approx(share, rel=0.05)
