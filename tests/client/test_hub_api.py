"""The calls about the whole hub, against a real server: what it answers is read as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.http.test_listen import listening
from tests.server.site import TOKEN
from trunkline.client import AutoApprove, Caps, Client, PermissionPolicy, PolicyRule, Waits
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Conflict, Invalid
from trunkline.hub import Session


async def ask_something(session: Session) -> None:
    """Let the demo agent ask for a permission."""
    await session.send([TextContent(text="/ask")], by="test")
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)


def test_rules_are_read_replaced_and_explained(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            rule = PolicyRule(action="deny", command=["rm *"], reason="no")
            auto = PermissionPolicy(auto_approve=AutoApprove(reads=True, writes=["docs/**"]))
            made = await client.replace_policy(rules=[rule], auto_approve=auto)
            assert (made.rules, made.auto_approve, made.problem) == ([rule], auto, None)
            assert await client.policy() == made
            await client.replace_policy(rules=[rule], version=made.version)
            with pytest.raises(Conflict):
                await client.replace_policy(text="", version=made.version)
            said = await client.explain_policy(command="rm x", cwd=str(tmp_path))
            assert (said.action, said.rule, said.risk) == ("deny", rule, "high")
            assert [(one.rule, one.fits) for one in said.considered] == [(rule, True)]
            with pytest.raises(Invalid, match="text"):
                await client.replace_policy()

    run(check())


def test_what_waits_is_listed_and_decided_for_the_session(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session()
            await ask_something(session)
            (waiting,) = await client.approvals()
            assert waiting.approval is not None
            assert (waiting.session_id, waiting.agent, waiting.question) == (session.id, "demo", None)
            await client.decide(session.id, waiting.approval.request_id, allow=True, scope="session")
            assert await client.approvals() == []
            (rule,) = (await client.session(session.id)).rules
            assert (rule["action"], rule["session"]) == ("allow", session.id)

    run(check())


def test_limits_are_set_and_lifted(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session()
            limited = await client.set_limits(session.id, caps=Caps(turns=3), waits=Waits(approval_s=60, on_timeout="cancel"))
            assert (limited.caps, limited.waits) == ({"turns": 3}, {"approvalS": 60, "onTimeout": "cancel"})
            lifted = await client.set_limits(session.id, caps=Caps())
            assert lifted.waits == limited.waits
            assert not lifted.caps

    run(check())


def test_words_and_folders_are_found(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session(title="A heron by the lake")
            found = await client.search("heron")
            assert [(hit.session_id, hit.kind) for hit in found.hits] == [(session.id, "title")]
            assert [part.text for part in found.hits[0].snippet if part.match] == ["heron"]
            (tmp_path / "choice" / "inner").mkdir(parents=True)
            page = await client.folders(str(tmp_path / "choice"))
            assert [(each.name, each.is_project) for each in page.folders] == [("inner", False)]
            assert session.fold.cwd in [recent.path for recent in page.recent]

    run(check())


def test_an_agents_sessions_are_listed_and_joined(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served, Client(f"http://127.0.0.1:{served.port}", TOKEN) as client:
            session = await served.hub.session()
            agents = {adapter.name: adapter for adapter in await client.adapters()}
            assert agents["demo"].installed
            assert agents["demo"].capabilities["features"]["approval"]["toolCalls"] is True
            assert agents["qwen"].data_paths.config is not None
            assert session.id in [found.id for found in await client.adapter_sessions("demo")]
            assert (await client.attach("demo", session.id)).id == session.id

    run(check(), 30)
