"""When the committer commits: on the spot while that is cheap, together where it is not."""

from __future__ import annotations

import asyncio
import functools
import itertools

import pytest

from tests.journal.committing import NoDelay, Watched, wait_ms, with_sinks
from tests.journal.samples import entry, row
from tests.virtual_time import VirtualTimeLoop, run_in_virtual_time
from trunkline.errors import StorageError
from trunkline.journal.base import Group, SessionRow
from trunkline.journal.committer import STREAMS_SHARE, WORTH_GATHERING, Committer


class Disk(Watched):
    """A journal whose commits take so long, on the loop."""

    def __init__(self, takes_ms: float) -> None:
        super().__init__()
        self._takes_s = takes_ms / 1000

    def append_now(self, group: Group) -> bool:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        done = super().append_now(group)
        loop.hold(self._takes_s)
        return done


def committer_on(journal: Disk) -> Committer:
    return Committer(journal, linger_s=0.005, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)


async def stream(committer: Committer, count: int, every_ms: float) -> None:
    """One entry after the other."""
    for seq in range(1, count + 1):
        committer.submit("a", [entry(seq)])
        await wait_ms(every_ms)
    await committer.committed("a")


def test_text_on_a_quiet_hub_is_stored_when_submit_returns() -> None:
    async def scenario() -> None:
        journal = Disk(0.05)
        committer = committer_on(journal)
        for seq in range(1, 5):
            committer.submit("a", [entry(seq)])
            assert len(journal.groups) == seq and not committer.is_pending("a")
            await wait_ms(6)

    run_in_virtual_time(scenario())


def test_commits_that_are_cheap_are_made_one_by_one_however_many_there_are() -> None:
    async def scenario() -> int:
        journal = Disk(0.04)
        await stream(committer_on(journal), 500, every_ms=0.5)
        return len(journal.groups)

    assert run_in_virtual_time(scenario()) == 500


def test_text_that_comes_thick_is_gathered_as_long_as_it_does() -> None:
    async def scenario() -> tuple[float, int]:
        journal = Disk(0.01)
        committer = committer_on(journal)
        await stream(committer, 2000, every_ms=0.2)
        thick = 2000 / len(journal.groups)
        before = len(journal.groups)
        for seq in range(2001, 2201):
            committer.submit("a", [entry(seq)])
            await wait_ms(0.5)
        return thick, len(journal.groups) - before

    thick, thin = run_in_virtual_time(scenario())
    assert thick > WORTH_GATHERING
    assert thin > 160  # a few groups show that it is over; from then on each piece is committed when it comes


def test_gathered_text_waits_two_milliseconds_at_most() -> None:
    async def scenario() -> list[float]:
        journal = Disk(0.01)
        await stream(committer_on(journal), 1000, every_ms=0.2)
        return journal.times_ms

    times = run_in_virtual_time(scenario())
    assert 1.8 <= max(after - before for before, after in itertools.pairwise(times)) <= 2.3


@pytest.mark.parametrize("takes_ms", [0.2, 0.4, 0.8])
def test_the_dearer_commits_are_the_more_each_of_them_carries(takes_ms: float) -> None:
    async def scenario() -> float:
        journal = Disk(takes_ms)
        committer = committer_on(journal)
        began = asyncio.get_running_loop().time()
        await stream(committer, 2000, every_ms=0.5)
        return len(journal.groups) * takes_ms / 1000 / (asyncio.get_running_loop().time() - began)

    share = run_in_virtual_time(scenario())
    # A timer that comes a moment late leaves a little of the share unused; what the linger forces may pass it.
    assert 0.7 * STREAMS_SHARE < share < 1.6 * STREAMS_SHARE


def test_text_never_waits_longer_than_the_linger_however_dear_commits_are() -> None:
    async def scenario() -> list[float]:
        journal = Disk(3.0)
        await stream(committer_on(journal), 100, every_ms=1)
        return journal.times_ms

    times = run_in_virtual_time(scenario())
    assert max(after - before for before, after in itertools.pairwise(times)) <= 3.0 + 5.0 + 1.0


def test_a_change_does_not_wait_with_the_text_before_it() -> None:
    async def scenario() -> list[float]:
        journal = Disk(1.0)
        committer = committer_on(journal)
        for seq in range(1, 5):
            committer.submit("a", [entry(seq)])  # the fourth finds nothing left of what was saved
        assert committer.is_pending("a")
        committer.submit("a", [entry(5)], lambda: row("a"))
        assert not committer.is_pending("a")
        return journal.times_ms

    assert run_in_virtual_time(scenario()) == [0.0, 1.0, 2.0, 3.0]


def test_a_change_on_a_quiet_hub_is_stored_when_submit_returns() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal)
        (sink,) = with_sinks(committer, "a")
        committer.submit("a", [entry(1)], lambda: row("a"))
        assert len(journal.groups) == 1 and sink.told == [[1]] and not committer.is_pending("a")
        journal.failure = StorageError("the disk is full")
        committer.submit("a", [entry(2)], lambda: row("a"))
        assert sink.lost == [[2]] and not committer.is_pending("a")

    run_in_virtual_time(scenario())


def test_a_flood_of_changes_is_gathered_too() -> None:
    async def scenario() -> list[float]:
        journal = Disk(0.2)
        committer = committer_on(journal)
        for seq in range(1, 401):
            committer.submit("a", [entry(seq)], lambda: row("a"))
            await wait_ms(0.1)
        await committer.committed("a")
        return journal.times_ms

    times = run_in_virtual_time(scenario())
    assert len(times) < 200 and max(after - before for before, after in itertools.pairwise(times)) <= 5.3


def test_several_changes_in_one_group_make_one_row() -> None:
    async def scenario() -> list[str]:
        made: list[str] = []

        def make(title: str) -> SessionRow:
            made.append(title)
            return row("a", title=title)

        committer = Committer(Watched(), saved_s=0)
        for title in ("first", "second", "third"):
            committer.submit("a", [], functools.partial(make, title))
        await committer.committed("a")
        return made

    assert run_in_virtual_time(scenario()) == ["third"]
