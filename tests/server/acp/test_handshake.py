"""Getting in: versions, capabilities, credentials, and what is said to nonsense."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.acp.editor import TRUSTED, Refused, editor, hub_site, new_token
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


def test_an_unknown_agent_is_refused_by_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site, "nobody", greet=False) as made:
            with pytest.raises(Refused, match="no agent 'nobody'") as refused:
                await made.initialize()
            assert refused.value.data["code"] == "not_found"

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


def test_who_may_approve_is_not_offered_what_would_write_a_rule(tmp_path: Path) -> None:
    async def check() -> None:
        async with hub_site(tmp_path) as site, editor(site) as owner:
            session_id = await owner.new(site.folder)
            asking = owner.prompt(session_id, "/ask")
            all_options = [option["kind"] for option in (await owner.asked())["params"]["options"]]
            assert "allow_always" in all_options
            async with editor(site, token=await new_token(site, "approve")) as other:
                await other.ask("session/load", {"sessionId": session_id, "cwd": str(site.folder), "mcpServers": []})
                ask = await other.asked()
                offered = [option["kind"] for option in ask["params"]["options"]]
                assert offered == [kind for kind in all_options if not kind.endswith("_always")]
                other.answer(ask, {"outcome": {"outcome": "selected", "optionId": "allow-always"}})
                await asking
            assert "[[rules]]" not in site.hub.policies.text().replace(TRUSTED, ""), "and who says it all the same gets a no"
            assert "allow" not in owner.text(session_id)

    run(check())
