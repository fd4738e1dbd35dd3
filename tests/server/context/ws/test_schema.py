"""The published schema of the frames is what really goes over the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

from tests.aio import run
from tests.server.context.ws.socket import Frame, Socket, connected
from tests.server.site import TOKEN, site
from tests.tooling.rows import every_row
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import Decision

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"
FRAMES = json.loads((REFERENCE / "websocket.schema.json").read_text(encoding="utf-8"))
CONTEXT = json.loads((REFERENCE / "agent-context.schema.json").read_text(encoding="utf-8"))


def validator(direction: str) -> Any:
    registry: Registry[Any] = Registry().with_resource("agent-context.schema.json", Resource.from_contents(CONTEXT))
    return jsonschema.Draft202012Validator({**FRAMES, "$ref": f"#/$defs/{direction}"}, registry=registry)


async def conversation(folder: Path) -> list[Frame]:
    """One of everything that the hub says."""
    async with site(folder) as hub:
        session = await hub.session()
        socket = Socket(hub)
        heard = [await socket.hello()]
        socket.say("subscribe", id="one", sessions=[session.id])
        socket.say("subscribe", id="again", sessions=[session.id], after=0)
        socket.say("subscribe", id="far", sessions=[session.id], after=9_999)
        socket.say("subscribe", id="all", sessions="*")
        socket.say("nonsense", id="x")
        socket.say("ping", id="p")
        while heard[-1]["type"] != "pong":
            heard.append(await socket.hear())
        await session.turns.send([TextContent(text="/ask")], by="test")
        while not session.fold.approvals:
            await session.feed.wait(session.feed.last_seq)
        async with connected(hub) as late:
            late.say("subscribe", id="s", sessions=[session.id])
            heard += [await late.hear(), await late.hear()]
        await session.approvals.decide(next(iter(session.fold.approvals)), Decision(decision="deny"), by="test")
        while session.fold.turn is not None:
            await session.feed.wait(session.feed.last_seq)
        await hub.hub.delete(session.id)
        while heard[-1].get("id") != "one":
            heard.append(await socket.hear())
        await socket.leave()
        return heard


def test_what_is_always_told_is_required_and_what_may_be_unset_is_not() -> None:
    defs = FRAMES["$defs"]
    assert {"lastSeq", "turn", "queue", "pendingApprovals", "paused", "caps"} <= set(defs["SessionView"]["required"])
    assert "guarded" not in defs["PolicyAsk"]["required"], "a hub in memory has nothing to guard"
    assert set(defs["Ack"]["required"]) == {"type", "ok"}
    assert set(defs["Subscribe"]["required"]) == {"type", "id", "sessions"}, "a client may leave out what has a default"


def test_everything_the_hub_says_is_in_the_schema(tmp_path: Path) -> None:
    heard = run(conversation(tmp_path))
    assert {frame["type"] for frame in heard} == {"welcome", "ack", "snapshot", "resumed", "gap", "event", "pong"}
    told = validator("Told")
    for frame in heard:
        errors = [error.message for error in told.iter_errors(frame)]
        assert errors == [], frame


@every_row("frame", [
    {"type": "hello", "versions": ["1.0.0"], "token": TOKEN},
    {"type": "subscribe", "id": "1", "sessions": "*", "after": 3, "types": "tool:"},
    {"type": "subscribe", "id": "1", "sessions": ["a", "b"], "after": {"a": 3}},
    {"type": "unsubscribe", "id": "2", "subscription": "1"},
    {"type": "command", "id": "3", "sessionId": "a", "command": {"command": "cancel"}},
    {"type": "ping"},
])
def test_what_a_client_says_is_in_the_schema(frame: Frame) -> None:
    validator("Said").validate(frame)


@every_row("frame", [
    {"type": "hello"}, {"type": "subscribe", "id": "1", "sessions": 3}, {"type": "dance"}, {"type": "unsubscribe", "id": "2"},
    {"type": "command", "id": "3", "sessionId": "a", "command": {"command": "dance"}},
])
def test_what_a_client_must_not_say_is_not(frame: Frame) -> None:
    assert not validator("Said").is_valid(frame)
