"""The newest entries are found in memory until blocks have them, and never half seen."""

from __future__ import annotations

from tests.journal.samples import entries, seqs
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.recent import Recent


def at_pos(found: list[Entry], first_pos: int) -> list[Entry]:
    """The entries as committed from ``first_pos`` on."""
    for pos, each in enumerate(found, start=first_pos):
        each.pos = pos
    return found


def held(recent: Recent, *, after: int = 0, before: int | None = None, horizon: int = 1000) -> list[int]:
    return seqs(recent.of("a", after=after, before=before, horizon=horizon))


def test_entries_are_found_by_seq_and_up_to_the_horizon() -> None:
    recent = Recent()
    recent.add({"a": at_pos(entries(1, 3), 1), "b": at_pos(entries(1, 1), 4)}, 100)
    recent.add({"a": at_pos(entries(4, 6), 5)}, 100)
    assert held(recent) == [1, 2, 3, 4, 5, 6]
    assert held(recent, after=2, before=6) == [3, 4, 5]
    assert held(recent, horizon=3) == [1, 2, 3]
    assert held(recent, horizon=5) == [1, 2, 3, 4]
    assert held(recent, horizon=0) == []
    assert recent.of("nobody", after=0, before=None, horizon=9) == []
    assert (recent.groups, recent.bytes) == (2, 200)


def test_entries_are_found_all_the_way_through_a_fold() -> None:
    recent = Recent()
    recent.add({"a": at_pos(entries(1, 2), 1)}, 10)
    assert [seqs(part) for part in recent.begin_fold().values()] == [[1, 2]]
    assert (recent.groups, recent.bytes) == (0, 0)
    assert held(recent) == [1, 2]
    recent.add({"a": at_pos(entries(3, 3), 3)}, 10)
    assert held(recent) == [1, 2, 3]
    assert recent.last_seqs() == {"a": 3}
    recent.end_fold()
    assert held(recent) == [3]
    assert recent.holds("a")


def test_a_fold_that_failed_begins_again_with_the_same() -> None:
    recent = Recent()
    recent.add({"a": at_pos(entries(1, 2), 1)}, 10)
    first = recent.begin_fold()
    recent.add({"a": at_pos(entries(3, 3), 3)}, 10)
    assert recent.begin_fold() is first
    recent.end_fold()
    assert [seqs(part) for part in recent.begin_fold().values()] == [[3]]


def test_the_callers_list_is_not_kept() -> None:
    recent = Recent()
    given = at_pos(entries(1, 2), 1)
    recent.add({"a": given}, 10)
    given.clear()
    assert held(recent) == [1, 2]
