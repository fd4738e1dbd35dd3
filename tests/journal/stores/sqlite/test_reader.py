"""Blocks that readers found damaged: the newest, each once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trunkline.journal.stores.sqlite import reader
from trunkline.journal.stores.sqlite.reader import Unreadable


def block(first: int, session: str = "a") -> Any:
    return SimpleNamespace(session=session, first_seq=first, last_seq=first + 1)


def test_a_block_that_is_met_again_is_listed_once() -> None:
    found = Unreadable()
    for each in (block(1), block(5), block(1), block(1, "b")):
        found.add(each)
    damages = [(damage.session, damage.first, damage.last) for damage in found.newest_first()]
    assert damages == [("b", 1, 2), ("a", 5, 6), ("a", 1, 2)]


def test_of_very_many_the_newest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "DAMAGES_LISTED", 3)
    found = Unreadable()
    for first in range(10):
        found.add(block(first))
    assert [damage.first for damage in found.newest_first()] == [9, 8, 7]
