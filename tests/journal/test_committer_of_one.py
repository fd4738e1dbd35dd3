"""One session's entries on their own way: committed and delivered as a group of them would be, at the same moments."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.committing import Sink, Slow, Watched, wait_ms, with_sinks
from tests.journal.samples import entry, row, seqs
from tests.journal.test_committer_timing import Disk, committer_on
from tests.tooling.examples import examples
from tests.virtual_time import run_in_virtual_time
from trunkline.errors import HubStopping, StorageError
from trunkline.journal.base import Entry
from trunkline.journal.committer import Committer


def one(committer: Committer, seq: int, session_id: str = "a") -> Entry:
    made = entry(seq)
    committer.submit_alone(session_id, [made], made.size())
    return made


def test_it_is_stored_and_delivered_when_submit_returns() -> None:
    async def scenario() -> None:
        journal, groups = Disk(0.05), list[Any]()
        committer = committer_on(journal)
        committer.on_committed = groups.append
        [sink] = with_sinks(committer, "a")
        made = one(committer, 1)
        assert (sink.told, sink.sizes, made.pos, committer.commits) == ([[1]], [made.size()], 1, 1)
        assert groups == [{"a": [made]}]
        assert (committer.pending_bytes, committer.is_pending("a")) == (0, False)

    run_in_virtual_time(scenario())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3), st.booleans(), st.booleans(),
                          st.sampled_from([0.0, 0.1, 0.3, 1.0])), max_size=60),
       st.sampled_from([0.01, 0.1, 0.6]))
@settings(max_examples=examples(40), deadline=None)
def test_both_ways_commit_at_the_same_moments(submits: list[tuple[str, int, bool, bool, float]], takes_ms: float) -> None:
    async def scenario(short: bool) -> tuple[list[float], list[list[int]], list[list[int]]]:
        journal = Disk(takes_ms)
        committer = committer_on(journal)
        a, b = with_sinks(committer, "a", "b")
        last = 0
        for session_id, count, changes, has_row, pause_ms in submits:
            made = [entry(last + number) for number in range(1, count + 1)]
            last += count
            if short and not has_row:
                committer.submit_alone(session_id, made, sum(each.size() for each in made), changes=changes)
            else:
                committer.submit(session_id, made, partial(row, session_id) if has_row else None, changes=changes)
            await wait_ms(pause_ms)
        await committer.close()
        return journal.times_ms, a.told, b.told

    assert run_in_virtual_time(scenario(True)) == run_in_virtual_time(scenario(False))


def test_behind_something_that_is_pending_it_waits_for_it() -> None:
    async def scenario() -> None:
        journal = Slow()
        committer = Committer(journal)
        [sink] = with_sinks(committer, "a")
        one(committer, 1)
        one(committer, 2)
        assert committer.is_pending("a") and sink.told == []
        journal.go.set()
        await committer.committed("a")
        await committer.close()
        assert [seqs(group.entries["a"]) for group in journal.groups] == [[1], [2]]

    run_in_virtual_time(scenario())


def test_what_a_reader_makes_a_session_submit_comes_after_it() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal)

        class Answering(Sink):
            def committed(self, entries: list[Entry], size: int) -> None:
                super().committed(entries, size)
                if entries[0].seq == 1:
                    one(committer, 2)
                    assert len(journal.groups) == 1, "others get theirs first"

        sink = Answering()
        committer.register("a", sink)
        one(committer, 1)
        await committer.committed("a")
        await committer.close()
        assert sink.told == [[1], [2]]

    run_in_virtual_time(scenario())


def test_one_that_cannot_be_stored_is_handed_back() -> None:
    async def scenario() -> None:
        journal = Watched()
        committer = Committer(journal)
        [sink] = with_sinks(committer, "a")
        journal.failure = StorageError("the disk is full")
        one(committer, 1)
        assert (sink.told, sink.lost, committer.pending_bytes) == ([], [[1]], 0)
        journal.failure = None
        one(committer, 1)
        assert sink.told == [[1]]

    run_in_virtual_time(scenario())


def test_a_session_that_fails_to_take_it_fails_alone() -> None:
    async def scenario() -> list[str]:
        said: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context["message"]))
        committer = Committer(Watched())

        class Broken(Sink):
            def committed(self, entries: list[Entry], size: int) -> None:
                raise ValueError("a bug")

        committer.register("a", Broken())
        one(committer, 1)
        one(committer, 1, "gone")
        return said

    assert run_in_virtual_time(scenario()) == ["session a failed to take its committed entries"]


def test_a_committer_that_is_closed_takes_none() -> None:
    async def scenario() -> None:
        committer = Committer(Watched())
        await committer.close()
        with pytest.raises(HubStopping):
            one(committer, 1)

    run_in_virtual_time(scenario())
