"""A hub in its cluster, as people run it: what it shows is in the stream, whatever happens to it or to the servers."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import SMALL, set_up
from tests.cluster.test_nodes import row as node_row
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.nats import NatsServer, until
from tests.tooling.processes import freeze
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.jetstream import Ack
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.roles import Role, new_member, server_config
from trunkline.cluster.shipping.claim import claim, last_known
from trunkline.cluster.streams import configs, make_all
from trunkline.cluster.table import Table
from trunkline.dialects.outside import Json
from trunkline.journal.base import Entry


@pytest.fixture
def ready(nats: NatsServer) -> Iterator[NatsServer]:
    run(set_up(nats.url))
    yield nats


def in_cluster(root: Path, nats: NatsServer, *flags: str, node: str = "box") -> HubProcess:
    return HubProcess(root / node, "--cluster", nats.url, "--node", node, *flags)


def streamed(nats: NatsServer, session_id: str, pool: str = "box") -> list[Entry]:
    """All entries of a session, as another node reads them."""
    async def read() -> list[Entry]:
        async with connected(nats.url, node="web") as connection:
            found: list[Entry] = []
            reader = StreamReader(connection, lambda _: pool)
            while page := await reader.read(session_id, after=found[-1].seq if found else 0):
                found += page
            return found

    return run(read())


def last_seq(session: Session) -> int:
    return int(session.view()["lastSeq"])


def is_streamed(nats: NatsServer, session: Session) -> bool:
    found = streamed(nats, session.id)
    return bool(found) and found[-1].seq == last_seq(session)


def check_whole(nats: NatsServer, session: Session) -> None:
    """The stream has exactly what the session's own hub has."""
    until(lambda: is_streamed(nats, session), "the stream never got all of the session")
    found = streamed(nats, session.id)
    assert [each.seq for each in found] == list(range(1, last_seq(session) + 1))


def row_of(nats: NatsServer, session_id: str, pool: str = "box") -> Json | None:
    async def read() -> Json | None:
        async with connected(nats.url, node="web") as connection:
            stream = subjects.bucket_stream(subjects.SESSIONS)
            key = subjects.key(subjects.SESSIONS, subjects.session_key(pool, session_id))
            found = await jetstream.last_message(connection, stream, key)
            return json.loads(found.data) if found is not None and found.data else None

    return run(read())


@pytest.mark.parametrize("commit", ["local", "all"])
def test_what_a_hub_shows_is_in_the_stream_and_its_row_says_where(ready: NatsServer, tmp_path: Path, commit: str) -> None:
    with in_cluster(tmp_path, ready, "--commit", commit) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        check_whole(ready, session)
        until(lambda: (row_of(ready, session.id) or {}).get("status") == "idle", "the row never said that the turn is over")
        row = row_of(ready, session.id)
        assert row is not None and (row["owner"], row["pool"], row["agent"], row["epoch"]) == ("box", "box", "fast", 1)


def test_with_all_nobody_sees_what_the_stream_does_not_have(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready, "--commit", "all") as hub:
        session = hub.new_session()
        seen = [packet["seq"] for packet in session.say("/echo hello") if "seq" in packet]
        found = {each.seq for each in streamed(ready, session.id)}
        assert set(seen) <= found and last_seq(session) in found


def test_a_hub_that_was_killed_ships_the_rest_at_its_next_start(ready: NatsServer, tmp_path: Path) -> None:
    hub = in_cluster(tmp_path, ready)
    hub.start()
    session = hub.new_session()
    session.say("/echo hello")
    ready.kill()
    session.say("/echo while the cluster is away")
    hub.kill()
    ready.start()
    ready.wait_ready()
    hub.start()
    check_whole(ready, session)
    session.say("/echo and on")
    check_whole(ready, session)
    hub.close()


def test_a_hub_of_before_brings_its_sessions_along(ready: NatsServer, tmp_path: Path) -> None:
    alone = HubProcess(tmp_path / "box")
    alone.start()
    session = alone.new_session()
    session.say("/echo hello")
    alone.stop()
    with in_cluster(tmp_path, ready) as hub:
        again = Session(hub, session.id, session.folder)
        check_whole(ready, again)
        until(lambda: row_of(ready, session.id), "the directory never had it")


def test_a_hub_starts_and_works_while_the_cluster_is_away(ready: NatsServer, tmp_path: Path) -> None:
    ready.kill()
    with in_cluster(tmp_path, ready) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        ready.start()
        ready.wait_ready()
        check_whole(ready, session)


def test_a_deleted_session_leaves_the_cluster(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        check_whole(ready, session)
        session.delete()
        until(lambda: streamed(ready, session.id) == [], "the stream still has it")
        until(lambda: row_of(ready, session.id) is None, "the directory still has it")


def test_a_session_that_is_deleted_while_the_cluster_is_away_leaves_it_later(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        check_whole(ready, session)
        ready.kill()
        until(lambda: not hub.wire.get("/cluster")["connected"], "the hub never noticed")
        removed = hub.wire.ask("DELETE", session.path).expect(200)
        assert (removed["erased"], removed["purged"]) == (0, False) and "still in the cluster" in removed["why"]
        ready.start()
        ready.wait_ready()
        until(lambda: streamed(ready, session.id) == [], "the stream still has it")


def test_the_command_line_shows_who_is_there(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready, "--labels", "gpu=yes") as hub:
        session = hub.new_session()
        session.say("/echo hello")
        check_whole(ready, session)
        until(lambda: row_of(ready, session.id), "the directory never had it")
        until(lambda: "box" in hub.command("cluster", "nodes", "--cluster", ready.url).stdout, "the node is not listed")
        shown = json.loads(hub.command("cluster", "status", "--cluster", ready.url, "--json").stdout)
        [node] = shown["nodes"]
        assert (node["node"], node["role"], node["labels"]) == ("box", "hub", {"gpu": "yes"})
        assert shown["sessions"] == {"box": 1}
        assert next(each for each in shown["streams"] if each["name"] == "TL_J")["messages"] >= 1
        text = hub.command("cluster", "status", "--cluster", ready.url).stdout
        assert "box" in text and "TL_J" in text and "1 of 1" in text


def test_a_frozen_owner_whose_session_was_taken_over_puts_its_rest_aside(ready: NatsServer, tmp_path: Path) -> None:
    """It is stopped, another node claims its session, and it goes on: nothing of it reaches the stream any more."""
    async def take_over(session_id: str) -> None:
        async with connected(ready.url, node="other") as other:
            known = await last_known(other, "box", session_id)
            await claim(other, "box", session_id, known, incarnation="j", why="asked by ada")

    with in_cluster(tmp_path, ready) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        check_whole(ready, session)
        before = streamed(ready, session.id)
        freeze(hub.pid)
        run(take_over(session.id))
        os.kill(hub.pid, signal.SIGCONT)
        session.say("/echo I was away")
        until(lambda: hub.wire.ask("GET", session.path).status == 404, "the session is still this hub's")
        [kept] = (hub.data / "quarantine").iterdir()
        assert "I was away" in kept.read_text() and kept.name == f"{session.id}-2.jsonl"
        assert streamed(ready, session.id) == before
        assert "was taken over by another node" in hub.log()


@contextmanager
def keyed(folder: Path, *members: tuple[str, Role]) -> Iterator[NatsServer]:
    """A server with its streams that knows these and an admin by their keys, all of the pool ``farm``."""
    everybody: list[tuple[str, Role]] = [("admin", "admin"), *members]
    made = [new_member(node, role, "farm") for node, role in everybody]
    for member, seed in made:
        (folder / f"{member.node}.seed").write_text(seed)
        (folder / f"{member.node}.seed").chmod(0o600)

    async def prepare(url: str) -> None:
        async with connected(url, node="admin", credentials=folder / "admin.seed") as admin:
            await make_all(admin, configs(1, SMALL))

    with NatsServer(folder / "nats", more=server_config("ours", [member for member, _ in made])) as server:
        run(prepare(server.url))
        yield server


def runner(folder: Path, server: NatsServer) -> HubProcess:
    """``box``, with its key."""
    return in_cluster(folder, server, "--role", "runner", "--pool", "farm", "--cluster-credentials", str(folder / "box.seed"))


def test_a_runner_needs_no_more_than_its_key_allows(tmp_path: Path) -> None:
    async def shipped(url: str, session_id: str) -> list[Entry]:
        async with connected(url, node="admin", credentials=tmp_path / "admin.seed") as admin:
            return await StreamReader(admin, lambda _: "farm").read(session_id)

    with keyed(tmp_path, ("box", "runner")) as server, runner(tmp_path, server) as hub:
        session = hub.new_session()
        session.say("/echo hello")
        until(lambda: [each.seq for each in run(shipped(server.url, session.id))] == list(range(1, last_seq(session) + 1)),
              "the stream never got all of the session")
        session.delete()
        until(lambda: run(shipped(server.url, session.id)) == [], "the stream still has it")
        assert "permissions violation" not in hub.log().lower() and "may not publish" not in hub.log()


def test_a_runner_with_a_key_starts_sessions_itself_and_says_that_it_asks_nobody(tmp_path: Path) -> None:
    """Another node of its pool has less to do, which it cannot ask: its key may not."""
    async def join(url: str) -> None:
        async with connected(url, node="den", credentials=tmp_path / "den.seed") as den:
            there = node_row("den", pool="farm", labels={"gpu": "yes"})
            assert isinstance(await Table(den, subjects.NODES).put("farm.den", msgspec.json.encode(there)), Ack)
            place = SessionPlace(id="ses_den", pool="farm", owner="den", epoch=1, agent="fast", cwd="/", title="", status="idle",
                                 created_at=1, updated_at=1, last_seq=1, summary=msgspec.Raw(b"{}"))
            assert isinstance(await Table(den, subjects.SESSIONS).put("farm.ses_den", msgspec.json.encode(place)), Ack)

    with keyed(tmp_path, ("box", "runner"), ("den", "runner")) as server, runner(tmp_path, server) as hub:
        hub.new_session().say("/echo hello")
        run(join(server.url))
        until(lambda: {"box", "den"} == {each["node"] for each in hub.wire.get("/cluster")["nodes"]}, "they know each other")
        asked = {"agent": "fast", "cwd": str(hub.new_folder())}
        assert [hub.wire.ask("POST", "/sessions", asked).expect(201)["node"] for _ in range(2)] == ["box", "box"]
        until(lambda: hub.wire.ask("GET", "/sessions/ses_den").status != 404, "it knows where the session is")
        for refused in (hub.wire.ask("GET", "/sessions/ses_den"), hub.wire.ask("POST", "/sessions", asked | {"node": "den"}),
                        hub.wire.ask("POST", "/sessions", asked | {"labels": {"gpu": "yes"}})):
            told = refused.expect(503)
            assert (told["code"], told["message"]) == (
                "cluster_denied", "box is a runner, whose key asks no other node: ask at a gateway")
        assert "Violation" not in server.log.read_text()


def test_a_second_hub_of_the_same_name_does_not_start(ready: NatsServer, tmp_path: Path) -> None:
    with in_cluster(tmp_path, ready) as hub:
        until(lambda: "box" in hub.command("cluster", "nodes", "--cluster", ready.url).stdout, "the node is not listed")
        second = HubProcess(tmp_path / "second", "--cluster", ready.url, "--node", "box")
        with pytest.raises(AssertionError, match="another hub of this cluster is called box"):
            second.start()
        second.stop()
