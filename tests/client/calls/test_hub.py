"""Calls about the whole hub: what goes out, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.client.calls.routes import SESSION, Row, check_route
from tests.server.http.test_listen import listening
from tests.server.site import TOKEN
from tests.tooling.rows import every_row
from trunkline.client import AutoApprove, Client, PermissionPolicy, PolicyRule
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Conflict, Invalid
from trunkline.hub import Session

CALLS: list[Row] = [
    ("health", lambda hub: hub.health(), "GET /healthz", None, {}),
    ("agents", lambda hub: hub.agents(), "GET /agents", None, [{"name": "demo", "installed": True}]),
    ("approvals", lambda hub: hub.approvals(), "GET /approvals", None, {"pending": [{"sessionId": "s1"}]}),
    ("preview_rule", lambda hub: hub.preview_rule("r1", allow=True), "POST /approvals/r1/always-preview",
     {"decision": "allow", "scope": "always"},
     {"rule": {"action": "allow"}, "answers": [{"requestId": "r1", "sessionId": "s1", "decision": "allow"}]}),
    ("away", lambda hub: hub.away(), "GET /away", None, {"away": True, "since": 7}),
    ("set away", lambda hub: hub.set_away(True), "PUT /away", {"away": True}, {"away": True, "by": "me"}),
    ("cluster", lambda hub: hub.cluster(), "GET /cluster", None, {"node": "web", "nodes": [{"node": "box", "lag": 3}]}),
    ("drain", lambda hub: hub.drain("box"), "POST /cluster/nodes/box/drain", {"draining": True}, {"node": "web"}),
    ("forget node", lambda hub: hub.forget_node("box"), "DELETE /cluster/nodes/box", None, {"node": "web"}),
    ("journal", lambda hub: hub.journal(), "GET /journal", None, {"state": "hurt", "damages": [{"from": 2, "to": 3}]}),
    ("policy", lambda hub: hub.policy(), "GET /policy", None, {"text": "", "rules": [{"action": "ask", "tool": ["x"]}]}),
    ("preview policy", lambda hub: hub.preview_policy(text="# none"), "POST /policy/preview", {"text": "# none"},
     {"answers": [{"requestId": "r1", "sessionId": "s1", "decision": "allow"}]}),
    ("policy as text", lambda hub: hub.replace_policy(text="# none"), "PUT /policy", {"text": "# none"}, {"text": "# none"}),
    ("policy as rules", lambda hub: hub.replace_policy(
        rules=[PolicyRule(action="deny", command=["rm *"])], auto_approve=PermissionPolicy(auto_approve=AutoApprove(reads=True))),
     "PUT /policy", {"rules": [{"action": "deny", "command": ["rm *"]}], "autoApprove": {"autoApprove": {
         "reads": True, "writes": False, "commands": False, "searches": False}}}, {}),
    ("explain", lambda hub: hub.explain_policy(command="rm x", session_id="s1"), "POST /policy/explain",
     {"command": "rm x", "sessionId": "s1"}, {"action": "deny", "considered": [{"rule": {"action": "deny"}, "fits": True}]}),
    ("explain a tool", lambda hub: hub.explain_policy(tool="t", kind="edit", tool_input={}, agent="demo", cwd="/w"),
     "POST /policy/explain", {"tool": "t", "kind": "edit", "input": {}, "agent": "demo", "cwd": "/w"}, {"action": "ask"}),
    ("search", lambda hub: hub.search('a "b c"', limit=3), "GET /search?q=a+%22b+c%22&limit=3", None,
     {"query": "a", "hits": [{"sessionId": "s1", "snippet": [{"text": "a", "match": True}]}], "complete": False}),
    ("folders", lambda hub: hub.folders("/a b"), "GET /folders?path=%2Fa+b", None,
     {"path": "/a b", "folders": [{"name": "c", "path": "/a b/c"}]}),
    ("home folders", lambda hub: hub.folders(), "GET /folders", None, {"path": "/home/me"}),
    ("adapters", lambda hub: hub.adapters(), "GET /adapters", None, [{"name": "demo", "installed": True, "capabilities": {}}]),
    ("adapter sessions", lambda hub: hub.adapter_sessions("demo"), "GET /adapters/demo/sessions", None,
     {"sessions": [{"id": "x"}]}),
    ("attach", lambda hub: hub.attach("demo", "x/y", watch=True), "POST /adapters/demo/sessions/x%2Fy/attach",
     {"watch": True}, SESSION),
    ("attach safely", lambda hub: hub.attach("demo", "x"), "POST /adapters/demo/sessions/x/attach", {}, SESSION),
    ("pair", lambda hub: hub.pair(scope="view", name="phone"), "POST /pair", {"scope": "view", "name": "phone"},
     {"code": "c", "url": "http://x/#/pair/c"}),
    ("devices", lambda hub: hub.devices(), "GET /devices", None, {"devices": [{"id": "d", "name": "phone"}]}),
    ("revoke", lambda hub: hub.revoke_device("d"), "DELETE /devices/d", None, None),
    ("way in", lambda hub: hub.login_command(), "GET /auth/login", None, {"command": "trunkline open --print"}),
    ("code", lambda hub: hub.new_code(), "POST /auth/codes", {}, {"code": "c", "path": "/#code=c"}),
]


@every_row(("call", "target", "body", "answer"), [row[1:] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)



async def ask_something(session: Session) -> None:
    """Let the demo agent ask for a permission."""
    await session.turns.send([TextContent(text="/ask")], by="test")
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

    run(check())
