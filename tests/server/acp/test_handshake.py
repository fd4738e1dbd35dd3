"""Getting in: versions, capabilities, credentials, and what is said to nonsense."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.acp.editor import TRUSTED, Editor, Refused, editor, hub_site
from tests.server.context.ws.socket import Refused as Turned
from tests.server.context.ws.socket import Socket
from tests.server.site import TOKEN
from trunkline.server.acp.tasks import REQUESTS_AT_ONCE


@pytest.mark.parametrize("asked", [1, 0, 2, 65535])
def test_the_hub_answers_with_the_version_that_it_speaks(tmp_path: Path, asked: int) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, greet=False) as made:
            hello = await made.ask("initialize", {"protocolVersion": asked})
            assert hello["protocolVersion"] == 1

    run(check())


def test_the_handshake_says_what_the_hub_can_do_and_nothing_else(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, greet=False) as made:
            hello = await made.ask("initialize", {"protocolVersion": 1})
            assert hello["agentInfo"]["name"] == "trunkline"
            can = hello["agentCapabilities"]
            assert can["loadSession"] is True
            assert can["sessionCapabilities"] == {"list": {}, "delete": {}, "resume": {}, "close": {}}
            assert can["promptCapabilities"] == {"embeddedContext": True}, "nobody knows yet whether the agent takes pictures"
            assert hello["_meta"]["trunkline"]["agent"] == "fast"

    run(check())


def test_what_an_agent_takes_is_told_once_it_was_seen(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "demo") as made:
            await made.new(site.folder)
            hello = await made.ask("initialize", {"protocolVersion": 1})
            known = (await site.hub.capabilities_of("demo")).prompt
            assert hello["agentCapabilities"]["promptCapabilities"].get("image", False) == known.image

    run(check())


def test_the_seeds_own_form_of_the_handshake_is_understood(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, greet=False) as made:
            hello = await made.ask("initialize", {"protocolVersion": 1, "capabilities": {}})
            assert hello["protocolVersion"] == 1

    run(check())


def test_nothing_is_done_before_the_handshake(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, greet=False) as made:
            with pytest.raises(Refused) as refused:
                await made.ask("session/list")
            assert refused.value.code == -32600

    run(check())


def test_an_unknown_agent_is_refused_by_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "nobody", greet=False) as made:
            with pytest.raises(Refused, match="no agent 'nobody'") as refused:
                await made.initialize()
            assert refused.value.data["code"] == "not_found"

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


@pytest.mark.parametrize("message", [
    {"id": 1, "method": "session/unheard_of"}, {"id": 1, "method": "session/list"}, {"id": None, "method": 7}, {},
])
def test_an_editor_that_does_not_read_its_answers_is_not_heard_any_more(tmp_path: Path, message: dict[str, object]) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            made.socket.flows.clear()
            for _ in range(REQUESTS_AT_ONCE * 3):
                made.say(message)
            await made.socket.sending.wait()
            for _ in range(REQUESTS_AT_ONCE * 10):
                await asyncio.sleep(0)  # all that would be heard is heard by then
            assert made.socket.unheard >= REQUESTS_AT_ONCE
            made.socket.flows.set()
            await made.ask("session/list")
            assert made.socket.unheard == 0, "and when it reads, it is heard again"

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


def test_a_login_that_is_not_offered_is_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as made:
            with pytest.raises(Refused) as refused:
                await made.ask("authenticate", {"methodId": "magic"})
            assert refused.value.code == -32602

    run(check())


def test_an_agent_that_wants_a_login_says_so_in_the_protocols_way(tmp_path: Path) -> None:
    async def check() -> None:
        command = f"{sys.executable} -m trunkline.agents.demo --fault locked"
        async with hub_site(tmp_path, locked=command) as site, editor(site, "locked") as made:
            with pytest.raises(Refused) as refused:
                await made.new(site.folder)
            assert refused.value.code == -32000

    run(check())


@pytest.mark.parametrize(("path", "headers", "status"), [
    ("/acp", {}, 401),
    ("/acp", {"authorization": "Bearer wrong"}, 401),
    ("/acp", {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}, 403),
    ("/acp?token=x", {"authorization": f"Bearer {TOKEN}"}, 400),
    ("/acp", {"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 403),
])
def test_who_may_not_come_in_is_refused_before_the_upgrade(tmp_path: Path, path: str, headers: dict[str, str],
                                                           status: int) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site:
            socket = Socket(site, path, headers)
            with pytest.raises(Turned) as turned:
                await socket.accepted()
            assert turned.value.status == status
            await socket.task

    run(check())


async def token(site: Any, scope: str) -> str:
    """A token of that scope."""
    made = await site.ask("POST", "/auth/tokens", json_body={"name": "t", "scope": scope})
    secret: str = made.json()["secret"]
    return secret


def test_who_may_approve_is_not_offered_what_would_write_a_rule(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as owner:
            session_id = await owner.new(site.folder)
            asking = owner.prompt(session_id, "/ask")
            all_options = [option["kind"] for option in (await owner.asked())["params"]["options"]]
            assert "allow_always" in all_options
            async with editor(site, token=await token(site, "approve")) as other:
                await other.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
                ask = await other.asked()
                offered = [option["kind"] for option in ask["params"]["options"]]
                assert offered == [kind for kind in all_options if not kind.endswith("_always")]
                other.answer(ask, {"outcome": {"outcome": "selected", "optionId": "allow-always"}})
                await asking
            assert "[[rules]]" not in site.hub.policies.text().replace(TRUSTED, ""), "and who says it all the same gets a no"
            assert "allow" not in owner.text(session_id)

    run(check())


def test_a_token_does_what_its_scope_says(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as owner:
            session_id = await owner.new(site.folder)
            viewer: Editor
            async with editor(site, token=await token(site, "view")) as viewer:
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
