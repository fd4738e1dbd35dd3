"""One method per route: what goes out, what comes back."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.client.scripted import Exchange, served
from trunkline import client as public
from trunkline.client import AutoApprove, Caps, Client, Packet, PermissionPolicy, PolicyRule, Waits, hub_views, views
from trunkline.client.http import HttpResponse, error_of
from trunkline.dialects.context.types import AgentDataPaths, DiscoveredSession
from trunkline.dialects.context.types import AutoApprove as ContextAutoApprove
from trunkline.dialects.context.types import PermissionPolicy as ContextPermissionPolicy
from trunkline.errors import (
    AgentError,
    Forbidden,
    HubRestarted,
    Invalid,
    LocalError,
    NotFound,
    TrunklineError,
    Unauthorized,
    Unavailable,
)
from trunkline.hub import AgentInfo
from trunkline.server.auth import devices
from trunkline.server.files import folders, preview
from trunkline.server.routes import ROUTES
from trunkline.server.sessions import adapters, policies, search
from trunkline.session import fold
from trunkline.session.fold import caps
from trunkline.session.policy import decide as policy

SESSION = {"id": "s1", "status": "idle", "somethingNew": {"from": "tomorrow"}}

CALLS: list[tuple[str, Callable[[Client], Awaitable[Any]], str, object, object]] = [
    ("health", lambda hub: hub.health(), "GET /healthz", None, {}),
    ("agents", lambda hub: hub.agents(), "GET /agents", None, [{"name": "demo", "installed": True}]),
    ("create", lambda hub: hub.create_session("demo", "/tmp", title="t", mode="plan", env={"PATH": "/bin"}), "POST /sessions",
     {"agent": "demo", "cwd": "/tmp", "mcpServers": [], "env": {"PATH": "/bin"}, "title": "t", "mode": "plan"}, SESSION),
    ("list", lambda hub: hub.sessions(status="idle", text="a b", limit=3), "GET /sessions?status=idle&text=a+b&limit=3", None,
     {"sessions": [SESSION], "next": None}),
    ("show", lambda hub: hub.session("a/b"), "GET /sessions/a%2Fb", None, SESSION),
    ("rename", lambda hub: hub.rename("s1", "new"), "PATCH /sessions/s1", {"title": "new"}, SESSION),
    ("delete", lambda hub: hub.delete("s1"), "DELETE /sessions/s1", None, None),
    ("send", lambda hub: hub.send("s1", "hi", when_busy="queue"), "POST /sessions/s1/send-message",
     {"content": "hi", "whenBusy": "queue"}, {"turnId": "t", "seq": 4, "queued": True}),
    ("messages", lambda hub: hub.messages("s1", after=4, limit=9), "GET /sessions/s1/messages?after=4&limit=9", None,
     {"messages": [{"seq": 5, "packet": {"type": "error"}}], "nextAfter": 5}),
    ("cancel", lambda hub: hub.cancel("s1"), "POST /sessions/s1/cancel", {}, {"cancelled": True}),
    ("mode", lambda hub: hub.set_mode("s1", "plan"), "POST /sessions/s1/mode", {"modeId": "plan"}, SESSION),
    ("config", lambda hub: hub.set_config("s1", "fast", True), "POST /sessions/s1/config",
     {"configId": "fast", "value": True}, SESSION),
    ("queue", lambda hub: hub.queue("s1"), "GET /sessions/s1/queue", None, [{"turnId": "t", "content": []}]),
    ("edit", lambda hub: hub.edit_queued("s1", "t", "x"), "PATCH /sessions/s1/queue/t", {"content": "x"}, []),
    ("drop", lambda hub: hub.drop_queued("s1", "t"), "DELETE /sessions/s1/queue/t", None, None),
    ("allow", lambda hub: hub.decide("s1", "r", allow=True, scope="always"), "POST /sessions/s1/permissions/r",
     {"decision": "allow", "scope": "always"}, SESSION),
    ("fork", lambda hub: hub.fork("s1", cwd="/w"), "POST /sessions/s1/fork", {"cwd": "/w"}, SESSION),
    ("deny", lambda hub: hub.decide("s1", "r", allow=False, reason="no"), "POST /sessions/s1/permissions/r",
     {"decision": "deny", "scope": "once", "reason": "no"}, SESSION),
    ("option", lambda hub: hub.decide("s1", "r", option_id="o"), "POST /sessions/s1/permissions/r", {"optionId": "o"}, SESSION),
    ("option for the session", lambda hub: hub.decide("s1", "r", option_id="o", scope="session"),
     "POST /sessions/s1/permissions/r", {"optionId": "o", "scope": "session"}, SESSION),
    ("allow for the turn", lambda hub: hub.decide("s1", "r", allow=True, scope="turn"), "POST /sessions/s1/permissions/r",
     {"decision": "allow", "scope": "turn"}, SESSION),
    ("allow an edited input", lambda hub: hub.decide("s1", "r", allow=True, updated_input={"command": "ls"}),
     "POST /sessions/s1/permissions/r", {"decision": "allow", "scope": "once", "updatedInput": {"command": "ls"}}, SESSION),
    ("limits", lambda hub: hub.set_limits("s1", caps=Caps(tokens=5, cost=0.5), waits=Waits(approval_s=9, on_timeout="cancel")),
     "POST /sessions/s1/limits", {"caps": {"tokens": 5, "cost": 0.5}, "waits": {"approvalS": 9, "onTimeout": "cancel"}}, SESSION),
    ("waits as the hub is set", lambda hub: hub.set_limits("s1", waits=Waits()), "POST /sessions/s1/limits",
     {"waits": {"approvalS": None, "onTimeout": "reject"}}, SESSION),
    ("no caps any more", lambda hub: hub.set_limits("s1", caps=Caps()), "POST /sessions/s1/limits", {"caps": {}}, SESSION),
    ("image", lambda hub: hub.image("s1", 7), "GET /sessions/s1/images/7", None, {}),
    ("approvals", lambda hub: hub.approvals(), "GET /approvals", None, {"pending": [{"sessionId": "s1"}]}),
    ("preview_rule", lambda hub: hub.preview_rule("r1", allow=True), "POST /approvals/r1/always-preview",
     {"decision": "allow", "scope": "always"},
     {"rule": {"action": "allow"}, "answers": [{"requestId": "r1", "sessionId": "s1", "decision": "allow"}]}),
    ("journal", lambda hub: hub.journal(), "GET /journal", None, {"state": "hurt", "damages": [{"from": 2, "to": 3}]}),
    ("policy", lambda hub: hub.policy(), "GET /policy", None, {"text": "", "rules": [{"action": "ask", "tool": ["x"]}]}),
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
    ("answer", lambda hub: hub.answer_question("s1", "q", {"a": 1}), "POST /sessions/s1/questions/q",
     {"action": "accept", "content": {"a": 1}}, SESSION),
    ("decline", lambda hub: hub.answer_question("s1", "q", None, action="decline"), "POST /sessions/s1/questions/q",
     {"action": "decline"}, SESSION),
    ("clear", lambda hub: hub.clear_queue("s1"), "DELETE /sessions/s1/queue", None, None),
    ("pair", lambda hub: hub.pair(scope="view", name="phone"), "POST /pair", {"scope": "view", "name": "phone"},
     {"code": "c", "url": "http://x/#/pair/c"}),
    ("devices", lambda hub: hub.devices(), "GET /devices", None, {"devices": [{"id": "d", "name": "phone"}]}),
    ("revoke", lambda hub: hub.revoke_device("d"), "DELETE /devices/d", None, None),
    ("way in", lambda hub: hub.login_command(), "GET /auth/login", None, {"command": "trunkline open --print"}),
    ("code", lambda hub: hub.new_code(), "POST /auth/codes", {}, {"code": "c", "path": "/#code=c"}),
    ("artifact", lambda hub: hub.artifact("s1", "a"), "GET /sessions/s1/artifacts/a", None, {"id": "a", "preview_url": None}),
    ("preview", lambda hub: hub.preview("s1", "a", live=True), "POST /sessions/s1/artifacts/a/preview", {"live": True},
     {"preview_url": "/preview/0/"}),
    ("files", lambda hub: hub.files("s1", "src"), "GET /sessions/s1/files?path=src", None, {"path": "src", "entries": []}),
    ("content", lambda hub: hub.file_content("s1", "a b"), "GET /sessions/s1/files/content?path=a+b", None, {}),
    ("find in a folder", lambda hub: hub.find_in_folder("/a", "x"), "GET /folders/find?path=%2Fa&q=x&limit=50", None,
     {"query": "x"}),
    ("find", lambda hub: hub.find_files("s1", "x"), "GET /sessions/s1/files/find?q=x&limit=50", None, {"query": "x"}),
    ("upload", lambda hub: hub.upload("s1", "f", b"{}"), "POST /sessions/s1/files?path=f", {}, {"files": []}),
    ("diff", lambda hub: hub.diff("s1"), "GET /sessions/s1/diff", None, {}),
    ("artifacts", lambda hub: hub.artifacts("s1"), "GET /sessions/s1/artifacts", None, [{"id": "a"}]),
]


@pytest.mark.parametrize(("call", "target", "body", "answer"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    seen: list[tuple[str, object]] = []

    async def handler(exchange: Exchange) -> None:
        query = f"?{exchange.query}" if exchange.query else ""
        seen.append((f"{exchange.method} {exchange.path}{query}", msgspec.json.decode(exchange.body) if exchange.body else None))
        await exchange.json(200, answer)

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            await call(client)

    run(scene())
    assert seen == [(target, body)]


def test_answers_are_typed_and_fields_of_tomorrow_are_skipped() -> None:
    async def scene() -> None:
        async with served(lambda exchange: exchange.json(200, SESSION)) as hub, Client(hub.url + "/") as client:
            view = await client.session("s1")
        assert (view.id, view.status, view.pending_approvals) == ("s1", "idle", [])

    run(scene())


@pytest.mark.parametrize("body", [b"<html>a proxy</html>", b"\xff", b"[" * 100_000, b'{"id":1e400}', b""])
def test_an_answer_that_is_not_the_hubs_is_told_as_such(body: bytes) -> None:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(200, body)

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            with pytest.raises(Unavailable, match="cannot be read"):
                await client.session("s1")

    run(scene())


def test_a_session_is_started_under_one_key_however_often_it_is_asked_for() -> None:
    keys: list[str] = []

    async def handler(exchange: Exchange) -> None:
        keys.append(exchange.headers["idempotency-key"])
        status, body = (503, {"code": "hub_stopping", "message": "m"}) if len(keys) == 1 else (201, SESSION)
        await exchange.json(status, body)

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            with contextlib.suppress(TrunklineError):
                await client.create_session("demo", "/tmp", key="mine")
            await client.create_session("demo", "/tmp", key="mine")
            await client.create_session("demo", "/tmp")

    run(scene())
    assert keys[0] == keys[1] == "mine"
    assert keys[2] != "mine"


def test_a_prompt_without_a_key_gets_one_of_its_own() -> None:
    keys: list[str] = []

    async def handler(exchange: Exchange) -> None:
        keys.append(exchange.headers["idempotency-key"])
        await exchange.json(202, {"turnId": "t", "seq": 1})

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            await client.send("s", "a")
            await client.send("s", "a")
            await client.send("s", "a", key="mine")

    run(scene())
    assert keys[0] != keys[1]
    assert keys[2] == "mine"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, b'{"code":"invalid","message":"m","recoverable":true}', Invalid),
        (502, b'{"code":"agent_error","message":"m","recoverable":true,"agentCode":"-32000"}', AgentError),
        (503, b'{"code":"hub_restarted","message":"m","recoverable":true}', HubRestarted),
        (418, b'{"code":"teapot","message":"m"}', LocalError),
        (500, b'{"code":"teapot","message":"m"}', TrunklineError),
        (401, b"<html>", Unauthorized),
        (403, b"", Forbidden),
        (404, b"\xff\xfe", NotFound),
        (502, b"Bad Gateway", Unavailable),
        (429, b"[]", LocalError),
    ],
)
def test_an_error_answer_is_the_error_that_the_hub_raised(status: int, body: bytes, expected: type[TrunklineError]) -> None:
    assert type(error_of(HttpResponse(status, {}, body))) is expected


def test_an_error_keeps_message_details_and_the_agents_code() -> None:
    body = b'{"code":"agent_error","message":"why","recoverable":true,"details":{"a":1},"agentCode":"-32000"}'
    error = error_of(HttpResponse(502, {}, body))
    assert (error.message, error.details, error.agent_code) == ("why", {"a": 1}, "-32000")


def test_a_code_of_tomorrow_stays_readable() -> None:
    error = error_of(HttpResponse(409, {}, b'{"code":"teapot","message":"short and stout"}'))
    assert (error.message, error.details) == ("short and stout", {"code": "teapot"})


def test_every_error_of_the_tree_survives_the_way_over_http() -> None:
    def leaves(kind: type[TrunklineError]) -> list[type[TrunklineError]]:
        return [leaf for child in kind.__subclasses__() for leaf in leaves(child)] or [kind]

    for kind in leaves(TrunklineError):
        body = msgspec.json.encode({"code": kind.code, "message": "m", "recoverable": kind.recoverable})
        assert type(error_of(HttpResponse(kind.http_status, {}, body))) is kind


def test_a_packet_reads_like_a_dict_and_keeps_its_bytes() -> None:
    raw = b'{"type": "prompt_response",  "n": 1}'
    packet = Packet(raw)
    assert (packet.type, packet["n"], dict(packet), len(packet), packet.raw) == (
        "prompt_response", 1, {"type": "prompt_response", "n": 1}, 2, raw)
    assert packet.ends_turn()
    assert not Packet(b'{"type":"agent_message_chunk"}').ends_turn()


NOT_CALLS = {
    "GET /", "GET /assets/{path:path}", "GET /icons/{path:path}", "GET /sw.js", "GET /manifest.webmanifest",
    "GET /licenses", "GET /preview/{key}/{path:path}", "GET /docs", "GET /openapi.json", "GET /metrics", "GET /readyz",
    "POST /auth/login", "POST /auth/logout", "GET /auth/tokens", "POST /auth/tokens",
    "DELETE /auth/tokens/{tokenId}", "GET /sessions/{id}/queue/{turnId}", "POST /pair/claim", "GET /sessions/{id}/export",
    "GET /push", "POST /push", "DELETE /push",
    "POST /acp", "GET /acp", "DELETE /acp",
}
"""What is for browsers, operators and editors, and what another call gives as well."""

ELSEWHERE = {"GET /sessions/{id}/packets", "GET /sessions/{id}/events", "GET /sessions/{id}/history", "GET /events", "GET /ws",
             "GET /sessions/{id}/snapshot", "POST /sessions/{id}/commands"}
"""Tested in test_streams.py and test_link.py."""


def test_every_route_has_a_call_unless_it_is_no_business_of_programs() -> None:
    called = [row[2].partition("?")[0] for row in CALLS]

    def is_called(route: str) -> bool:
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route)))
        return any(pattern.fullmatch(target) for target in called)

    routes = {f"{route.method} {route.path}" for route in ROUTES}
    assert {route for route in routes if not is_called(route)} == NOT_CALLS | ELSEWHERE


SHARED = ["SessionView", "Changes", "TurnView", "ApprovalView", "QuestionView", "QueuedPrompt", "Todo", "Usage", "Cost"]


@pytest.mark.parametrize("name", SHARED)
def test_what_the_client_reads_is_what_the_hub_writes(name: str) -> None:
    reads = {field.encode_name for field in msgspec.structs.fields(getattr(views, name))}
    writes = {field.encode_name for field in msgspec.structs.fields(getattr(fold, name))}
    assert reads == writes


@pytest.mark.parametrize(("reads", "writes"), [
    (hub_views.PolicyRule, policy.Rule), (hub_views.AutoApprove, ContextAutoApprove),
    (hub_views.PermissionPolicy, ContextPermissionPolicy), (hub_views.PolicyView, policies.PolicyView),
    (hub_views.RuleLookedAt, policies.RuleLookedAt), (hub_views.Explanation, policies.Explanation), (hub_views.Caps, caps.Caps),
    (hub_views.Waits, fold.Waits), (hub_views.SnippetPart, search.SnippetPart), (hub_views.SearchHit, search.SearchHit),
    (hub_views.SearchPage, search.SearchPage), (hub_views.Folder, folders.Folder), (hub_views.RecentFolder, folders.RecentFolder),
    (hub_views.FolderPage, folders.FolderPage), (hub_views.AdapterView, adapters.AdapterInfo),
    (hub_views.Pairing, devices.Pairing), (hub_views.DeviceView, devices.DeviceView),
    (hub_views.DataPaths, AgentDataPaths), (hub_views.DiscoveredSession, DiscoveredSession),
    (views.AgentView, AgentInfo),
], ids=lambda kind: kind.__name__)
def test_what_the_client_reads_of_the_hub_is_what_the_hub_writes(
    reads: type[msgspec.Struct], writes: type[msgspec.Struct]
) -> None:
    assert _wire_names(reads) == _wire_names(writes)


def _wire_names(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def test_an_artifact_is_read_as_the_server_writes_it() -> None:
    made = preview.ArtifactView(id="a", session_id="s", type="web_app", name="site", path="out/site", preview_url="/preview/k/",
                                version=2, created_at="then", updated_at="now")
    read = msgspec.json.decode(msgspec.json.encode(made), type=views.Artifact)
    assert msgspec.structs.asdict(read) == msgspec.structs.asdict(made)
    assert read.preview_url == "/preview/k/"


def test_the_public_names_are_sorted_and_there() -> None:
    assert public.__all__ == sorted(public.__all__)
    assert all(hasattr(public, name) for name in public.__all__)
