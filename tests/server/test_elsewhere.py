"""A hub that owns nothing answers for one that does: the same answers, and no more rights than either gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.cluster.conftest import shared_nats as shared_nats
from tests.cluster.connecting import connected
from tests.cluster.tunnel.hubs import Node, token, two_nodes
from tests.cluster.tunnel.world import Client
from tests.server.context.ws.socket import Socket
from tests.server.context.ws.socket import connected as on_websocket
from tests.server.context.ws.test_commands import messages_of, order, over
from tests.server.files.test_preview import with_artifacts
from tests.server.site import STREAM, frames
from tests.tooling.nats import NatsServer
from trunkline.cluster.tunnel.gateway import Gateway, Owner
from trunkline.cluster.tunnel.heads import Claim
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import Invalid
from trunkline.server.files.preview_keys import Previews
from trunkline.server.routes import ROUTES

READ_ALIKE = ("", "/files", "/files/content?path=notes.txt", "/files/find?q=note", "/diff", "/queue", "/artifacts", "/messages",
              "/history", "/snapshot", "/export", "/export?format=json", "/handover")


def test_what_changes_a_session_is_its_owners_and_what_reads_it_is_anybodys() -> None:
    of_sessions = [route for route in ROUTES if route.path.startswith("/sessions/{id}") and route.path != "/sessions/{id}/move"]
    assert {route.at for route in of_sessions} <= {"owner", "shown", "placed"}
    shown = [route for route in of_sessions if route.at == "shown"]
    assert len(shown) == 8 and all((route.method, route.scope) == ("GET", "view") for route in shown)
    own = ("/auth", "/pair/", "/devices", "/push", "/policy")
    assert {route.path for route in ROUTES if route.path.startswith(own) and route.at != "any"} == {"/policy/explain"}


def test_what_is_read_at_a_gateway_is_what_is_read_at_the_owner(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            (owner.folder / "notes.txt").write_text("what an agent wrote")
            session = await owner.session()
            await owner.turn(session, "/echo hello")
            for path in READ_ALIKE:
                there, here = [await each.ask("GET", f"/sessions/{session.id}{path}") for each in (owner, gateway)]
                assert (here.status, without_clock(here.body)) == (there.status, without_clock(there.body)), path
                assert here.status == 200, path
                assert sorted(here.headers) == sorted(there.headers), path

    run(go())


def without_clock(body: bytes) -> bytes:
    """An export says when it was made."""
    return re.sub(rb'"exportedAt":"[^"]*"', b"", body)


def test_a_turn_is_streamed_through_a_gateway(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            turn = await gateway.turn(session, "/echo hello")
            assert turn[-1][1]["type"] == "prompt_response"
            stored = frames(await stream_to_end(gateway, f"/sessions/{session.id}/packets", turn[-1][0]))
            assert stored[-len(turn):] == turn

    run(go())


async def stream_to_end(node: Node, path: str, last: int) -> bytes:
    """All frames of a stream up to the one with this id."""
    exchange = node.open("GET", path, headers=STREAM)
    assert (await exchange.start())[0] == 200
    got = b""
    while b"id: %d\n" % last not in got:
        got += await exchange.piece() or b""
    await exchange.leave()
    return got


def test_what_is_done_at_a_gateway_is_done_at_the_owner(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            at = f"/sessions/{session.id}"
            uploaded = await gateway.ask("POST", f"{at}/files?path=up.bin", body=[b"some ", b"bytes"])
            assert (uploaded.status, (owner.folder / "up.bin").read_bytes()) == (201, b"some bytes")
            assert (await gateway.ask("PATCH", at, json_body={"title": "named elsewhere"})).json()["title"] == "named elsewhere"
            done = await gateway.ask("POST", f"{at}/commands", json_body=send_message("c1", "/echo hello"))
            assert done.status == 200, done.body
            await eventually(lambda: session.fold.turn is None)
            by = [json.loads(entry.event) for entry in await session.feed.read(after=0)]
            assert any("main at gateway" in json.dumps(event) for event in by)

    run(go())


def send_message(command_id: str, text: str) -> dict[str, Any]:
    return {"id": command_id, "command": {"command": "send_message", "message": text}}


def test_no_token_enters_a_tunnel(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        said: list[bytes] = []

        async def hear(message: Any) -> None:
            said.append(message.subject.encode() + b" " + message.data)

        async with connected(shared_nats.url, node="spy") as spy, two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            await spy.subscribe("tl.node.>", hear)
            for _ in range(2):
                await spy.client.flush()
            session = await owner.session()
            cookies = {"cookie": "trunkline=some secret"}
            answer = await gateway.ask("GET", f"/sessions/{session.id}/files", headers=cookies)
            assert answer.status == 200
            await eventually(lambda: any(b".back." in each and b"content-type" in each for each in said))
            assert b"main" in b"".join(said), "it says who asks"
            for secret in (token("gateway").encode(), token("owner").encode(), b"some secret", b"uthorization"):
                assert secret not in b"".join(said)

    run(go())


def test_a_gateway_that_is_not_on_the_list_reads_at_most(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path, acting=("another",)) as (owner, gateway):
            session = await owner.session()
            assert (await gateway.ask("GET", f"/sessions/{session.id}/files")).status == 200
            for method, path, body in (("POST", "/commands", send_message("c1", "hi")), ("POST", "/files?path=x", {}),
                                       ("DELETE", "", None), ("POST", "/permissions/p1", {"decision": "allow"})):
                refused = await gateway.ask(method, f"/sessions/{session.id}{path}", json_body=body)
                assert refused.status == 403, path
                assert "gateway may only read here" in refused.json()["message"]
            assert not (owner.folder / "x").exists()

    run(go())


def test_a_caller_goes_no_further_than_its_token_at_the_gateway(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            made = (await gateway.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "approve"})).json()
            for path, expected in (("/permissions/p1", 404), ("/cancel", 403)):
                answer = await gateway.ask("POST", f"/sessions/{session.id}{path}", json_body={"decision": "allow"},
                                           token=made["secret"])
                assert answer.status == expected, answer.body

    run(go())


def test_what_a_forged_head_says_is_looked_at_again(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            for claim, path, expected in (
                (Claim("t", "x", "view"), f"/sessions/{session.id}/cancel", 403),
                (Claim("t", "x", "admin"), "/auth/tokens", 403),
                (Claim("t", "x", "admin"), "/policy", 403),
                (None, f"/sessions/{session.id}/cancel", 403),
            ):
                assert await forged(gateway.switch, claim, "POST" if "cancel" in path else "GET", path) == expected, path
            for claim in (Claim("t", "x", "root"), Claim("t", "a\nb", "view")):
                with pytest.raises(Invalid):
                    await forged(gateway.switch, claim, "GET", f"/sessions/{session.id}")

    run(go())


async def forged(switch: Switch, claim: Claim | None, method: str, path: str) -> int:
    """The status of what a gateway sends that looked at nothing."""
    client = Client(Gateway(switch), method, path, headers=[(b"host", b"localhost")], owner=Owner("owner"), claim=claim)
    return (await client.whole())[0]


def test_a_request_for_an_earlier_epoch_is_refused(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            owner.epoch, gateway.owner = 5, Owner("owner", 4)
            answer = await gateway.ask("POST", f"/sessions/{session.id}/cancel")
            assert (answer.status, answer.json()["code"]) == (421, "not_owner")
            gateway.owner = Owner("owner", 5)
            assert (await gateway.ask("POST", f"/sessions/{session.id}/cancel")).status == 200

    run(go())


def test_a_request_that_meets_an_earlier_owner_goes_to_the_one_that_is(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            owner.epoch, gateway.owner, asked = 5, Owner("owner", 4), []

            def check(session: str, epoch: int) -> None:
                asked.append(epoch)
                gateway.owner = Owner("owner", 5)  # the directory hears of it a moment later
                Node.check_owner(owner, session, epoch)

            owner.check_owner = check  # type: ignore[method-assign]
            assert (await gateway.ask("POST", f"/sessions/{session.id}/cancel")).status == 200
            assert asked == [4, 5]

    run(go())


def test_an_owner_that_is_away_is_an_answer_with_the_reason(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (_, gateway):
            gateway.owner = Owner("laptop")
            answer = await gateway.ask("POST", "/sessions/s1/commands", json_body=send_message("c1", "hi"))
            assert (answer.status, answer.json()["code"]) == (503, "node_away")
            assert "laptop is not connected; nothing was done" in answer.json()["message"]

    run(go())


def test_limits_are_those_of_the_owner(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path, upload_limit=300_000) as (owner, gateway):
            session = await owner.session()
            path = f"/sessions/{session.id}/files?path=large.bin"
            announced = await gateway.ask("POST", path, body=bytes(300_001), headers={"content-length": "300001"})
            grown = await gateway.ask("POST", path, body=[bytes(100_000)] * 5)
            assert (announced.status, grown.status) == (413, 413)
            assert not list(owner.folder.iterdir())

    run(go())


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            exchange = gateway.open("POST", f"/sessions/{session.id}/files?path=half.bin", body=[bytes(200_000)] * 3)
            exchange.cut_short()
            await eventually(lambda: any(owner.folder.iterdir()))
            await exchange.leave()
            await eventually(lambda: not any(owner.folder.iterdir()))
            await eventually(lambda: len(owner.switch) == 0)

    run(go())


def test_a_token_that_is_revoked_ends_its_streams_from_other_nodes(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            made = (await gateway.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "view"})).json()
            stream = gateway.open("GET", f"/sessions/{session.id}/packets", headers=STREAM, token=made["secret"])
            assert (await stream.start())[0] == 200
            assert (await gateway.ask("DELETE", f"/auth/tokens/{made['token']['id']}")).status == 204
            await stream.task
            await eventually(lambda: len(owner.switch) == 0 and len(gateway.switch) == 0)

    run(go())


def test_a_preview_is_seen_at_a_gateway_under_its_key(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session, _ = await with_artifacts(owner)
            listed = (await gateway.ask("GET", f"/sessions/{session.id}/artifacts")).json()
            shop = next(each["preview_url"] for each in listed if each["name"] == "shop")
            assert Previews.node_of(shop.split("/")[2]) == "owner"
            for path in (shop, f"{shop}app.js", f"{shop}css", f"{shop}none.js"):
                here, there = [await each.ask("GET", path, token=None) for each in (gateway, owner)]
                assert (here.status, here.body, sorted(here.headers)) == (there.status, there.body, sorted(there.headers)), path
            new = f"/sessions/{session.id}/artifacts/{listed[0]['id']}/preview"
            made = await gateway.ask("POST", new, json_body={"live": True})
            assert made.status == 201 and "/preview/owner-" in made.json()["preview_url"]

    run(go())


def test_a_folder_is_looked_at_on_the_node_that_is_named(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            (owner.folder / "inside").mkdir()
            answer = await gateway.ask("GET", f"/folders?path={owner.folder}&node=owner")
            assert answer.status == 200 and b"inside" in answer.body
            assert owner.app.clients == 0
            assert (await gateway.ask("GET", "/agents?node=nowhere")).json()["code"] == "node_away"
            for name in ("owner.http", "*", "a%20b", ">"):
                assert (await gateway.ask("GET", f"/agents?node={name}")).status == 400, name
                assert (await gateway.ask("GET", f"/preview/{name}-0123/", token=None)).status == 400, name

    run(go())


def test_a_command_on_the_websocket_is_carried_out_at_the_owner_once(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            async with on_websocket(gateway, gateway.token) as socket:
                acks = [await order(socket, session, "send_message", message="/echo once") for _ in range(2)]
                assert acks[0]["ok"] and acks[0]["result"] == acks[1]["result"]
                await over(session)
                assert await messages_of(session) == ["/echo once"]
                unknown = await order(socket, session, "answer_question", "d", questionId="none", answer="x")
                assert (unknown["ok"], unknown["error"]["code"]) == (False, "not_found")
            gateway.owner = Owner("laptop")
            async with on_websocket(gateway, gateway.token) as socket:
                away = await order(socket, session, "cancel", "e")
                assert (away["ok"], away["error"]["code"]) == (False, "node_away")

    run(go())


def test_a_hub_says_in_its_welcome_what_it_is_called_in_its_cluster(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (_, gateway):
            socket = Socket(gateway)
            assert (await socket.hello(gateway.token))["node"] == "gateway"
            await socket.leave()

    run(go())


def test_what_another_nodes_policy_says_is_asked_there(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (owner, gateway):
            session = await owner.session()
            question = {"command": "ls", "sessionId": session.id}
            here = await gateway.ask("POST", "/policy/explain", json_body=question)
            there = await gateway.ask("POST", "/policy/explain?node=owner", json_body=question)
            assert (here.status, there.status) == (404, 200)

    run(go())
