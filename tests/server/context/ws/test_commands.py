"""Commands over the WebSocket and over HTTP: acknowledged, refused, idempotent, within the token's scope."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.context.ws.socket import Frame, Socket, connected
from tests.server.site import TOKEN, Site, site
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import Session
from trunkline.server.auth.tokens import Scope
from trunkline.server.context.ws import conversation
from trunkline.server.context.ws.conversation import Conversation
from trunkline.server.context.ws.frames import Ack, CommandFrame


async def ask_something(session: Session) -> tuple[str, str]:
    """Let the demo agent ask for an approval; returns the ids of the request and of its tool call."""
    await session.send([TextContent(text="/ask")], by="test")
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)
    (view,) = session.fold.approvals.values()
    return view.request_id, view.tool_call_id


async def order(socket: Socket, session: Session, name: str, command_id: str = "c", **fields: Any) -> Frame:
    """Send a command and wait for its ack."""
    socket.say("command", id=command_id, sessionId=session.id, command={"command": name, **fields})
    return await socket.until("ack", id=command_id)


async def over(session: Session) -> None:
    """The turn has ended."""
    while session.fold.turn is not None:
        await session.feed.wait(session.feed.last_seq)


async def messages_of(session: Session) -> list[str]:
    """What persons said in this session."""
    entries = await session.feed.read(after=0, limit=100_000, max_bytes=1 << 30)
    events = [json.loads(entry.event) for entry in entries]
    return [event["content"][0]["text"] for event in events
            if event["type"] == "message:complete" and event["role"] == "user"]


def test_a_message_is_acknowledged_and_its_turn_is_seen(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("subscribe", id="s", sessions=[session.id])
            await socket.until("snapshot")
            socket.say("command", id="c", sessionId=session.id, command={"command": "send_message", "message": "/echo hi"})
            types: list[str] = []
            ack: Frame | None = None
            while ack is None or "message:complete" not in types[-1:]:
                frame = await socket.hear()
                if frame["type"] == "ack":
                    ack = frame
                else:
                    types.append(frame["event"]["type"])
            assert (ack["id"], ack["ok"]) == ("c", True)

    run(check())


def test_the_same_id_twice_is_carried_out_once_over_any_connection(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            async with connected(hub) as socket:
                first = await order(socket, session, "send_message", "same", message="/echo once")
                again = await order(socket, session, "send_message", "same", message="/echo once")
            body = {"id": "same", "command": {"command": "send_message", "message": "/echo once"}}
            answer = await hub.ask("POST", f"/sessions/{session.id}/commands", json_body=body)
            assert (first["ok"], again["ok"], answer.status) == (True, True, 200)
            assert first["result"] == again["result"] == answer.json()["result"]
            await over(session)
            assert await messages_of(session) == ["/echo once"]

    run(check())


def test_an_approval_is_answered_once_and_the_second_answer_is_told_who_was_first(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as one, connected(hub) as two:
            session = await hub.session()
            request_id, call_id = await ask_something(session)
            ids = {"requestId": request_id, "toolCallId": call_id}
            one.say("command", id="first", sessionId=session.id, command={"command": "approve_tool_call", **ids})
            resolved = await two.event("approval:resolved")
            assert (resolved["event"]["requestId"], resolved["event"]["approved"]) == (request_id, True)
            assert (await one.until("ack", id="first"))["ok"]
            late = await order(two, session, "deny_tool_call", "late", **ids)
            assert (late["ok"], late["error"]["code"]) == (False, "already_resolved")
            await over(session)

    run(check())


@pytest.mark.parametrize(("command", "code"), [
    ({"command": "dance"}, "invalid"), ({"command": "send_message"}, "invalid"), ({}, "invalid"), ("text", "invalid"),
    ({"command": "approve_tool_call", "requestId": "none", "toolCallId": "none"}, "not_found"),
    ({"command": "answer_question", "questionId": "none", "answer": "x"}, "not_found"),
])
def test_a_command_that_cannot_be_is_refused_by_its_id(tmp_path: Path, command: Any, code: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()
            socket.say("command", id="c", sessionId=session.id, command=command)
            ack = await socket.until("ack", id="c")
            assert (ack["ok"], ack["error"]["code"]) == (False, code)
            answer = await hub.ask("POST", f"/sessions/{session.id}/commands", json_body={"id": "d", "command": command})
            assert answer.json()["code"] == code
            socket.say("command", id="e", sessionId="none", command={"command": "cancel"})
            assert (await socket.until("ack", id="e"))["error"]["code"] == "session_not_found"

    run(check())


@pytest.mark.parametrize(("scope", "answers", "steers"),
                         [("view", False, False), ("approve", True, False), ("control", True, True)])
def test_answering_needs_approve_and_steering_needs_control(tmp_path: Path, scope: Scope, answers: bool, steers: bool) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("somebody", scope)
            session = await hub.session()
            async with connected(hub, secret) as socket:
                for index, (command, may) in enumerate(_commands(answers, steers)):
                    socket.say("command", id=str(index), sessionId=session.id, command=command)
                    ack = await socket.until("ack", id=str(index))
                    assert (ack["ok"] or ack["error"]["code"] != "forbidden") == may, (command, ack)
                    assert await _status(hub, session, command, secret) == (403 if not may else None), command

    run(check())


def _commands(answers: bool, steers: bool) -> list[tuple[dict[str, Any], bool]]:
    return [
        ({"command": "approve_tool_call", "requestId": "x", "toolCallId": "x"}, answers),
        ({"command": "deny_tool_call", "requestId": "x", "toolCallId": "x"}, answers),
        ({"command": "answer_question", "questionId": "x", "answer": "x"}, answers),
        ({"command": "cancel"}, steers), ({"command": "send_message", "message": "/echo x"}, steers),
        ({"command": "set_permission_policy", "policy": {"autoApprove": {"reads": True, "searches": False, "writes": False,
                                                                          "commands": False}}}, steers),
    ]


async def _status(hub: Site, session: Session, command: dict[str, Any], token: str) -> int | None:
    answer = await hub.ask("POST", f"/sessions/{session.id}/commands", json_body={"command": command}, token=token)
    return 403 if answer.status == 403 else None


@pytest.mark.parametrize(("scope", "command", "code"), [
    ("control", {"command": "dance"}, "invalid"), ("control", {"command": "send_message"}, "invalid"),
    ("control", "x", "invalid"), ("approve", {"command": "cancel"}, "forbidden"), ("view", {"command": "cancel"}, "forbidden"),
])
def test_a_refused_command_is_in_the_journal_with_its_sender(tmp_path: Path, scope: Scope, command: Any, code: str) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            token, secret = hub.app.parts.tokens.mint("eve", scope)
            session = await hub.session()
            async with connected(hub, secret) as socket:
                socket.say("command", id="c", sessionId=session.id, command=command)
                await socket.until("ack", id="c")
            body = {"id": "d", "command": command}
            await hub.ask("POST", f"/sessions/{session.id}/commands", json_body=body, token=secret)
            entries = [json.loads(entry.event) for entry in await session.feed.read(after=0)]
            written = [event for event in entries if event["type"] == "custom" and event["eventName"] == "command"]
            assert [(event["data"]["id"], event["data"]["ok"], event["data"]["error"]["code"], event["_meta"]["by"])
                    for event in written] == [("c", False, code, f"eve ({token.id})"), ("d", False, code, f"eve ({token.id})")]

    run(check())


def test_a_refused_command_of_no_session_is_only_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("eve", "view")
            answer = await hub.ask("POST", "/sessions/none/commands", json_body={"command": {"command": "cancel"}}, token=secret)
            assert answer.status == 403

    run(check())


def test_a_command_is_carried_out_though_its_sender_left(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            socket = Socket(hub)
            await socket.hello(TOKEN)
            socket.say("command", id="c", sessionId=session.id, command={"command": "send_message", "message": "/echo left"})
            await asyncio.sleep(0)
            await socket.leave()
            while "/echo left" not in await messages_of(session):
                await session.feed.wait(session.feed.last_seq)
            await over(session)

    run(check())


def test_a_client_with_too_many_commands_at_once_is_not_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "COMMANDS_AT_ONCE", 2)
    go_on, execute = asyncio.Event(), Conversation._executed

    async def slow(talk: Conversation, frame: CommandFrame) -> Ack:
        await go_on.wait()
        return await execute(talk, frame)

    monkeypatch.setattr(Conversation, "_executed", slow)

    async def check() -> None:
        async with site(tmp_path) as hub, connected(hub) as socket:
            session = await hub.session()

            def order_and_ping(*numbers: int) -> None:
                for number in numbers:
                    socket.say("command", id=f"c{number}", sessionId=session.id, command={"command": "set_title", "title": "x"})
                socket.say("ping", id=f"p{numbers[-1]}")

            order_and_ping(1, 2)
            await socket.until("pong", id="p2")
            order_and_ping(3)
            answer = await hub.ask("GET", f"/sessions/{session.id}")
            assert answer.status == 200, "others are served"
            assert socket.unheard == 1 and socket.heard() == [], "the third is taken, and nothing behind it"
            go_on.set()
            await socket.until("pong", id="p3")
            assert socket.unheard == 0

    run(check())
