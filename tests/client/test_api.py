"""One method per route: what goes out, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.client.scripted import Exchange, served
from trunkline import client as public
from trunkline.client import Client, Packet, views
from trunkline.client.faults import error_of
from trunkline.client.http import Response
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
from trunkline.server import preview
from trunkline.session import fold

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
    ("deny", lambda hub: hub.decide("s1", "r", allow=False, reason="no"), "POST /sessions/s1/permissions/r",
     {"decision": "deny", "scope": "once", "reason": "no"}, SESSION),
    ("option", lambda hub: hub.decide("s1", "r", option_id="o"), "POST /sessions/s1/permissions/r", {"optionId": "o"}, SESSION),
    ("answer", lambda hub: hub.answer_question("s1", "q", {"a": 1}), "POST /sessions/s1/questions/q",
     {"action": "accept", "content": {"a": 1}}, SESSION),
    ("decline", lambda hub: hub.answer_question("s1", "q", None, action="decline"), "POST /sessions/s1/questions/q",
     {"action": "decline"}, SESSION),
    ("clear", lambda hub: hub.clear_queue("s1"), "DELETE /sessions/s1/queue", None, None),
    ("code", lambda hub: hub.new_code(), "POST /auth/codes", {}, {"code": "c", "path": "/#code=c"}),
    ("artifact", lambda hub: hub.artifact("s1", "a"), "GET /sessions/s1/artifacts/a", None, {"id": "a", "preview_url": None}),
    ("files", lambda hub: hub.files("s1", "src"), "GET /sessions/s1/files?path=src", None, {"path": "src", "entries": []}),
    ("content", lambda hub: hub.file_content("s1", "a b"), "GET /sessions/s1/files/content?path=a+b", None, {}),
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
    assert type(error_of(Response(status, {}, body))) is expected


def test_an_error_keeps_message_details_and_the_agents_code() -> None:
    body = b'{"code":"agent_error","message":"why","recoverable":true,"details":{"a":1},"agentCode":"-32000"}'
    error = error_of(Response(502, {}, body))
    assert (error.message, error.details, error.agent_code) == ("why", {"a": 1}, "-32000")


def test_a_code_of_tomorrow_stays_readable() -> None:
    error = error_of(Response(409, {}, b'{"code":"teapot","message":"short and stout"}'))
    assert (error.message, error.details) == ("short and stout", {"code": "teapot"})


def test_every_error_of_the_tree_survives_the_way_over_http() -> None:
    def leaves(kind: type[TrunklineError]) -> list[type[TrunklineError]]:
        return [leaf for child in kind.__subclasses__() for leaf in leaves(child)] or [kind]

    for kind in leaves(TrunklineError):
        body = msgspec.json.encode({"code": kind.code, "message": "m", "recoverable": kind.recoverable})
        assert type(error_of(Response(kind.http_status, {}, body))) is kind


def test_a_packet_reads_like_a_dict_and_keeps_its_bytes() -> None:
    raw = b'{"type": "prompt_response",  "n": 1}'
    packet = Packet(raw)
    assert (packet.type, packet["n"], dict(packet), len(packet), packet.raw) == (
        "prompt_response", 1, {"type": "prompt_response", "n": 1}, 2, raw)
    assert packet.ends_turn()
    assert not Packet(b'{"type":"agent_message_chunk"}').ends_turn()


SHARED = ["SessionView", "TurnView", "ApprovalView", "QuestionView", "QueuedPrompt", "Todo", "Usage", "Cost"]


@pytest.mark.parametrize("name", SHARED)
def test_what_the_client_reads_is_what_the_hub_writes(name: str) -> None:
    reads = {field.encode_name for field in msgspec.structs.fields(getattr(views, name))}
    writes = {field.encode_name for field in msgspec.structs.fields(getattr(fold, name))}
    assert reads == writes


def test_an_artifact_is_read_as_the_server_writes_it() -> None:
    made = preview.ArtifactView(id="a", session_id="s", type="web_app", name="site", path="out/site", preview_url="/preview/k/",
                                version=2, created_at="then", updated_at="now")
    read = msgspec.json.decode(msgspec.json.encode(made), type=views.Artifact)
    assert msgspec.structs.asdict(read) == msgspec.structs.asdict(made)
    assert read.preview_url == "/preview/k/"


def test_the_public_names_are_sorted_and_there() -> None:
    assert public.__all__ == sorted(public.__all__)
    assert all(hasattr(public, name) for name in public.__all__)
