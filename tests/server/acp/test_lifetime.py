"""An editor's place in a session that is closed, loaded, taken back or lost: every prompt is answered, nothing comes twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import PUPPET, Json, Refused, at_rest, editor, hub_site, result_of, text_update
from tests.server.acp.histories import named, with_history


def test_a_session_that_is_closed_while_it_is_loaded_is_told_once_to_who_comes_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await with_history(made, site.folder)
            loading = made.begin("session/load", named(session_id))
            closing = made.begin("session/close", {"sessionId": session_id})
            for answer in (loading, closing):
                result_of(await answer)
            told = len(made.heard)
            assert await made.turn(session_id, json.dumps([["say", "once"]])) == "end_turn"
            texts = [update["content"]["text"] for update in made.updates(session_id) if "content" in update][-3:]
            assert texts.count("once") == 1
            assert not [each for each in made.heard[told:] if "user_message_chunk" in json.dumps(each)], "it knows what it said"

    run(check())


def test_a_delete_that_is_taken_back_too_late_says_that_it_was_done(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            await made.turn(session_id, "/echo hello")
            deleting = made.begin("session/delete", {"sessionId": session_id})
            made.notify("$/cancel_request", {"requestId": made.last_id})
            answer = await deleting
            listed = [each["sessionId"] for each in (await made.ask("session/list"))["sessions"]]
            assert ("result" in answer) == (session_id not in listed)

    run(check())


@pytest.mark.parametrize("notices", [False, True])
def test_no_editor_misses_that_the_agent_has_forgotten_what_was_said(tmp_path: Path, notices: bool) -> None:
    async def check() -> None:
        offers: Json = {"session": {"notices": {}}} if notices else {}
        async with hub_site(tmp_path) as site, editor(site, "puppet", **offers) as made:
            session_id = await made.new(site.folder)
            await made.play(session_id, ["say", "before"])
            await made.ask("session/close", {"sessionId": session_id})
            await made.turn(session_id, json.dumps([["say", "after"]]))
            told = made.updates(session_id, "notice")
            assert ("started afresh" in made.text(session_id)) is not notices
            assert [each["title"] for each in told] == (["The agent started afresh"] if notices else [])

    run(check())


def test_a_session_is_forked_by_an_agent_that_can_and_its_history_is_the_branchs(tmp_path: Path) -> None:
    async def check() -> None:
        store = tmp_path / "store.json"
        history = {"puppet-session": [text_update("old words")]}
        store.write_text(json.dumps({"offers": ["load", "resume", "fork"], "history": history}))
        command = " ".join([*PUPPET, "--store", str(store)])
        async with hub_site(tmp_path, forks=command) as site, editor(site, "forks") as first:
            source = await first.new(site.folder)
            await first.play(source, ["say", "old words"])
            await at_rest(await site.hub.session(source))
            async with editor(site, "forks") as made:
                hello = await made.initialize()
                assert "fork" in hello["agentCapabilities"]["sessionCapabilities"]
                server = {"name": "files", "command": "/bin/true", "args": [], "env": []}
                answer = await made.ask("session/fork", {"sessionId": source, "cwd": str(site.folder), "mcpServers": [server]})
                branch = await site.hub.session(answer["sessionId"])
                assert (branch.fold.agent_session_id, branch.fold.agent_start) == ("puppet-session-fork", "forked")
                await made.play(branch.id, ["opened"])
                assert '"name": "files"' in made.text(branch.id)
                await made.ask("session/load", named(branch.id))
                assert "old words" in made.text(branch.id)

    run(check())


def test_a_session_is_not_forked_by_an_agent_that_cannot(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            await made.play(session_id, ["say", "x"])
            assert "fork" not in (await made.initialize())["agentCapabilities"]["sessionCapabilities"]
            with pytest.raises(Refused, match="cannot be forked"):
                await made.ask("session/fork", {"sessionId": session_id, "cwd": str(site.folder)})

    run(check())


def test_a_folder_is_found_by_every_way_that_leads_to_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            (tmp_path / "link").symlink_to(site.folder)
            session_id = await made.new(tmp_path / "link")
            for way in (site.folder, f"{site.folder}/", f"{tmp_path}/./work", tmp_path / "link"):
                listed = (await made.ask("session/list", {"cwd": str(way)}))["sessions"]
                assert [each["sessionId"] for each in listed] == [session_id], way
            assert (await made.ask("session/list", {"cwd": str(tmp_path)}))["sessions"] == []

    run(check())
