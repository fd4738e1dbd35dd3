"""Editors and clients on the WebSocket at a gateway: all sessions are there, also those whose owner is away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.cluster.showing.test_sight import say, shown
from tests.cluster.showing.world import node, owner_and_gateway, token
from tests.server.acp.editor import Refused, editor
from tests.server.context.ws.socket import connected
from tests.tooling.nats import NatsServer


def test_an_editor_lists_all_sessions_and_reads_those_of_a_node_that_is_away(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(stream.url, "web4", tmp_path, "gateway") as web, editor(web, "demo", token=token("web4")) as one:
            async with node(stream.url, "left", tmp_path) as box:
                session = await box.session()
                path = await shown(web, session)
                await say(box, path, "/echo for editors")
                await shown(web, session)
                listed = await one.ask("session/list", {})
                assert session.id in [each["sessionId"] for each in listed["sessions"]]
            await eventually(lambda: web.cluster.standing.away("left"))
            opening = {"sessionId": session.id, "cwd": str(web.folder), "mcpServers": []}
            await one.ask("session/load", opening)
            assert "for editors" in one.text(session.id)
            with pytest.raises(Refused, match="has not been heard of"):
                await one.ask("session/prompt", {"sessionId": session.id, "prompt": [{"type": "text", "text": "hello"}]})

    run(go())


def test_a_client_follows_one_session_and_all_of_them_and_comes_back_elsewhere(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            last = session.feed.last_seq
            async with connected(web, token("web")) as client:
                client.say("subscribe", id="one", sessions=[session.id], after=last)
                client.say("subscribe", id="all", sessions="*")
                assert (await client.until("resumed", subscription="one"))["seq"] == last
                everything = await client.until("snapshot", subscription="all")
                assert session.id in [each["id"] for each in everything["state"]["sessions"]]
                await say(web, path, "/echo to all")
                seqs: dict[str, list[int]] = {"one": [], "all": []}
                while not all(each[-1:] == [session.feed.last_seq] for each in seqs.values()):
                    told = await client.until("event")
                    seqs[told["subscription"]].append(told["event"]["seq"])
                assert seqs["one"] == seqs["all"] == list(range(last + 1, session.feed.last_seq + 1))
            async with connected(box, token("box")) as again:
                again.say("subscribe", id="one", sessions=[session.id], after=last + 2)
                again.say("subscribe", id="all", sessions="*", after=everything["seq"])
                await again.until("resumed", subscription="all")
                rest: list[dict[str, Any]] = []
                while len(rest) < 2 * len(seqs["all"]) - 2:
                    rest.append(await again.until("event"))
                assert [each["event"]["seq"] for each in rest if each["subscription"] == "one"] == seqs["one"][2:]
                assert [each["event"]["seq"] for each in rest if each["subscription"] == "all"] == seqs["all"]
                again.say("subscribe", id="old", sessions="*", after=3)
                assert (await again.until("gap", subscription="old"))["from"] == 3
                await again.until("snapshot", subscription="old")

    run(go())


def test_what_is_asked_at_another_node_reaches_every_client_and_is_in_the_list(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            async with connected(web, token("web")) as client:
                taken = await web.ask("POST", f"{path}/send-message", json_body={"content": "/ask"})
                assert taken.status == 202, taken.body
                assert (await client.event("approval:requested"))["event"]["sessionId"] == session.id
                [waiting] = [each for each in (await web.get("/approvals"))["pending"] if each["sessionId"] == session.id]
                request = waiting["approval"]["requestId"]
                shown_rule = await web.ask("POST", f"/approvals/{request}/always-preview", json_body={"decision": "allow"})
                assert shown_rule.status == 200, shown_rule.body
                decided = await web.ask("POST", f"{path}/permissions/{request}", json_body={"decision": "allow"})
                assert decided.status == 200, decided.body
                assert (await client.event("approval:resolved"))["event"]["requestId"] == request
                assert session.id not in [each["sessionId"] for each in (await web.get("/approvals"))["pending"]]

    run(go())


def test_a_session_that_is_deleted_ends_its_subscriptions_at_the_gateway(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            async with connected(web, token("web")) as client:
                client.say("subscribe", id="one", sessions=[session.id])
                client.say("subscribe", id="all", sessions="*")
                await client.until("snapshot", subscription="all")
                assert (await box.ask("DELETE", path)).status in (200, 204)
                kinds: set[str] = set()
                while kinds != {"ack", "deleted"}:
                    frame = await client.hear()
                    if frame["type"] == "ack" and not frame["ok"]:
                        assert frame["error"]["code"] == "session_deleted" and frame["id"] == "one"
                        kinds.add("ack")
                    elif frame["type"] == "deleted":
                        assert frame["sessionId"] == session.id
                        kinds.add("deleted")

    run(go())
