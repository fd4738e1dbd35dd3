"""What a session remembers by its id: the newest."""

from __future__ import annotations

import pytest

from trunkline.session.fold import KEPT_COMMANDS, KEPT_DECISIONS, remember
from trunkline.session.interpret.calls.terminals import KEPT_TERMINALS


@pytest.mark.parametrize("most", [KEPT_TERMINALS, KEPT_COMMANDS, KEPT_DECISIONS])
def test_what_is_remembered_by_its_id_is_forgotten_from_the_oldest_on(most: int) -> None:
    table: dict[str, int] = {}
    for number in range(most + 3):
        remember(table, f"id-{number}", number, most)
    assert list(table.values()) == list(range(3, most + 3))
