"""Calls that start, list, name, branch and end sessions: what goes out, what comes back."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.client.calls.routes import SESSION, Row, check_route
from tests.client.scripted import Exchange, served
from tests.server.http.test_listen import listening
from tests.server.site import TOKEN
from tests.tooling.rows import every_row
from trunkline.client import Caps, Client, Waits
from trunkline.errors import (
    TrunklineError,
)

CALLS: list[Row] = [
    ("create", lambda hub: hub.create_session("demo", "/tmp", title="t", mode="plan", env={"PATH": "/bin"}), "POST /sessions",
     {"agent": "demo", "cwd": "/tmp", "mcpServers": [], "env": {"PATH": "/bin"}, "title": "t", "mode": "plan"}, SESSION),
    ("list", lambda hub: hub.sessions(status="idle", text="a b", limit=3), "GET /sessions?status=idle&text=a+b&limit=3", None,
     {"sessions": [SESSION], "next": None}),
    ("list all", lambda hub: hub.sessions(found=True), "GET /sessions?limit=50&found=true", None,
     {"sessions": [], "next": None, "found": [{"id": "1", "agent": "demo"}]}),
    ("found", lambda hub: hub.found(after=3), "GET /found?limit=200&after=3", None,
     {"sessions": [{"id": "1", "running": True}], "revision": 4}),
    ("show", lambda hub: hub.session("a/b"), "GET /sessions/a%2Fb", None, SESSION),
    ("rename", lambda hub: hub.rename("s1", "new"), "PATCH /sessions/s1", {"title": "new"}, SESSION),
    ("delete", lambda hub: hub.delete("s1"), "DELETE /sessions/s1", None, None),
    ("delete in a cluster", lambda hub: hub.delete("s1"), "DELETE /sessions/s1", None, {"erased": 3, "purged": False}),
    ("create somewhere", lambda hub: hub.create_session("demo", "/tmp", node="den", labels={"gpu": "yes"}), "POST /sessions",
     {"agent": "demo", "cwd": "/tmp", "mcpServers": [], "env": {}, "node": "den", "labels": {"gpu": "yes"}}, SESSION),
    ("move", lambda hub: hub.move("s1", "den"), "POST /sessions/s1/move", {"node": "den", "force": False}, SESSION),
    ("fork", lambda hub: hub.fork("s1", cwd="/w"), "POST /sessions/s1/fork", {"cwd": "/w"}, SESSION),
    ("handover", lambda hub: hub.handover("s1", wait=5), "GET /sessions/s1/handover?wait=5", None,
     {"sessionId": "s1", "here": False, "running": True, "pid": 7, "ways": [{"how": "fork", "possible": True, "words": "w"}]}),
    ("take over", lambda hub: hub.take_over("s1", "fork"), "POST /sessions/s1/take-over", {"how": "fork"}, SESSION),
    ("give back", lambda hub: hub.give_back("s1"), "POST /sessions/s1/give-back", {}, {"sessionId": "s1"}),
    ("limits", lambda hub: hub.set_limits("s1", caps=Caps(tokens=5, cost=0.5), waits=Waits(approval_s=9, on_timeout="cancel")),
     "POST /sessions/s1/limits", {"caps": {"tokens": 5, "cost": 0.5}, "waits": {"approvalS": 9, "onTimeout": "cancel"}}, SESSION),
    ("waits as the hub is set", lambda hub: hub.set_limits("s1", waits=Waits()), "POST /sessions/s1/limits",
     {"waits": {"approvalS": None, "onTimeout": "reject"}}, SESSION),
    ("no caps any more", lambda hub: hub.set_limits("s1", caps=Caps()), "POST /sessions/s1/limits", {"caps": {}}, SESSION),
]


@every_row(("call", "target", "body", "answer"), [row[1:] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)



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
