"""Requests in, answers out: each once, as far as the token goes, whatever else is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import Editor, Refused, editor, hub_site, new_token


def test_nothing_is_done_before_the_handshake(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, greet=False) as made:
            with pytest.raises(Refused) as refused:
                await made.ask("session/list")
            assert refused.value.code == -32600

    run(check())


def test_ids_come_back_as_they_were_sent(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            for request_id in (7, "7", "x" * 100, 2**53):
                made.say({"id": request_id, "method": "session/list", "params": {}})
                assert (await made.expect(request_id))["id"] == request_id

    run(check())


@pytest.mark.parametrize("method", ["session/unheard_of", "_other/thing", "logout", "fs/read_text_file"])
def test_a_method_that_is_not_served_is_refused(tmp_path: Path, method: str) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            with pytest.raises(Refused) as refused:
                await made.ask(method)
            assert refused.value.code == -32601

    run(check())


def test_notifications_that_mean_nothing_are_not_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            made.notify("_x/y", {})
            made.notify("session/cancel", {"sessionId": "ses_none"})
            made.notify("$/cancel_request", {"requestId": 99})
            before = len(made.heard)
            await made.ask("session/list")
            assert len(made.heard) == before + 1

    run(check())


@pytest.mark.parametrize(("text", "code"), [
    ("{", -32700), ("nonsense", -32700), ("17", -32600), ("[]", -32600), ('{"jsonrpc":"2.0"}', -32600),
    ('[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600),
    ('{"jsonrpc":"2.0","id":{"a":1},"method":"session/list"}', -32600), ('{"jsonrpc":"2.0","id":true,"method":"x"}', -32600),
    ('{"jsonrpc":"2.0","id":[1],"method":"session/list"}', -32600),
])
def test_what_is_no_message_is_answered_and_the_connection_goes_on(tmp_path: Path, text: str, code: int) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            made.socket.say_text(text)
            complaint = await made.until(lambda: [each for each in made.heard if "error" in each])
            assert complaint[0]["id"] is None and complaint[0]["error"]["code"] == code
            await made.ask("session/list")

    run(check())


def test_a_message_may_be_written_over_several_lines(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            made.socket.say_text(json.dumps({"jsonrpc": "2.0", "id": 5, "method": "session/list", "params": {}}, indent=2))
            assert "result" in await made.expect(5)

    run(check())


def test_parameters_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            for method, params in (("session/new", {"cwd": 7}), ("session/prompt", {}), ("session/load", {"sessionId": "x"}),
                                   ("session/new", {"cwd": "relative", "mcpServers": []}),
                                   ("session/list", {"cursor": "elsewhere"})):
                with pytest.raises(Refused) as refused:
                    await made.ask(method, params)
                assert refused.value.code == -32602, method
                assert "\n" not in refused.value.message

    run(check())


def test_a_token_does_what_its_scope_says(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as owner:
            session_id = await owner.new(site.folder)
            viewer: Editor
            async with editor(site, token=await new_token(site, "view")) as viewer:
                await viewer.ask("session/list")
                await viewer.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
                for method, params in (("session/prompt", {"prompt": [{"type": "text", "text": "/echo no"}]}),
                                       ("session/close", {}), ("session/delete", {})):
                    with pytest.raises(Refused, match="scope 'control'"):
                        await viewer.ask(method, {"sessionId": session_id, **params})
                asking = owner.prompt(session_id, "/ask")
                ask = await owner.asked()
                owner.answer(ask, {"outcome": {"outcome": "selected", "optionId": ask["params"]["options"][0]["optionId"]}})
                await asking
                assert viewer.asks == [], "who may only look is asked nothing"
                env = {"_meta": {"trunkline": {"env": {"PATH": "/evil"}}}}
                server = {"name": "x", "command": "/evil", "args": [], "env": []}
                await viewer.ask("session/resume", {"sessionId": session_id, "cwd": "/", "mcpServers": [server], **env})
                session = await site.hub.session(session_id)
                assert session.env == {} and session.fold.mcp_servers == [], "nor does it change what the agent is started with"
                await viewer.until(lambda: viewer.updates(session_id, "tool_call"))

    run(check())
