"""When the committer commits: at once while it is quiet, together while much comes."""

from __future__ import annotations

import functools
import itertools

import pytest

from tests.journal.committing import Watched, wait_ms, with_sinks
from tests.journal.samples import entry, row
from tests.virtual_time import run_in_virtual_time
from trunkline.errors import StorageError
from trunkline.journal.base import SessionRow
from trunkline.journal.committer import Committer


def test_a_quiet_hub_commits_at_once() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, burst=1)
        for seq in range(1, 5):
            committer.submit("a", [entry(seq)])
            await wait_ms(6)
        return journal.times_ms

    assert run_in_virtual_time(scenario()) == [0.0, 6.0, 12.0, 18.0]


def test_a_second_commit_in_a_row_waits_until_the_linger_is_over() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, burst=1)
        for seq in range(1, 21):
            committer.submit("a", [entry(seq)])
            await wait_ms(1)
        await committer.committed("a")
        return journal.times_ms

    assert run_in_virtual_time(scenario()) == [0.0, 5.0, 10.0, 15.0, 20.0]


def test_a_burst_is_committed_at_once_until_its_tokens_are_spent() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, burst=3)
        for seq in range(1, 25):
            committer.submit("a", [entry(seq)])
            await wait_ms(1)
        await committer.committed("a")
        return journal.times_ms

    # Three tokens, a fifth of one back per millisecond: 0, 1, 2 at once; then every 5 ms.
    assert run_in_virtual_time(scenario()) == [0.0, 1.0, 2.0, 7.0, 12.0, 17.0, 22.0, 27.0]


def test_tokens_come_back_one_per_linger_and_never_more_than_the_burst() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, burst=2)
        for pause in (1, 1, 1, 12, 1, 1, 1, 1000, 1, 1, 1):
            committer.submit("a", [entry(len(journal.groups) * 100 + len(committer._open.group.entries.get("a", [])) + 1)])
            await wait_ms(pause)
        await committer.committed("a")
        return journal.times_ms

    assert run_in_virtual_time(scenario()) == [0.0, 1.0, 6.0, 15.0, 16.0, 21.0, 1018.0, 1019.0, 1024.0]


def test_a_change_of_a_row_does_not_linger_with_the_text_before_it() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, burst=1)
        committer.submit("a", [entry(1)])
        await wait_ms(1)
        committer.submit("a", [entry(2)])
        await wait_ms(1)
        committer.submit("a", [entry(3)], lambda: row("a"))
        await wait_ms(1)
        committer.submit("a", [entry(4)])
        await committer.committed("a")
        return journal.times_ms

    # Text at 0; text at 1 waits; the change at 2 takes it along at once; the text at 3 waits for 5 ms after that.
    assert run_in_virtual_time(scenario()) == [0.0, 2.0, 7.0]


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


def test_a_flood_of_changes_lingers_too() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.005, changes_burst=8)
        for seq in range(1, 401):
            committer.submit("a", [entry(seq)], lambda: row("a"))
            await wait_ms(0.1)
        await committer.committed("a")
        return journal.times_ms

    times = run_in_virtual_time(scenario())
    assert times[:8] == pytest.approx([index * 0.1 for index in range(8)])
    assert len(times) < 200 and max(after - before for before, after in itertools.pairwise(times)) <= 5.0


def test_several_changes_in_one_group_make_one_row() -> None:
    async def scenario() -> list[str]:
        made: list[str] = []

        def make(title: str) -> SessionRow:
            made.append(title)
            return row("a", title=title)

        committer = Committer(Watched(), changes_burst=0)
        for title in ("first", "second", "third"):
            committer.submit("a", [], functools.partial(make, title))
        await committer.committed("a")
        return made

    assert run_in_virtual_time(scenario()) == ["third"]


def test_without_linger_every_commit_is_at_once() -> None:
    async def scenario() -> list[float]:
        journal = Watched()
        committer = Committer(journal, linger_s=0.0, burst=1)
        for seq in range(1, 4):
            committer.submit("a", [entry(seq)])
            await wait_ms(1)
        return journal.times_ms

    assert run_in_virtual_time(scenario()) == [0.0, 1.0, 2.0]
