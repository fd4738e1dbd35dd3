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


def test_so_many_ids_are_remembered_and_a_forgotten_one_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(there: Lined) -> None:
        found, spec = TerminalSessions(there.hub, "line"), there.hub.agents[AGENT]
        first = await found.find(spec, OWN)
        monkeypatch.setattr(sessions, "KNOWN_MOST", 2)
        for number in range(5):
            found._remember((AGENT, f"other-{number}"), first.id if first is not None else "")
        assert list(found._known) == [(AGENT, "other-3"), (AGENT, "other-4")]
        assert first is await found.find(spec, OWN) is there.session

    check(scenario)
