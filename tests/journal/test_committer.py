"""The committer: what is submitted becomes groups, at the right moments, and is delivered after the commit only."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.committing import NoDelay, Sink, Slow, Watched, wait_ms, with_sinks
from tests.journal.samples import entries, entry, row, seqs
from tests.virtual_time import VirtualTimeLoop, run_in_virtual_time
from trunkline.errors import HubStopping, StorageError
from trunkline.journal.base import Entry, Group, RowFilter
from trunkline.journal.committer import LARGE_GROUP_BYTES, QUICK_COMMITS, SLOW_COMMIT_S, Committer
from trunkline.journal.run_delay import RunDelay

# Grouping and delivery.

def test_everything_of_one_loop_iteration_is_one_group_and_told_once_per_session() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal, saved_s=0)
        a, b = with_sinks(committer, "a", "b")
        committer.submit("a", entries(1, 2, size=8))
        committer.submit("b", [entry(1)], lambda: row("b"))
        committer.submit("a", [entry(3)])
        assert journal.groups == []
        await committer.committed("a")
        assert len(journal.groups) == 1
        assert (a.told, b.told) == ([[1, 2, 3]], [[1]])
        assert a.sizes == [2 * 10 + 22]
        assert [found.id for found in await journal.rows(RowFilter())] == ["b"]
        assert committer.commits == 1

    run_in_virtual_time(scenario())


def test_the_last_row_of_a_group_wins() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal)
        committer.submit("a", [entry(1)], lambda: row("a", title="First"))
        committer.submit("a", [], lambda: row("a", title="Second"))
        await committer.committed("a")
        [found] = await journal.rows(RowFilter())
        assert (found.title, found.last_seq) == ("Second", 1)

    run_in_virtual_time(scenario())


def test_a_waiter_wakes_after_the_session_was_told() -> None:
    async def scenario() -> None:
        committer = Committer(Watched())
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        await committer.committed("a")
        assert sink.told == [[1]]
        await committer.committed("a")  # nothing is pending: no wait
        await committer.committed("nobody")

    run_in_virtual_time(scenario())


def test_what_a_session_submits_while_it_is_told_goes_into_the_next_group() -> None:
    class Answering(Sink):
        def committed(self, entries: list[Entry], size: int) -> None:
            super().committed(entries, size)
            if entries[-1].seq < 3:
                committer.submit("a", [entry(entries[-1].seq + 1)])

    committer: Committer

    async def scenario() -> None:
        nonlocal committer
        journal = Watched()
        committer = Committer(journal)
        sink = Answering()
        committer.register("a", sink)
        committer.submit("a", [entry(1)])
        await wait_ms(100)
        assert sink.told == [[1], [2], [3]]

    run_in_virtual_time(scenario())


def test_a_session_that_fails_to_take_its_entries_does_not_keep_them_from_others() -> None:
    class Broken(Sink):
        def committed(self, entries: list[Entry], size: int) -> None:
            raise RuntimeError("a bug")

    async def scenario() -> None:
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
        committer = Committer(Watched())
        committer.register("a", Broken())
        [b] = with_sinks(committer, "b")
        committer.submit("a", [entry(1)])
        committer.submit("b", [entry(1)])
        await committer.committed("a")
        assert b.told == [[1]]
        assert [str(context["exception"]) for context in reported] == ["a bug"]
        assert "session a" in reported[0]["message"]

    run_in_virtual_time(scenario())


def test_a_session_that_is_gone_is_stored_and_not_told() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal, saved_s=0)
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        committer.unregister("a")
        await committer.close()
        assert sink.told == []
        assert seqs(await journal.read("a")) == [1]

    run_in_virtual_time(scenario())



# A journal that has to be waited for.

def test_what_is_submitted_during_a_slow_commit_is_one_group_after_it() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal)
        a, b = with_sinks(committer, "a", "b")
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        for seq in range(2, 6):
            committer.submit("a", [entry(seq)])
            committer.submit("b", [entry(seq)])
            await wait_ms(1)
        assert (a.told, journal.groups) == ([], [])
        journal.go.set()
        await committer.committed("a")
        assert (a.told, b.told) == ([[1], [2, 3, 4, 5]], [[2, 3, 4, 5]])

    run_in_virtual_time(scenario())


def test_committed_waits_for_a_slow_commit_that_is_under_way() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal)
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        waiting = asyncio.create_task(committer.committed("a"))
        await wait_ms(50)
        assert not waiting.done()
        journal.go.set()
        await waiting
        assert sink.told == [[1]]

    run_in_virtual_time(scenario())


def test_a_waiter_that_gives_up_does_no_harm() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal)
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        waiting = asyncio.create_task(committer.committed("a"))
        await wait_ms(1)
        waiting.cancel()
        journal.go.set()
        await committer.committed("a")
        assert waiting.cancelled()
        assert sink.told == [[1]]

    run_in_virtual_time(scenario())


def test_a_large_group_is_not_committed_on_the_loop() -> None:
    class Loop(Watched):
        waited_for = 0

        async def append(self, group: Group) -> None:
            self.waited_for += 1
            await super().append(group)

    async def scenario() -> None:
        journal = Loop()
        committer = Committer(journal)
        committer.submit("a", [entry(1, size=LARGE_GROUP_BYTES)])
        await committer.committed("a")
        assert journal.waited_for == 1
        committer.submit("a", [entry(2)])
        await committer.committed("a")
        assert (journal.waited_for, len(journal.groups)) == (1, 2)

    run_in_virtual_time(scenario())


def test_a_group_with_a_large_row_is_not_committed_on_the_loop() -> None:
    async def scenario() -> None:
        journal = Disk()
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        committer.submit("a", [entry(1)], lambda: row("a", checkpoint=b"x" * LARGE_GROUP_BYTES))
        await committer.committed("a")
        assert journal.places == ["thread"]

    run_in_virtual_time(scenario())


# A slow disk.

class Disk(Watched):
    """Takes its time, on the loop or in its thread; remembers where each commit was."""

    def __init__(self, times_s: list[float] | None = None) -> None:
        super().__init__()
        self.times_s = times_s or []
        self.places: list[str] = []

    def append_now(self, group: Group) -> bool:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.hold(self._next_s())
        self.places.append("loop")
        return super().append_now(group)

    async def append(self, group: Group) -> None:
        await asyncio.sleep(self._next_s())
        self.places.append("thread")
        super().append_now(group)

    def _next_s(self) -> float:
        return self.times_s.pop(0) if self.times_s else 0.0


def test_after_a_slow_commit_the_loop_commits_nothing_until_enough_were_quick_in_the_thread() -> None:
    async def scenario() -> list[str]:
        slow, quick = SLOW_COMMIT_S * 2, SLOW_COMMIT_S / 2
        journal = Disk([quick, slow, quick, quick, slow])
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        [sink] = with_sinks(committer, "a")
        for seq in range(1, 17):
            committer.submit("a", [entry(seq)])
            await committer.committed("a")
        assert sink.told == [[seq] for seq in range(1, 17)]
        return journal.places

    places = run_in_virtual_time(scenario())
    # Two on the loop, of which one was slow; two quick and one slow in the thread; as many quick ones as it takes; the loop.
    assert places == ["loop"] * 2 + ["thread"] * (3 + QUICK_COMMITS) + ["loop"] * (16 - 5 - QUICK_COMMITS)


def test_a_commit_that_waited_for_a_processor_is_not_a_slow_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> list[str]:
        journal = Disk([SLOW_COMMIT_S * 2] * 3)
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        for seq in range(1, 4):
            committer.submit("a", [entry(seq)])
            await committer.committed("a")
        return journal.places

    monkeypatch.setattr(RunDelay, "since_mark", lambda self: SLOW_COMMIT_S * 1.5)
    assert run_in_virtual_time(scenario()) == ["loop"] * 3


def test_in_the_thread_the_commit_counts_and_not_the_wait_for_its_turn() -> None:
    class Busy(Disk):
        async def append(self, group: Group) -> None:
            await super().append(group)
            group.took_s = SLOW_COMMIT_S / 2

    async def scenario() -> list[str]:
        journal = Busy([SLOW_COMMIT_S * 2] * (1 + QUICK_COMMITS))
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        for seq in range(1, QUICK_COMMITS + 3):
            committer.submit("a", [entry(seq)])
            await committer.committed("a")
        return journal.places

    assert run_in_virtual_time(scenario()) == ["loop"] + ["thread"] * QUICK_COMMITS + ["loop"]


def test_a_large_group_may_take_as_long_as_its_parts_would() -> None:
    async def scenario() -> list[str]:
        journal = Disk([SLOW_COMMIT_S * 2] * (1 + QUICK_COMMITS))
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        for seq in range(1, QUICK_COMMITS + 3):
            is_between = 1 < seq < QUICK_COMMITS + 2
            committer.submit("a", [entry(seq)], size=3 * LARGE_GROUP_BYTES if is_between else None)
            await committer.committed("a")
        return journal.places

    assert run_in_virtual_time(scenario()) == ["loop"] + ["thread"] * QUICK_COMMITS + ["loop"]


@given(st.lists(st.floats(0, 0.1), max_size=60), st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 30)),
                                                          max_size=80))
def test_a_wavering_disk_loses_and_reorders_nothing(times_s: list[float], submits: list[tuple[str, bool, int]]) -> None:
    async def scenario() -> None:
        journal = Disk(times_s)
        committer = Committer(journal, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        names = ["a", "b", "c"]
        sinks = dict(zip(names, with_sinks(committer, *names), strict=True))
        given: dict[str, list[int]] = {name: [] for name in names}
        for name, changes, pause_ms in submits:
            given[name].append(len(given[name]) + 1)
            committer.submit(name, [entry(given[name][-1])], functools.partial(row, name) if changes else None)
            await wait_ms(pause_ms)
        await committer.close()
        for name, sink in sinks.items():
            assert [seq for told in sink.told for seq in told] == given[name]
            assert seqs(await journal.read(name)) == given[name]

    run_in_virtual_time(scenario())


def test_a_group_that_failed_slowly_is_handed_back_and_the_next_goes_to_the_thread() -> None:
    async def scenario() -> None:
        journal = Disk([SLOW_COMMIT_S * 2])
        committer = Committer(journal, saved_s=0, clock_s=asyncio.get_running_loop().time, run_delay=NoDelay)
        [sink] = with_sinks(committer, "a")
        journal.failure = StorageError("the disk is full")
        committer.submit("a", [entry(1)])
        with pytest.raises(StorageError):
            await committer.committed("a")
        journal.failure = None
        committer.submit("a", [entry(1)])
        await committer.committed("a")
        assert (sink.lost, sink.told, journal.places) == ([[1]], [[1]], ["loop", "thread"])

    run_in_virtual_time(scenario())


# Failure.

def test_a_failed_group_is_handed_back_and_the_committer_goes_on() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal, saved_s=0)
        a, b = with_sinks(committer, "a", "b")
        journal.failure = StorageError("the disk is full")
        committer.submit("a", entries(1, 2))
        committer.submit("b", [], lambda: row("b"))
        with pytest.raises(StorageError, match="the disk is full"):
            await committer.committed("a")
        assert (a.told, a.lost, b.lost) == ([], [[1, 2]], [[]])
        assert [error.message for error in a.errors + b.errors] == ["the disk is full"] * 2
        assert committer.pending_bytes == 0
        journal.failure = None
        committer.submit("a", entries(1, 3))
        await committer.committed("a")
        assert (a.told, a.lost) == ([[1, 2, 3]], [[1, 2]])

    run_in_virtual_time(scenario())


def test_what_came_after_a_failed_group_is_handed_back_with_it() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal, saved_s=0)
        a, b = with_sinks(committer, "a", "b")
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        committer.submit("a", [entry(2)], lambda: row("a"))
        committer.submit("b", [entry(1)])
        waiting = asyncio.create_task(committer.committed("a"))
        await wait_ms(1)
        journal.failure = StorageError("the disk is full")
        journal.go.set()
        with pytest.raises(StorageError, match="the disk is full"):
            await waiting
        journal.failure = None
        await committer.committed("b")
        assert (a.told, a.lost, b.told, b.lost) == ([], [[1, 2]], [[1]], [])
        assert await journal.rows(RowFilter()) == []
        committer.submit("a", entries(1, 2))
        await committer.committed("a")
        assert (a.told, committer.pending_bytes) == ([[1, 2]], 0)

    run_in_virtual_time(scenario())


def test_an_error_nobody_expected_is_a_storage_error_to_the_session() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal, saved_s=0)
        [sink] = with_sinks(committer, "a")
        journal.failure = ValueError("a bug")
        committer.submit("a", [entry(1)])
        with pytest.raises(StorageError, match="a bug"):
            await committer.committed("a")
        assert sink.lost == [[1]]

    run_in_virtual_time(scenario())


# Back-pressure and the end.

def test_too_many_pending_bytes_are_congestion_until_half_is_written() -> None:
    async def scenario() -> None:
        journal = Slow()
        drained: list[int] = []
        committer = Committer(journal, high_water_bytes=1000, on_drained=lambda: drained.append(committer.pending_bytes))
        committer.submit("a", [entry(1, size=598)])
        await wait_ms(1)
        assert (committer.pending_bytes, committer.congested) == (600, False)
        committer.submit("a", [], size=0)
        committer.submit("b", [entry(1, size=498)])
        assert (committer.pending_bytes, committer.congested) == (1100, True)
        journal.go.set()
        await committer.committed("a")
        assert (drained, committer.congested) == ([500], False)
        await committer.committed("b")
        assert (committer.pending_bytes, drained) == (0, [500])

    run_in_virtual_time(scenario())


def test_close_commits_what_is_pending_and_takes_no_more() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal, saved_s=0)
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        committer.submit("a", [entry(2)])
        await committer.close()
        assert sink.told == [[1], [2]]
        assert journal.times_ms == [0.0, 1.0]
        with pytest.raises(HubStopping):
            committer.submit("a", [entry(3)])
        await committer.close()

    run_in_virtual_time(scenario())


def test_close_waits_for_a_slow_commit_and_for_what_came_after_it() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal)
        [sink] = with_sinks(committer, "a")
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        committer.submit("a", [entry(2)])
        closing = asyncio.create_task(committer.close())
        await wait_ms(1)
        assert not closing.done()
        journal.go.set()
        await closing
        assert sink.told == [[1], [2]]

    run_in_virtual_time(scenario())


# What is behind the journal.

class Elsewhere(Slow):
    """Has each group elsewhere, too, but not the parts of session ``b``."""

    async def append(self, group: Group) -> None:
        await super().append(group)
        if "b" in group.entries:
            group.refused = {"b": StorageError("b is another's")}


def test_a_session_whose_part_was_refused_elsewhere_is_handed_back_alone() -> None:
    async def scenario() -> None:
        journal = Elsewhere()
        seen: list[list[str]] = []
        committer = Committer(journal, on_committed=lambda parts: seen.append(list(parts)))
        a, b = with_sinks(committer, "a", "b")
        committer.submit("a", [entry(1)])
        committer.submit("b", [entry(1)])
        journal.go.set()
        await wait_ms(10)
        committer.submit("a", [entry(2)])
        committer.submit("b", [entry(2)])
        waiting = asyncio.gather(committer.committed("a"), committer.committed("b"), return_exceptions=True)
        done = await waiting
        assert a.told == [[1], [2]] and (b.told, b.lost) == ([], [[1], [2]])
        assert done[0] is None and isinstance(done[1], StorageError)
        assert all("b" not in names for names in seen)

    run_in_virtual_time(scenario())


def test_who_holds_the_committer_makes_it_congested_until_it_lets_go() -> None:
    async def scenario() -> None:
        drained: list[bool] = []
        committer = Committer(Watched(), on_drained=lambda: drained.append(True))
        [sink] = with_sinks(committer, "a")
        committer.hold(True)
        committer.submit("a", [entry(1)])
        await committer.committed("a")
        assert (committer.congested, sink.told, drained) == (True, [[1]], []), "what is submitted is stored all the same"
        committer.hold(False)
        assert (committer.congested, drained) == (False, [True])

    run_in_virtual_time(scenario())


def test_rows_are_told_with_their_group() -> None:
    async def scenario() -> None:
        told: list[str] = []
        committer = Committer(Watched())
        committer.on_rows = lambda rows: told.extend(rows)
        with_sinks(committer, "a", "b")
        committer.submit("a", [entry(1)], lambda: row("a"))
        committer.submit("b", [entry(1)])
        await committer.committed("b")
        assert told == ["a"]

    run_in_virtual_time(scenario())
