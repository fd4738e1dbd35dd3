"""What a session has that the stream has not: from memory while that reaches, from the journal else, always in order."""

from __future__ import annotations

from tests.aio import run
from tests.journal.samples import entries, entry
from trunkline.cluster.shipping.outbox import HELD_BYTES, Outbox
from trunkline.cluster.wire import GROUP_BYTES, GROUP_ENTRIES, LARGE_ENTRY
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.memory import MemoryJournal


async def shipped_from(journal: MemoryJournal, outbox: Outbox) -> list[list[int]]:
    """The seqs of each group, until all is shipped."""
    groups = []
    while not outbox.is_empty:
        group, size = await outbox.next_group()
        assert size == sum(each.size() for each in group)
        groups.append([each.seq for each in group])
        outbox.ship(group[-1].seq)
    return groups


def outbox_of(found: list[Entry]) -> tuple[MemoryJournal, Outbox]:
    journal = MemoryJournal()
    journal.append_now(Group({"s": found}, {}))
    return journal, Outbox("s", journal, 0, 0)


def test_few_entries_are_one_group() -> None:
    found = entries(1, 5)
    journal, outbox = outbox_of(found)
    outbox.add(found[:2], 44)
    outbox.add(found[2:], 66)
    assert run(shipped_from(journal, outbox)) == [[1, 2, 3, 4, 5]]


def test_groups_keep_to_their_bounds() -> None:
    found = [*entries(1, 3, size=GROUP_BYTES // 2), *entries(4, 4 + GROUP_ENTRIES + 10)]
    journal, outbox = outbox_of(found)
    outbox.add(found, sum(each.size() for each in found))
    groups = run(shipped_from(journal, outbox))
    assert [seq for group in groups for seq in group] == [each.seq for each in found]
    assert max(map(len, groups)) <= GROUP_ENTRIES and groups[0] == [1]


def test_a_large_entry_is_alone() -> None:
    found = [entry(1), entry(2, size=LARGE_ENTRY + 1), entry(3)]
    journal, outbox = outbox_of(found)
    outbox.add(found, sum(each.size() for each in found))
    assert run(shipped_from(journal, outbox)) == [[1], [2], [3]]


def test_what_is_too_much_for_memory_comes_from_the_journal() -> None:
    found = entries(1, 100, size=HELD_BYTES // 50)
    journal, outbox = outbox_of(found)
    for each in found:
        outbox.add([each], each.size())
    assert [seq for group in run(shipped_from(journal, outbox)) for seq in group] == list(range(1, 101))


def test_a_stream_that_went_back_is_served_from_the_journal() -> None:
    found = entries(1, 20)
    journal, outbox = outbox_of(found)
    outbox.add(found, 440)
    outbox.ship(18)
    outbox.go_back(4)
    assert run(shipped_from(journal, outbox)) == [list(range(5, 21))]


def test_a_hole_in_the_seqs_does_not_stop_it() -> None:
    found = [*entries(1, 3), *entries(8, 9)]
    journal, outbox = outbox_of(found)
    outbox.add(found[:3], 66)
    outbox.ship(3)
    outbox.add(found[3:], 44)
    assert run(shipped_from(journal, outbox)) == [[8, 9]]
