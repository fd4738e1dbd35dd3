"""Prompts to a session that runs elsewhere; most of it is in tests/reach/lines/test_live.py, with the line."""

from __future__ import annotations

import pytest

from tests.aio import eventually
from tests.reach.lines.lined import ENDED, Lined, check, prompted
from trunkline.dialects.acp.content import TextContent
from trunkline.session.turns import elsewhere


def test_a_prompt_that_never_comes_back_is_told_to_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "COMES_BACK_S", 0.0)

    async def scenario(there: Lined) -> None:
        there.writes(ENDED)
        await there.has_read()
        await there.session.turns.send([TextContent(text="hello")], by="somebody")
        await eventually(lambda: there.session.fold.ahead is None)
        (note,) = await there.events("NotificationEvent")
        assert (note.title, note.level) == ("A prompt was not taken", "warning")

    check(scenario)


def test_a_prompt_of_somebody_else_that_comes_first_is_theirs() -> None:
    async def scenario(there: Lined) -> None:
        there.writes(ENDED)
        await there.has_read()
        await there.session.turns.send([TextContent(text="mine")], by="somebody")
        there.writes(prompted("typed there"))
        await there.has_read()
        assert there.session.fold.turn.by == "elsewhere"
        there.writes(ENDED, prompted("mine"))
        await there.has_read()
        assert there.session.fold.turn is not None

    check(scenario)
