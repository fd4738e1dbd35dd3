"""Plans: kept and told up to a bound, and whole in their entries."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.told import Told, events, packets
from tests.session.script import update
from trunkline.dialects.signals import LargeUpdate
from trunkline.session.interpret import plans


def test_a_plan_is_kept_up_to_a_bound() -> None:
    told = Told().turn()
    entries = [{"content": "c" * 5000, "priority": "low", "status": "pending"} for _ in range(1000)]
    told.hear(update(sessionUpdate="plan", entries=entries))
    assert len(told.fold.todos) == plans.TODOS and len(told.fold.todos[0].content) == plans.TODO_CHARS
    assert len(events(told.entries)[-1]["todos"]) == plans.TODOS


@pytest.mark.parametrize("is_large", [False, True])
def test_a_plan_of_very_many_lines_is_told_by_its_beginning_and_is_whole_in_its_entry(
    monkeypatch: pytest.MonkeyPatch, is_large: bool,
) -> None:
    plan = update(sessionUpdate="plan", entries=[
        {"content": f"line {number}", "priority": "high", "status": "pending"} for number in range(3000)])
    if is_large:
        monkeypatch.setattr(plans, "LARGE_UPDATE", 1 << 10)
    [entry] = Told().turn().hear(LargeUpdate(msgspec.Raw(plan.raw)) if is_large else plan)
    [packet] = packets([entry])
    assert [line["content"] for line in packet["entries"][:-1]] == [f"line {number}" for number in range(plans.PACKET_LINES)]
    assert packet["entries"][-1]["content"] == plans.MORE.content
    assert bytes((entry.raw if is_large else entry.update) or b"") == plan.raw
