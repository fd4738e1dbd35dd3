"""Sessions of an editor: made, found again with and without their history, listed, closed, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import Editor, Refused, at_rest, editor, hub_site, when
from trunkline.dialects.acp.content import TextContent


def test_the_id_comes_before_anything_that_is_said_of_the_session(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            await made.until(lambda: made.updates(session_id, "available_commands_update"))
            kinds = [message.get("method") or "answer" for message in made.heard]
            assert kinds.index("session/update") > 1, "initialize and session/new are answered first"

    run(check())


def test_a_new_session_tells_its_modes_and_options(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            answer = await made.ask("session/new", {"cwd": str(site.folder), "mcpServers": []})
            assert answer["modes"]["currentModeId"] == "ask"
            assert [option["id"] for option in answer["configOptions"]] == ["model", "pace"]

    run(check())


def test_the_agent_of_a_session_can_be_named_in_its_start(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder, _meta={"trunkline": {"agent": "puppet", "title": "By name"}})
            session = await site.hub.session(session_id)
            assert (session.fold.agent, session.fold.title) == ("puppet", "By name")

    run(check())


def test_the_editors_variables_reach_the_agent_as_far_as_its_list_goes(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            env = {"PATH": "/editor/bin:/usr/bin:/bin", "SECRET": "x"}
            session_id = await made.new(site.folder, _meta={"trunkline": {"env": env}})
            await made.play(session_id, ["environ"])
            assert '"PATH": "/editor/bin:/usr/bin:/bin"' in made.text(session_id)
            assert "SECRET" not in made.text(session_id)

    run(check())


def test_mcp_servers_are_handed_to_the_agent(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            server = {"name": "files", "command": "/bin/true", "args": [], "env": []}
            answer = await made.ask("session/new", {"cwd": str(site.folder), "mcpServers": [server]})
            await made.play(answer["sessionId"], ["opened"])
            assert '"name": "files"' in made.text()

    run(check())


def test_what_comes_with_a_load_counts_from_the_agents_next_start(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "puppet") as made:
            session_id = await made.new(site.folder)
            await made.ask("session/close", {"sessionId": session_id})
            servers = [{"name": "files", "command": "/bin/true", "args": [], "env": []},
                       {"type": "http", "name": "web", "url": "http://127.0.0.1:1", "headers": []}]
            await made.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": servers,
                                            "_meta": {"trunkline": {"env": {"PATH": "/later/bin:/usr/bin:/bin"}}}})
            await made.play(session_id, ["environ"], ["opened"])
            assert '"PATH": "/later/bin:/usr/bin:/bin"' in made.text(session_id)
            assert '"name": "files"' in made.text(session_id)
            assert '"name": "web"' not in made.text(session_id), "an agent that takes none over http must still start"

    run(check())


def test_loading_tells_the_whole_history_before_it_is_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as first:
            session_id = await first.new(site.folder)
            await first.turn(session_id, "/echo one")
            await first.turn(session_id, "/echo two")
            async with editor(site) as second:
                params = {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []}
                answer = await second.ask("session/load", params)
                assert answer["modes"]["currentModeId"] == "ask"
                at = next(index for index, message in enumerate(second.heard) if message.get("result") == answer)
                told = [message["params"]["update"] for message in second.heard[:at] if message.get("method") == "session/update"]
                said = [(each["sessionUpdate"], each["content"]["text"]) for each in told if "content" in each]
                assert said == [("user_message_chunk", "/echo one"), ("agent_message_chunk", "one"),
                                ("user_message_chunk", "/echo two"), ("agent_message_chunk", "two")]
                await second.turn(session_id, "/echo three")
                assert second.text(session_id).endswith("three")
                assert second.text(session_id, "user_message_chunk") == "/echo one/echo two", "who asked knows what it asked"

    run(check())


def test_loading_again_in_the_same_connection_tells_it_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            await made.turn(session_id, "/echo one")
            await made.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
            assert made.text(session_id) == "oneone"
            assert made.text(session_id, "user_message_chunk") == "/echo one"
            await made.turn(session_id, "/echo two")
            assert made.text(session_id) == "oneonetwo"

    run(check())


def kinds(made: Editor, session_id: str) -> list[str]:
    """What sorts of updates an editor was told, one after the other."""
    told = [each["sessionUpdate"] for each in made.updates(session_id)]
    return [kind for index, kind in enumerate(told) if index == 0 or told[index - 1] != kind]


def test_resuming_tells_nothing_of_what_was(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as first:
            session_id = await first.new(site.folder)
            await first.turn(session_id, "/echo one")
            async with editor(site) as second:
                answer = await second.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
                assert answer["modes"]["currentModeId"] == "ask"
                await second.turn(session_id, "/echo two")
                assert second.text(session_id) == "two"
                assert "available_commands_update" in kinds(first, session_id)
                assert kinds(second, session_id) == ["available_commands_update", "agent_message_chunk"], "but what can be said"

    run(check())


def test_resuming_after_a_position_goes_on_there(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            async with editor(site, _meta={"trunkline": {"cursor": True}}) as first:
                session_id = await first.new(site.folder)
                await first.turn(session_id, "/echo one")
                seen = first.notified("_trunkline/cursor")[-1]
                assert seen["sessionId"] == session_id
                session = await site.hub.session(session_id)
            await session.turns.send([_text("/echo two")], by="the page")
            await at_rest(session)
            async with editor(site) as second:
                await second.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder),
                                                    "_meta": {"trunkline": {"after": seen["seq"]}}})
                await second.until(lambda: second.text(session_id) == "two")
                assert second.text(session_id, "user_message_chunk") == "/echo two"

    run(check())


def test_a_plain_editor_is_told_nothing_of_positions(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            await made.turn(session_id, "/echo one")
            methods = {message["method"] for message in made.heard if "method" in message}
            assert methods == {"session/update"}

    run(check())


def test_closing_ends_the_turn_as_cancelled_and_stops_the_agent_but_keeps_the_history(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            session = await site.hub.session(session_id)
            running, waiting = made.prompt(session_id, "/silent"), made.prompt(session_id, "/echo later")
            await when(session, lambda: session.fold.queue)
            assert await made.ask("session/close", {"sessionId": session_id}) == {}
            assert (await running)["result"] == (await waiting)["result"] == {"stopReason": "cancelled"}
            assert not session.agent.running
            answers = [message["id"] for message in made.heard if "result" in message]
            assert answers[-1] == made.last_id, "the prompts are answered before the close"
            await made.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
            assert made.text(session_id, "user_message_chunk") == "/silent"
            assert await made.turn(session_id, "/echo back again") == "end_turn"

    run(check())


def test_deleting_is_done_once_and_never_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            assert await made.ask("session/delete", {"sessionId": session_id}) == {}
            assert await made.ask("session/delete", {"sessionId": session_id}) == {}
            assert (await made.ask("session/list"))["sessions"] == []
            for method, more in (("session/load", {"mcpServers": []}), ("session/resume", {}), ("session/close", {}),
                                 ("session/prompt", {"prompt": [{"type": "text", "text": "x"}]})):
                with pytest.raises(Refused) as refused:
                    await made.ask(method, {"sessionId": session_id, "cwd": str(site.folder), **more})
                assert refused.value.code == -32002

    run(check())


def test_a_session_whose_agent_cannot_be_forked_says_so(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            session_id = await made.new(site.folder)
            await made.turn(session_id, "/echo one")
            with pytest.raises(Refused, match="cannot be forked"):
                await made.ask("session/fork", {"sessionId": session_id, "cwd": str(site.folder)})

    run(check())


def test_the_end_of_a_connection_leaves_its_sessions_running(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            async with editor(site, "puppet") as made:
                session_id = await made.new(site.folder)
                session = await site.hub.session(session_id)
                made.play(session_id, ["await", str(tmp_path / "go")], ["say", "done"])
                await when(session, lambda: session.fold.turn)
            assert session.fold.turn is not None and session.agent.running
            (tmp_path / "go").touch()
            await at_rest(session)
            assert session.fold.last_text == "done"

    run(check())


def test_modes_and_options_are_set_and_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made, editor(site) as other:
            session_id = await made.new(site.folder)
            await other.ask("session/resume", {"sessionId": session_id, "cwd": str(site.folder)})
            assert await made.ask("session/set_mode", {"sessionId": session_id, "modeId": "plan"}) == {}
            await other.until(lambda: other.updates(session_id, "current_mode_update"))
            wanted = {"sessionId": session_id, "configId": "pace", "value": "instant"}
            answer = await made.ask("session/set_config_option", wanted)
            assert [(each["id"], each["currentValue"]) for each in answer["configOptions"]] == [
                ("model", "demo-1"), ("pace", "instant")]
            await other.until(lambda: other.updates(session_id, "config_option_update"))
            with pytest.raises(Refused) as refused:
                await made.ask("session/set_mode", {"sessionId": session_id, "modeId": "berserk"})
            assert refused.value.code == -32602

    run(check())


def _text(words: str) -> TextContent:
    return TextContent(text=words)
