"""Pages of runs, whatever a run is: bounded in runs, in bytes and in what is looked through."""

from __future__ import annotations

import pytest

from tests.aio import run
from tests.feeds.test_session import stored_feed
from trunkline.journal.base import Entry
from trunkline.server import paging
from trunkline.server.paging import runs_after, runs_before


class Ten:
    """Entries of the same ten are one run."""

    def __init__(self, entry: Entry) -> None:
        self.first = self.last = entry.seq
        self.size = 10

    def takes_after(self, entry: Entry) -> bool:
        fits = entry.seq // 10 == self.first // 10
        self.last = entry.seq if fits else self.last
        return fits

    def takes_before(self, entry: Entry) -> bool:
        fits = entry.seq // 10 == self.last // 10
        self.first = entry.seq if fits else self.first
        return fits


class Tens:
    """Those from ``least`` on; of the fifties there is nothing to show."""

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def is_wanted(self, entry: Entry) -> bool:
        return entry.seq >= self._least

    def begin(self, entry: Entry) -> Ten | None:
        return Ten(entry) if entry.seq // 10 != 5 else None


def test_a_page_ends_before_the_run_that_it_has_no_room_for() -> None:
    async def check() -> None:
        feed, _ = await stored_feed(100)
        found = await runs_after(feed, 14, None, 2, Tens())
        assert ([(each.first, each.last) for each in found.runs], found.position, found.more) == ([(15, 19), (20, 29)], 29, True)
        back = await runs_before(feed, 65, 2, Tens())
        assert ([(each.first, each.last) for each in back.runs], back.position, back.more) == ([(40, 49), (60, 64)], 40, True)

    run(check())


def test_a_page_is_bounded_in_bytes_and_has_at_least_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(most: int) -> tuple[int, int]:
        monkeypatch.setattr(paging, "PAGE_BYTES", most)
        feed, _ = await stored_feed(100)
        return len((await runs_after(feed, 0, None, 50, Tens())).runs), len((await runs_before(feed, 101, 50, Tens())).runs)

    assert run(check(1)) == (1, 1)
    assert run(check(35)) == (3, 3)


def test_where_it_is_said_a_page_looks_through_so_many_entries_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "READ_ENTRIES", 10)

    async def check() -> None:
        feed, _ = await stored_feed(100)
        found = await runs_after(feed, 0, None, 5, Tens(least=90), scan_most=30)
        assert (found.runs, found.position, found.more) == ([], 30, True)
        whole = await runs_after(feed, 0, None, 5, Tens(least=90))
        assert ([each.first for each in whole.runs], whole.more) == ([90, 100], False)

    run(check())
