"""How sessions come to be: a start that is refused or fails leaves nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.hub.stage import PLAIN, options, work
from trunkline.agents.catalog import adhoc
from trunkline.dialects.acp.content import ImageContent
from trunkline.errors import Invalid, NotFound, Unsupported
from trunkline.hub import Hub, HubOptions, NewSession
from trunkline.hub.starts import mcp_server
from trunkline.journal.base import RowFilter


@pytest.mark.parametrize(("new", "error", "names"), [
    (NewSession(agent="nobody", cwd="/"), NotFound, "nobody"),
    (NewSession(agent="demo", cwd="relative"), Invalid, "absolute"),
    (NewSession(agent="demo", cwd="/no/such/folder"), Invalid, "/no/such/folder"),
])
def test_a_bad_start_is_a_clear_error_and_leaves_nothing(
        tmp_path: Path, new: NewSession, error: type[Exception], names: str) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            with pytest.raises(error, match=names):
                await hub.create(new, by="test")
            assert await hub.list(RowFilter()) == [] and hub.metrics.sessions_open == 0

    run(scenario())


def test_an_agent_that_dies_at_the_start_leaves_no_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        broken = adhoc("broken", f"{sys.executable} -c \"import sys; sys.exit('no key')\"")
        async with Hub(HubOptions(data=tmp_path / "data", agents={"broken": broken})) as hub:
            with pytest.raises(Exception, match="no key") as caught:
                await hub.create(NewSession(agent="broken", cwd=work(tmp_path)), by="test")
            assert getattr(caught.value, "code", "") == "agent_start_failed"
            assert await hub.list(RowFilter()) == []

    run(scenario())


@pytest.mark.parametrize("prompt", [[], [ImageContent(data="aGk=", mime_type="image/png")]])
def test_a_start_whose_prompt_is_refused_leaves_nothing(tmp_path: Path, prompt: Any) -> None:
    async def scenario() -> None:
        async with Hub(HubOptions(data=tmp_path / "data", agents={"plain": adhoc("plain", PLAIN)})) as hub:
            with pytest.raises((Invalid, Unsupported)):
                await hub.create(NewSession(agent="plain", cwd=work(tmp_path), prompt=prompt), by="test")
            assert await hub.list(RowFilter()) == [] and hub.metrics.agents_running == 0
            assert not list((tmp_path / "data" / "agents").glob("*.json"))

    run(scenario())


@pytest.mark.parametrize("given", [
    b'{"name":"m","command":"/bin/m","args":[],"env":[]}', b'{"type":"http","name":"m","url":"http://localhost/","headers":[]}'])
def test_an_mcp_server_keeps_its_form(given: bytes) -> None:
    assert msgspec.json.decode(mcp_server(msgspec.Raw(given))) == msgspec.json.decode(given)


def test_an_mcp_server_that_is_none_is_refused_by_its_field() -> None:
    with pytest.raises(Invalid, match=r"^mcpServers: "):
        mcp_server(msgspec.Raw(b'{"name":3}'))


def test_a_session_in_which_nothing_was_said_is_not_forked(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            with pytest.raises((Invalid, Unsupported)):
                await hub.fork(session.id, by="test")
            assert hub.metrics.sessions_open == 1

    run(scenario())
