"""The sessions that one editor has open: kept apart, joined where they stand, left when they have ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import editor, hub_site, result_of, when


def test_many_sessions_in_one_connection_do_not_mix(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            ids = [await made.new(site.folder) for _ in range(3)]
            turns = [made.prompt(session_id, f"/echo to {index}") for index, session_id in enumerate(ids)]
            for turn in turns:
                result_of(await turn)
            assert [made.text(session_id) for session_id in ids] == ["to 0", "to 1", "to 2"]

    run(check())


def test_a_prompt_in_a_session_that_was_not_opened_here_joins_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as one, editor(site) as two:
            session_id = await one.new(site.folder)
            assert await two.turn(session_id, "/echo joined") == "end_turn"
            assert two.text(session_id) == "joined"

    run(check())


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("agent", ["fast", "puppet"])
def test_a_prompt_that_is_said_while_the_session_is_being_closed_is_answered(tmp_path: Path, agent: str, late: bool) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, agent) as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            said = json.dumps([["say", "hello"]]) if agent == "puppet" else "/echo hello"
            await made.turn(session_id, said)
            closing = made.begin("session/close", {"sessionId": session_id})
            if late:
                await when(session, lambda: session.fold.status == "completed")
            again = made.prompt(session_id, said)
            assert result_of(await closing) == {}
            stop = result_of(await again)["stopReason"]
            assert stop == "end_turn" if late else stop in ("cancelled", "end_turn")
            if stop == "end_turn":
                assert made.text(session_id).count("hello") == 2, "it heard the turn, not only of its end"
            assert await made.turn(session_id, said) == "end_turn"

    run(check())
