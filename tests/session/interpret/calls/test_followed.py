"""Calls that are followed: so many at once, and what becomes of the others."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.interpret.numbered import nth_ask, nth_call, nth_end
from tests.session.interpret.told import Told, names
from tests.session.script import Stage, update
from trunkline.dialects.acp.calls import TITLE_CHARS
from trunkline.session.fold import checkpoint
from trunkline.session.interpret.calls import followed
from trunkline.session.policy.decide import Rule


def test_calls_beyond_the_bound_are_written_down_and_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "OPEN_CALLS", 10)
    told = Told().turn()
    entries = told.hear(*(nth_call(number) for number in range(25)))
    assert len(told.fold.calls) == 10
    assert names(entries).count("tool:start") == 10
    assert names(entries).count("interaction:notification") == 1, "it is said once"
    untracked = [entry for entry, name in zip(entries, names(entries), strict=True) if name == "tool_call_untracked"]
    assert [msgspec.json.decode(entry.update or b"")["toolCallId"] for entry in untracked] == [f"c{n}" for n in range(10, 25)]
    told.hear(*(nth_end(number) for number in range(10)))
    told.hear(nth_call(99))
    assert "c99" in told.fold.calls, "there is room again"


def test_what_such_a_turn_asks_for_is_not_known_and_high_until_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "OPEN_CALLS", 3)
    told = Told().turn()
    told.hear(*(nth_call(number) for number in range(4)), nth_ask(1, "c0"), nth_ask(2))
    views = list(told.fold.approvals.values())
    assert [view.risk_level for view in views] == ["high", "high"]
    assert all(view.about is not None and view.about.risk == "high" for view in views)
    assert followed.UNTRACKED in views[0].risk_reason and len(told.fold.calls) == 3
    told.at().turns.end("end_turn")
    told.take()
    told.turn()
    told.hear(nth_ask(3))
    assert told.fold.approvals["req-3"].risk_level == "low" and not told.fold.calls_untracked


def test_no_rule_allows_what_such_a_turn_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(followed, "OPEN_CALLS", 3)
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(Rule(action="allow", risk=["low", "medium", "high"]))
        await stage.send()
        stage.driver.say(nth_ask(1))
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert not session.fold.approvals, "the rule allowed it"
        stage.driver.say(*(nth_call(number) for number in range(5)), nth_ask(2))
        await session.agent._intake.settled()
        assert list(session.fold.approvals) == ["req-2"], "a person is asked"

    run(play())


def test_calls_that_ended_are_forgotten_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "KEPT_CALLS", 5)
    told = Told().turn()
    for number in range(20):
        told.hear(nth_call(number), nth_end(number))
    assert list(told.fold.calls) == [f"c{number}" for number in range(15, 20)]


def test_titles_ids_and_places_of_calls_are_bounded() -> None:
    told = Told().turn()
    places = [{"path": f"/w/{number}"} for number in range(5000)]
    told.hear(update(sessionUpdate="tool_call", toolCallId="c1", title="t" * 1_000_000, locations=places, name="n" * 100_000))
    assert len(told.fold.calls["c1"].state.title) == TITLE_CHARS
    assert len(checkpoint(told.fold)) < 40_000
    told.hear(update(sessionUpdate="tool_call", toolCallId="i" * 1_000_000, title="Look"))
    assert len(told.fold.calls) == 1 and len(checkpoint(told.fold)) < 40_000
