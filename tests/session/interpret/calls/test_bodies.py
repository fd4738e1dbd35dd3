"""What the bodies of calls may hold together."""

from __future__ import annotations

import pytest

from tests.session.interpret.numbered import nth_call
from tests.session.interpret.told import Told
from trunkline.session.fold import checkpoint
from trunkline.session.interpret.calls import bodies


def test_the_bodies_of_calls_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "KEPT_BODIES", 100_000)
    told = Told().turn()
    shows = [{"type": "content", "content": {"type": "text", "text": "x" * 30_000}}]
    told.hear(*(nth_call(number, content=shows) for number in range(10)))
    assert sum(map(bodies.size_of, told.fold.calls.values())) <= 100_000
    assert told.fold.calls["c9"].state.content is not None, "the newest is whole"


def test_the_places_of_calls_count_as_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "KEPT_BODIES", 200_000)
    told = Told().turn()
    places = [{"path": f"{number:0500}"} for number in range(100)]
    told.hear(*(nth_call(number, locations=places) for number in range(10)))
    assert sum(map(bodies.size_of, told.fold.calls.values())) <= 200_000
    assert told.fold.calls["c0"].input_cut and not told.fold.calls["c9"].input_cut
    assert len(checkpoint(told.fold)) < 200_000
