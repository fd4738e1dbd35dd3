"""One session as one editor sees it: everything in its order, also what was lost, and nobody is held up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import Refused, at_rest, editor, hub_site, result_of, text_update, when
from tests.server.acp.histories import named, with_history
from trunkline.dialects.acp.content import TextContent
from trunkline.session.commands.requests import Decision


def test_what_one_editor_types_appears_in_the_other(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as one, editor(site) as two:
            session_id = await one.new(site.folder)
            await two.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
            await one.turn(session_id, "/echo from one")
            await two.until(lambda: two.text(session_id) == "from one")
            assert two.text(session_id, "user_message_chunk") == "/echo from one"
            await two.turn(session_id, "/echo from two")
            await one.until(lambda: one.text(session_id) == "from onefrom two")
            assert one.text(session_id, "user_message_chunk") == "/echo from two"
            assert two.text(session_id, "user_message_chunk") == "/echo from one"

    run(check())


def test_a_turn_that_somebody_else_began_is_seen_without_a_prompt_of_ones_own(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            await session.turns.send([TextContent(text="/echo from the phone")], by="phone")
            await made.until(lambda: made.text(session_id) == "from the phone")

    run(check())


def test_late_updates_are_told_after_the_answer(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            turn = made.play(session_id, ["end", {"stopReason": "end_turn"}], ["update", text_update("late")])
            assert result_of(await turn) == {"stopReason": "end_turn"}
            await made.until(lambda: made.text(session_id) == "late")
            await at_rest(await site.hub.session(session_id))

    run(check())


def test_a_decision_made_elsewhere_lets_the_editors_turn_go_on(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            turn = made.prompt(session_id, "/ask")
            ask = await made.asked()
            session = await site.hub.session(session_id)
            (request_id,) = session.fold.approvals
            await session.approvals.decide(request_id, Decision(decision="allow"), by="phone")
            assert result_of(await turn) == {"stopReason": "end_turn"}
            assert made.notified("$/cancel_request") == [{"requestId": ask["id"]}]
            made.answer(ask, {"outcome": {"outcome": "cancelled"}})
            await made.ask("session/list")

    run(check())


def test_a_load_that_is_taken_back_leaves_the_editor_where_it_was(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await with_history(made, site.folder)
            session = await site.hub.session(session_id)
            running = made.play(session_id, ["await", str(tmp_path / "go")], ["say", "the end"])
            await when(session, lambda: session.fold.turn)
            loading = made.begin("session/load", named(session_id))
            taken_back = made.last_id
            before = len(made.updates(session_id))
            await made.until(lambda: len(made.updates(session_id)) > before)
            made.notify("$/cancel_request", {"requestId": taken_back})
            with pytest.raises(Refused, match="-32800"):
                result_of(await loading)
            (tmp_path / "go").touch()
            assert result_of(await running) == {"stopReason": "end_turn"}
            assert made.text(session_id).endswith("the end")

    run(check())


def test_who_has_lost_what_it_was_sent_is_told_it_again_with_the_answers_to_its_prompts(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            after = (await session.snapshot()).last_seq
            await made.play(session_id, *[["say", f"{number} "] for number in range(20)])
            prompt = made.last_id
            said = made.text(session_id)
            again = made.expect(prompt)
            await made.ask("session/resume", named(session_id, after=after))
            assert result_of(await again) == {"stopReason": "end_turn"}
            assert made.text(session_id) == said * 2
            assert await made.turn(session_id, json.dumps([["say", "on"]])) == "end_turn"
            assert made.text(session_id) == said * 2 + "on"

    run(check())


def test_a_load_from_a_position_tells_the_answers_that_came_after_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            after = (await (await site.hub.session(session_id)).snapshot()).last_seq
            await made.play(session_id, ["say", "said"])
            again = made.expect(made.last_id)
            await made.ask("session/load", named(session_id, after=after))
            assert result_of(await again) == {"stopReason": "end_turn"}
            assert made.text(session_id) == "saidsaid"

    run(check())
