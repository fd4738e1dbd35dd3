"""An editor at a gateway and a session at another node: as if both were at one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import eventually, run
from tests.cluster.conftest import shared_nats as shared_nats
from tests.cluster.tunnel.hubs import Node, two_nodes
from tests.server.acp.attachment.test_asks import FORM, permission
from tests.server.acp.editor import PUPPET, TRUSTED, Editor, Refused, editor, result_of
from tests.server.acp.test_files import FILES, TERMINAL, step
from tests.tooling.nats import NatsServer
from trunkline.agents.catalog import spec_from_table
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.server.acp.connection import EditorLine, EditorRequest
from trunkline.server.acp.remote import OwnerLine
from trunkline.server.acp.tasks import EditorTasks

AGENTS = {name: spec_from_table(name, {"command": PUPPET}) for name in ("puppet", "trusted")}


@asynccontextmanager
async def at_gateway(url: str, folder: Path, agent: str = "puppet", **capabilities: Any
                     ) -> AsyncIterator[tuple[Node, Node, Editor, str]]:
    """The owner, the gateway, an editor that is connected to the gateway, and a session of the owner's that it has open."""
    async with two_nodes(url, folder, agents=AGENTS) as (owner, gateway):
        owner.hub.policies.replace(TRUSTED)
        made = await owner.ask("POST", "/sessions", json_body={"agent": agent, "cwd": str(owner.folder)})
        assert made.status == 201, made.body
        async with editor(gateway, "demo", token=gateway.token, **capabilities) as one:
            session_id = made.json()["id"]
            await one.ask("session/load", {"sessionId": session_id, "cwd": str(owner.folder), "mcpServers": []})
            yield owner, gateway, one, session_id


def test_a_prompt_is_played_at_the_owner_and_its_text_comes_here(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (_, _, made, session_id):
            await made.play(session_id, ["say", "hello from afar"])
            assert "hello from afar" in made.text(session_id)

    run(check())


def test_a_permission_is_asked_here_and_answered_there(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (owner, _, made, session_id):
            turn = made.play(session_id, permission(title="Run", kind="execute", rawInput={"command": "make"}))
            ask = await made.asked()
            made.answer(ask, {"outcome": {"outcome": "selected", "optionId": ask["params"]["options"][0]["optionId"]}})
            assert result_of(await turn)["stopReason"] == "end_turn"
            session = await owner.hub.session(session_id)
            assert not session.fold.approvals

    run(check())


def test_a_permission_that_somebody_else_answers_is_taken_back_here(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (owner, gateway, made, session_id):
            turn = made.play(session_id, permission(title="Run", kind="execute", rawInput={"command": "make"}))
            ask = await made.asked()
            session = await owner.hub.session(session_id)
            (request_id,) = session.fold.approvals
            path = f"/sessions/{session_id}/permissions/{request_id}"
            decided = await gateway.ask("POST", path, json_body={"decision": "allow"})
            assert decided.status == 200, decided.body
            await made.until(lambda: {"requestId": ask["id"]} in made.notified("$/cancel_request"))
            assert result_of(await turn)["stopReason"] == "end_turn"

    run(check())


def test_files_and_terminals_are_the_editors(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path, "trusted", **FILES, **TERMINAL) as (owner, _, made, session_id):
            path = owner.folder / "a.txt"
            path.write_text("on disk")
            made.serves["fs/read_text_file"] = lambda params: {"content": "unsaved " * 50_000}
            made.serves["terminal/create"] = lambda params: {"terminalId": "t1"}
            await made.play(session_id, step("fs/read_text_file", path=str(path)),
                            step("terminal/create", command="ls", args=[]))
            assert made.text(session_id).count("unsaved ") == 50_000, "and long ones arrive whole"
            assert "t1" in made.text(session_id) or "terminalId" in made.text(session_id)
            asked = [each["method"] for each in made.heard if "id" in each and "method" in each]
            assert asked[:2] == ["fs/read_text_file", "terminal/create"]

    run(check())


def test_a_form_is_filled_in_here(tmp_path: Path, shared_nats: NatsServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = ["ask", "elicitation/create", {"message": "How many?", "mode": "form", "requestedSchema": schema}]

    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path, **FORM) as (_, _, made, session_id):
            turn = made.play(session_id, form)
            made.answer(await made.asked("elicitation/create"), {"action": "accept", "content": {"n": 3}})
            assert result_of(await turn)["stopReason"] == "end_turn"
            assert '"n": 3' in made.text(session_id)

    run(check())


def test_a_refusal_of_the_editors_reaches_the_owner(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path, "trusted", **FILES) as (owner, _, made, session_id):
            (owner.folder / "a.txt").write_text("on disk")
            made.serves["fs/read_text_file"] = lambda params: ValueError({"code": -32002, "message": "no such buffer"})
            await made.play(session_id, step("fs/read_text_file", path=str(owner.folder / "a.txt")))
            assert "on disk" in made.text(session_id), "who has no buffer of it leaves it to the disk"

    run(check())


def test_a_cancel_and_a_request_that_is_taken_back_reach_the_owner(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (_, _, made, session_id):
            for end in ("session/cancel", "$/cancel_request"):
                turn = made.play(session_id, permission(title="Run", kind="execute", rawInput={"command": "make"}))
                await made.asked()
                made.asks.clear()
                made.notify(end, {"sessionId": session_id} if end == "session/cancel" else {"requestId": made.last_id})
                assert result_of(await turn)["stopReason"] == "cancelled", end

    run(check())


def test_an_editor_that_leaves_ends_its_line_and_nothing_else(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (owner, gateway, made, session_id):
            await eventually(lambda: len(owner.switch) == 1)
            await made.leave()
            await eventually(lambda: len(owner.switch) == 0 and len(gateway.switch) == 0)
            assert (await gateway.ask("GET", f"/sessions/{session_id}")).status == 200

    run(check())


def test_an_owner_that_goes_ends_what_waits_and_the_next_request_finds_it_again(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (owner, _, made, session_id):
            turn = made.play(session_id, permission(title="Run", kind="execute", rawInput={"command": "make"}))
            await made.asked()
            await owner.switch.stop()
            with pytest.raises(Refused, match="owner is stopping"):
                result_of(await turn)
            with pytest.raises(Refused, match=r"owner (is not connected; nothing was done|went away before)"):
                await made.ask("session/set_mode", {"sessionId": session_id, "modeId": "x"})
            await owner.switch.start()
            await made.ask("session/resume", {"sessionId": session_id, "cwd": str(owner.folder)})

    run(check())


def test_a_session_of_this_node_is_served_here(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            gateway.owner = None
            async with editor(gateway, "demo", token=gateway.token) as made:
                session_id = await made.new(gateway.folder)
                gateway.owner = Owner("gateway")
                assert await made.turn(session_id, "/echo here") == "end_turn"
                assert len(owner.switch) == 0

    run(check())


def test_a_caller_that_may_only_look_may_only_look_there(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def check() -> None:
        async with at_gateway(shared_nats.url, tmp_path) as (_, gateway, _, session_id):
            made = await gateway.ask("POST", "/auth/tokens", json_body={"name": "t", "scope": "view"})
            async with editor(gateway, "demo", token=made.json()["secret"]) as viewer:
                await viewer.ask("session/load", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
                with pytest.raises(Refused, match="control"):
                    result_of(await asyncio.wait_for(viewer.prompt(session_id, "hi"), 30))

    run(check())


class FalseOwner:
    """The other end of an editor's line, which says what it likes. It is the line's ``Duplex``, and the editor's wire."""

    keeps = True

    def __init__(self) -> None:
        self.frames: asyncio.Queue[str | bytes] = asyncio.Queue()
        self.told: list[dict[str, Any]] = []
        self.shown: list[dict[str, Any]] = []

    async def send(self, message: Any, stream: str | None = None) -> None:
        if not isinstance(message, str):
            self.shown += map(json.loads, message)
            return
        said = json.loads(message)
        self.told.append(said)
        if "method" in said:
            self.say(id=said["id"], result={"sessionId": "forked"})

    async def receive(self) -> str | bytes:
        return await self.frames.get()

    def say(self, **message: Any) -> None:
        self.frames.put_nowait(json.dumps({"jsonrpc": "2.0", **message}))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        yield self


def test_an_owner_speaks_of_no_session_that_it_was_not_asked_about() -> None:
    async def check() -> None:
        owner, tasks = FalseOwner(), EditorTasks()
        line = OwnerLine(EditorLine(owner), tasks.spawn)  # type: ignore[arg-type]
        line.begin(owner.open, b"{}")
        for number, method in enumerate(("session/load", "session/fork")):
            await line.answer(method, EditorRequest(msgspec.Raw(str(number).encode()), b'{"sessionId":"own"}', None))
        owner.shown.clear()
        for name in ("other", "own", "forked", ""):
            owner.say(method="session/update", params={"sessionId": name, "update": {}})
        owner.say(id=7, method="fs/read_text_file", params={"sessionId": "other", "path": "/x"})
        owner.say(id=8, method="fs/read_text_file", params={"sessionId": "own", "path": "/x"})
        await eventually(lambda: len(owner.shown) == 4)
        assert [each["params"]["sessionId"] for each in owner.shown] == ["own", "forked", "", "own"]
        assert [each["id"] for each in owner.told if "error" in each] == [7]
        line.end()
        await eventually(lambda: owner.shown[-1]["method"] == "$/cancel_request")

    run(check())
