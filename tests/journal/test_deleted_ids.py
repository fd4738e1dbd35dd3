"""The newest ids: a set that does not grow without end."""

from __future__ import annotations

from trunkline.journal.deleted_ids import KEPT_IDS, DeletedIds


def test_the_newest_ids_are_kept_and_no_more() -> None:
    ids = DeletedIds()
    for number in range(KEPT_IDS + 10):
        ids.add(str(number))
    assert len(ids) == KEPT_IDS and set(ids) == {str(number) for number in range(10, KEPT_IDS + 10)}


def test_an_id_that_comes_again_is_new_again() -> None:
    ids = DeletedIds()
    for number in range(KEPT_IDS):
        ids.add(str(number))
    ids.add("0")
    ids.add("another")
    assert "0" in ids and "1" not in ids
