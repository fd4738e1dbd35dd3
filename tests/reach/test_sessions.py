"""Sessions of programs in terminals, by the programs' own ids."""

from __future__ import annotations

import pytest

from tests.reach.lines.lined import AGENT, OWN, Lined, check
from trunkline.reach import sessions
from trunkline.reach.sessions import TerminalSessions


def test_one_without_a_file_is_none_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "FOUND_S", 0.4)

    async def scenario(there: Lined) -> None:
        other = OWN.replace("0", "1")
        assert await TerminalSessions(there.hub, "line").find(there.hub.agents[AGENT], other) is None

    check(scenario)


def test_the_same_one_is_followed_once() -> None:
    async def scenario(there: Lined) -> None:
        found = TerminalSessions(there.hub, "line")
        first = await found.find(there.hub.agents[AGENT], OWN)
        assert first is await found.find(there.hub.agents[AGENT], OWN) is there.session

    check(scenario)


def test_one_that_is_known_is_found_without_a_look_at_all_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(there: Lined) -> None:
        found = TerminalSessions(there.hub, "line")
        first = await found.find(there.hub.agents[AGENT], OWN)
        monkeypatch.setattr(type(there.hub), "list", None)
        monkeypatch.setattr(type(there.hub), "list_on", None)
        assert await found.find(there.hub.agents[AGENT], OWN) is first

    check(scenario)
