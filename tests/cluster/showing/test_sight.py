"""A gateway that owns nothing shows all sessions by itself, through every face; and says who is away."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.aio import eventually, run
from tests.cluster.shipping.owner import messages
from tests.cluster.showing.world import Node, node, owner_and_gateway
from tests.cluster.test_nodes import joined, row
from tests.cluster.tunnel.world import admit, started
from tests.server.site import STREAM, frames
from tests.tooling.nats import NatsServer
from trunkline.cluster import node as cluster_node
from trunkline.cluster import nodes, subjects, wire
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.ending import remove_session
from trunkline.cluster.showing import everything
from trunkline.cluster.showing import sight as sights
from trunkline.cluster.tunnel.owner import OwnerEnd
from trunkline.cluster.tunnel.switch import Switch
from trunkline.hub import Session

READS = ("", "/snapshot", "/messages", "/history", "/history?joined=true", "/export?format=markdown")


async def shown(gateway: Node, session: Session) -> str:
    """The session's path, once the gateway has it with all that is in it now."""
    await eventually(lambda: gateway.sight.shows(session.id))
    found = await gateway.sight.session(session.id)
    assert await found.feed.has(session.feed.last_seq)
    return f"/sessions/{session.id}"


async def say(at: Node, path: str, content: str) -> list[tuple[int, dict[str, Any]]]:
    answer = await at.ask("POST", f"{path}/send-message", json_body={"content": content}, headers=STREAM)
    assert answer.status == 200, answer.body
    return frames(answer.body)


async def pieces_until(exchange: Any, what: bytes) -> bytes:
    """What a stream sends, up to something that it must have."""
    found = b""
    while what not in found:
        piece = await exchange.piece()
        assert piece is not None, found
        found += piece
    return found


def test_every_face_that_reads_says_at_the_gateway_what_it_says_at_the_owner(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            packets = await say(web, path, "/echo hello")
            assert packets[-1][1]["type"] == "prompt_response"
            await shown(web, session)
            for route in READS:
                here, there = await box.ask("GET", path + route), await web.ask("GET", path + route)
                assert (here.status, here.body) == (there.status, there.body), route
            assert web.cluster.connection.node == "web" and (await web.get(path))["node"] == "box"
            [listed] = [each for each in (await web.get("/sessions"))["sessions"] if each["id"] == session.id]
            assert (listed["node"], listed["lastSeq"], listed["title"]) == ("box", session.feed.last_seq, "/echo hello")
            assert (await web.get("/sessions?node=web"))["sessions"] == []

    run(go())


def test_a_deleted_session_is_shown_by_no_gateway_though_the_stream_has_it(
        stream: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a node's own key, which may take nothing out: not to who had it open, nor to one that comes later."""
    monkeypatch.setattr(cluster_node, "remove_session", lambda *args, may_erase: remove_session(*args, may_erase=False))
    monkeypatch.setattr(everything, "RETRIES", 3)

    async def nothing_at(gateway: Node, session_id: str) -> None:
        for route in READS:
            assert (await gateway.ask("GET", f"/sessions/{session_id}{route}")).status == 404, route
        assert session_id not in [each["id"] for each in (await gateway.get("/sessions"))["sessions"]]
        assert (await gateway.get("/search?q=unspeakable"))["hits"] == []
        feed, after = await gateway.sight.whole(), 0
        while page := await feed.read(after=after):
            assert session_id not in [each for each, _ in page]
            after = page[-1][1].pos

    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            other, session = await box.session(), await box.session()
            path = await shown(web, session)
            await say(web, path, "/echo unspeakable")
            kept = await shown(web, session)
            assert b"unspeakable" in (await web.ask("GET", f"{kept}/history")).body
            removed = (await web.ask("DELETE", path)).json()
            assert removed["unswept"] and not removed["purged"] and not removed["erased"]
            async with node(stream.url, "late", tmp_path, "gateway") as late:
                await shown(late, other)
                for gateway in (web, late, box):
                    while gateway.sight.shows(session.id):  # noqa: ASYNC110 - its row is on its way, for milliseconds
                        await asyncio.sleep(0.01)
                    await nothing_at(gateway, session.id)
                left = await messages(late.cluster.connection, session.id)
                assert wire.ENTRIES in [each.headers[wire.KIND] for each in left], "the stream has it"
                stale = StreamReader(late.cluster.connection, lambda session_id: "box")
                assert await stale.read(session.id) == await stale.read(session.id, tail=True) == []

    run(go())


def test_a_cursor_goes_on_at_the_gateway_at_the_owner_and_back(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            await say(box, path, "/echo one two three")
            await shown(web, session)
            whole = await box.get(f"{path}/history?limit=5000")
            seqs: list[int] = []
            while len(seqs) < whole["lastSeq"]:
                at = (box, web)[len(seqs) // 2 % 2]
                reading = at.open("GET", f"{path}/events?after={len(seqs)}", headers=STREAM)
                await reading.start()
                wanted = min(len(seqs) + 2, whole["lastSeq"])
                seqs += [seq for seq, _ in frames(await pieces_until(reading, b"id: %d\n" % wanted)) if seq <= wanted]
                await reading.leave()
            assert seqs == list(range(1, whole["lastSeq"] + 1))

    run(go())


def test_a_stream_at_the_gateway_hears_what_happens(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            one = web.open("GET", f"{path}/packets?after={session.feed.last_seq}", headers=STREAM)
            everything = web.open("GET", "/events", headers=STREAM)
            for stream_ in (one, everything):
                await stream_.start()
            assert (await everything.piece() or b"").startswith(b"id: ")
            told = await say(box, path, "/echo live")
            assert frames(await pieces_until(one, b'"prompt_response"')) == told
            events = frames(await pieces_until(everything, b'"session:status_changed"'))
            places = [place for place, _ in events]
            assert places == sorted(set(places)) and {event["sessionId"] for _, event in events} == {session.id}
            for stream_ in (one, everything):
                await stream_.leave()
            again = web.open("GET", f"/events?after={places[2]}", headers=STREAM)
            await again.start()
            rest = frames(await pieces_until(again, b"id: %d\n" % places[-1]))
            assert [place for place, _ in rest][:len(places) - 3] == places[3:]
            await again.leave()

    run(go())


def test_what_is_changed_through_the_gateway_is_seen_there_at_once(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (_, web):
            await eventually(lambda: web.cluster.nodes.is_there("box"))
            body = {"agent": "demo", "cwd": str(web.folder)}
            made = await web.ask("POST", "/sessions?node=box", json_body=body)
            assert made.status == 201, made.body
            path = made.header("location")
            assert path == f"/sessions/{made.json()['id']}"
            assert (await web.get(path))["node"] == "box"
            assert made.json()["id"] in [each["id"] for each in (await web.get("/sessions"))["sessions"]]
            await web.ask("PATCH", path, json_body={"title": "Renamed"})
            assert (await web.get(path))["title"] == "Renamed"
            assert "Renamed" in [each["title"] for each in (await web.get("/sessions"))["sessions"]]
            assert (await web.ask("DELETE", path)).status in (200, 204)
            assert (await web.ask("GET", path)).status == 404
            assert made.json()["id"] not in [each["id"] for each in (await web.get("/sessions"))["sessions"]]

    run(go())


def test_search_asks_all_nodes_and_names_those_that_did_not_answer(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(stream.url, "one", tmp_path) as one, node(stream.url, "web2", tmp_path, "gateway") as web:
            async with node(stream.url, "two", tmp_path) as two:
                for each in (one, two):
                    session = await each.session()
                    await say(each, f"/sessions/{session.id}", f"/echo quixotic at {each.cluster.node}")
                    await shown(web, session)
                await eventually(lambda: {"one", "two"} <= set(web.cluster.nodes.rows))
                found = await web.get("/search?q=quixotic")
                assert {hit["node"] for hit in found["hits"]} == {"one", "two"} and "two" not in found["missing"]
                assert {hit["node"] for hit in (await web.get("/search?q=quixotic&node=one"))["hits"]} == {"one"}
                assert (await web.get("/found"))["sessions"] == [] and (await web.get("/sessions?found=true"))["found"] == []
            await eventually(lambda: "two" not in web.cluster.nodes.rows)
            found = await web.get("/search?q=quixotic")
            assert {hit["node"] for hit in found["hits"]} == {"one"} and "two" in found["missing"]

    run(go())


def test_sessions_of_a_node_that_is_away_are_read_and_not_written(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(stream.url, "web3", tmp_path, "gateway") as web:
            async with node(stream.url, "gone", tmp_path) as box:
                session = await box.session()
                path = await shown(web, session)
                await say(box, path, "/echo still here")
                await shown(web, session)
            await eventually(lambda: web.cluster.standing.away("gone"))
            view = await web.get(path)
            assert view["node"] == "gone" and view["nodeAway"].startswith("gone has not been heard of since")
            listed = next(each for each in (await web.get("/sessions"))["sessions"] if each["id"] == session.id)
            assert listed["nodeAway"] == view["nodeAway"]
            assert b"still here" in (await web.ask("GET", f"{path}/export")).body
            refused = await web.ask("POST", f"{path}/send-message", json_body={"content": "hello"})
            assert (refused.status, refused.json()["code"], refused.json()["details"]["node"]) == (503, "node_away", "gone")
            assert "has not been heard of since" in refused.json()["message"]

    run(go())


def test_a_node_that_falls_silent_is_away_when_its_lease_is_over(stream: NatsServer, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    assert nodes.LEASE_S + nodes.RENEW_S <= 35

    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            assert "nodeAway" not in await web.get(path)
            monkeypatch.setattr(nodes, "LEASE_S", 0)
            assert (await web.get(path))["nodeAway"].startswith("box has not been heard of since")

    run(go())


def test_a_place_of_an_older_generation_gets_a_gap_and_goes_on_at_the_end(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            following = web.open("GET", "/events", headers=STREAM)
            await following.start()
            place = int((await pieces_until(following, b"\n\n")).split()[1])
            generation = web.cluster.generation
            await box.cluster.state.put(subjects.GENERATION, str(generation + 1).encode())
            while await following.piece() is not None:
                continue  # it ends: its reader begins anew
            again = web.open("GET", f"/events?after={place}", headers=STREAM)
            await again.start()
            gap = await pieces_until(again, b"\n\n")
            told = json.loads(gap.partition(b"data: ")[2])
            assert gap.startswith(b"event: gap\n") and told["from"] == place and told["seq"] > place
            await again.leave()

    run(go())


def test_a_cursor_beyond_the_sessions_end_gets_a_gap_and_goes_on_behind_it(stream: NatsServer, tmp_path: Path,
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        monkeypatch.setattr("trunkline.cluster.showing.remote.BEHIND_S", 0.05)
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            last = session.feed.last_seq
            for route, kind in (("packets", "gap"), ("events", "custom")):
                reading = web.open("GET", f"{path}/{route}?after={last + 50}", headers=STREAM)
                await reading.start()
                [(place, told)] = frames(await pieces_until(reading, b"\n\n"))
                assert (place, told["type"]) == (last, kind)
                await reading.leave()

    run(go())


def test_without_its_cluster_a_hub_tells_what_happens_at_itself(nats: NatsServer, tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cluster.shipping.owner import set_up

    async def go() -> None:
        monkeypatch.setattr(sights, "ALONE_AFTER_S", 0.05)
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path) as box:
            session = await box.session()
            path = await shown(box, session)
            whole = await box.sight.whole()
            await asyncio.to_thread(nats.kill)
            await eventually(lambda: whole.closed and box.sight.everything is not whole)
            following = box.open("GET", "/events", headers=STREAM)
            await following.start()
            await pieces_until(following, b"id: ")
            await say(box, path, "/echo alone")
            assert b"alone" in await pieces_until(following, b'"session:status_changed"')
            await asyncio.to_thread(nats.start)
            while await following.piece() is not None:
                continue
            assert (await box.sight.whole()).continues(box.sight.everything.last_pos)

    run(go())


def test_a_session_that_was_started_through_the_gateway_is_in_its_list_with_its_title(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            await eventually(lambda: "box" in web.cluster.nodes.rows)
            for number in range(3):
                title = f"Number {number}"
                made = await web.ask("POST", "/sessions", json_body={"agent": "demo", "cwd": str(box.folder), "title": title})
                assert made.status == 201, made.body
                assert title in [each["title"] for each in (await web.get("/sessions?text=nUmBer"))["sessions"]]

    run(go())


def test_what_a_node_says_of_anothers_session_makes_nobody_wait(stream: NatsServer, tmp_path: Path) -> None:
    """Its answer calls that session made here just now, and far ahead: every reader would wait for entries that never come."""
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web), joined(stream.url, row("evil")) as evil:
            session = await box.session()
            await shown(web, session)
            await eventually(lambda: "evil" in web.cluster.nodes.rows)

            async def lie(scope: Scope, receive: Receive, send: Send) -> None:
                location = (b"location", f"/sessions/{session.id}".encode())
                await send({"type": "http.response.start", "status": 200, "headers": [location]})
                await send({"type": "http.response.body", "body": b"{}"})

            end = OwnerEnd(lie, admit, lambda session_id, epoch: None, lambda session_id: 1 << 40)
            async with started(Switch(evil._connection, end.serve)):
                assert (await web.ask("GET", "/folders?node=evil")).status == 200
            assert not web.sight._listed.is_expected(session.id)

    run(go())


def test_how_long_a_session_is_late_is_seen_at_the_gateway(stream: NatsServer, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        async with owner_and_gateway(stream.url, tmp_path) as (box, web):
            session = await box.session()
            path = await shown(web, session)
            assert "lag" not in await web.get(path)
            for lags in ({session.id: 4.5}, {}):
                monkeypatch.setattr(box.cluster.shipper, "lags", lambda lags=lags: lags)
                await box.cluster.nodes.renew()
                await eventually(lambda lags=lags: web.cluster.nodes.rows["box"].lag == lags)  # type: ignore[misc]
                [listed] = [each for each in (await web.get("/sessions?node=box"))["sessions"] if each["id"] == session.id]
                assert [each.get("lag") for each in (await web.get(path), listed)] == [lags.get(session.id)] * 2

    run(go())


def test_a_node_that_never_was_is_unknown_and_one_that_was_is_away(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(stream.url, "web5", tmp_path, "gateway") as web:
            async with node(stream.url, "was", tmp_path) as box:
                await eventually(lambda: "was" in web.cluster.nodes.rows)
                assert await web.get("/agents?node=was") and box
            await eventually(lambda: web.cluster.standing.away("was"))
            for name, status, code in (("was", 503, "node_away"), *((odd, 404, "node_unknown") for odd in ("never", "%ff.%3e"))):
                answer = await web.ask("GET", f"/agents?node={name}")
                assert (answer.status, answer.json()["code"]) == (status, code)

    run(go())
