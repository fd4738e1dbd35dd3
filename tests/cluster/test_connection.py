"""A node's connection: it comes, goes and comes back, says so, and a question always ends."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.tooling.certificates import certificate
from tests.tooling.nats import NatsServer
from trunkline.cluster import connection as connections
from trunkline.cluster.client import PINGS_MOST
from trunkline.cluster.connection import Address, Connection
from trunkline.cluster.credentials import Credentials, new_seed, read_credentials
from trunkline.errors import ClusterDenied, ClusterUnavailable, Invalid, NodeAway, NodeSilent

MUCH = 500
"""Messages of 64 KiB; after 2 MiB of them whoever sends more has to wait."""


def test_a_question_is_answered_by_whoever_listens(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url) as asker, connected(shared_nats.url, node="other") as other:
            async def answer(message: Msg) -> None:
                await other.publish(message.reply, b"you said " + message.data)

            await other.subscribe("echo", answer)
            for _ in range(2):  # the first answer may be to what connecting asked
                await other.client.flush()
            assert (await asker.request("echo", b"hello")).data == b"you said hello"

    run(go())


def test_nobody_there_is_told_at_once(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url) as asker:
            with pytest.raises(NodeAway, match=r"nobody listens to tl\.node\.gone"):
                await asker.request("tl.node.gone", within_s=30)

    run(go())


def test_silence_ends_at_the_deadline_and_says_that_nothing_is_known(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url) as asker:
            async def keep_still(message: Msg) -> None: ...

            await asker.subscribe("silent", keep_still)
            with pytest.raises(NodeSilent):
                await asker.request("silent", within_s=0.05)

    run(go())


def test_many_answers_are_handed_on_until_the_last(shared_nats: NatsServer) -> None:
    async def go() -> list[bytes]:
        async with connected(shared_nats.url) as asker:
            async def count(message: Msg) -> None:
                for number in range(3):
                    await asker.publish(message.reply, str(number).encode())

            await asker.subscribe("count", count)
            got: list[bytes] = []

            def take(message: Msg) -> bool:
                got.append(message.data)
                return message.data == b"2"

            await asker.request_many("count", b"", take)
            return got

    assert run(go()) == [b"0", b"1", b"2"]


def test_who_is_cancelled_while_much_is_sent_ends_there(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url) as node:
            sent = 0

            async def send_much() -> None:
                nonlocal sent
                while sent < MUCH:
                    await node.publish("much", bytes(64 << 10))
                    sent += 1

            sending = asyncio.create_task(send_much())
            await asyncio.sleep(0)
            before = sent
            sending.cancel()
            await asyncio.wait([sending])
            assert sending.cancelled() and sent == before > 0

    run(go())


def test_it_comes_back_with_its_subscriptions_when_the_server_does(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            told: list[bool] = []
            heard: list[bytes] = []

            async def hear(message: Msg) -> None:
                heard.append(message.data)

            connection.watch(told.append)
            await connection.subscribe("news", hear)
            nats.kill()
            await eventually(lambda: told == [False])
            with pytest.raises(ClusterUnavailable):
                await connection.publish("news", b"kept by nobody")
            nats.start()
            await eventually(lambda: told == [False, True])
            await connection.publish("news", b"again")
            await eventually(lambda: heard)
            assert heard == [b"again"]

    run(go())


def test_a_question_that_is_under_way_ends_with_the_connection(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            async def kill(message: Msg) -> None:
                nats.kill()

            await connection.subscribe("deadly", kill)
            with pytest.raises(NodeSilent, match="connection was lost"):
                await connection.request("deadly", within_s=50)

    run(go())


@pytest.mark.slow
def test_a_frozen_server_is_given_up(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            nats.freeze()
            await eventually(lambda: not connection.up)
            nats.thaw()
            await connection.wait_up(30)

    run(go())


def test_a_server_that_takes_connections_and_says_nothing_gets_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECT_WITHIN_S", 0.05)
    monkeypatch.setattr(connections, "RECONNECT_WAIT_S", 0.01)
    tried, is_open = 0, set[asyncio.StreamWriter]()

    async def speak_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tried
        tried += 1
        is_open.add(writer)
        if tried == 1:
            writer.write(b'INFO {"headers":true,"max_payload":1048576}\r\n')
            async for line in reader:
                if line.startswith(b"PING"):
                    writer.write(b"PONG\r\n")
                if line.startswith(b"PUB bye"):
                    break
        else:
            await reader.read()
        is_open.discard(writer)
        writer.close()

    async def go() -> None:
        async with await asyncio.start_server(speak_once, "127.0.0.1", 0) as server:
            async with connected(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}") as connection:
                await connection.publish("bye")
                await eventually(lambda: tried > 6)
                await eventually(lambda: len(is_open) <= 1)
            await eventually(lambda: not is_open)

    run(go())


def test_a_hub_starts_while_the_cluster_is_away(tmp_path: Path) -> None:
    async def go() -> None:
        server = NatsServer(tmp_path)
        connection = Connection(Address(servers=(server.url,), node="early"))
        await connection.start()
        with pytest.raises(ClusterUnavailable, match=r"no connection to nats://127\.0\.0\.1:\d+: .*refused|Connect call failed"):
            await connection.wait_up(0.3)
        server.start()
        await connection.wait_up(30)
        assert connection.up
        await connection.close()
        server.close()

    run(go())


def test_a_node_proves_its_key_and_learns_what_it_may_not_do(tmp_path: Path) -> None:
    seed = new_seed(secrets.token_bytes(32))
    path = tmp_path / "node.seed"
    path.write_text(f"{seed}\n")
    path.chmod(0o600)
    users = (f'authorization {{ users: [ {{ nkey: "{Credentials(seed).public_name}", permissions: {{ '
             'publish: ["mine"], subscribe: ["_INBOX.tests.>", "mine"] } } ] }')

    async def go(url: str) -> None:
        async with connected(url, credentials=path) as connection:
            with pytest.raises(NodeAway):
                await connection.request("mine")
            with pytest.raises(ClusterDenied, match="may not publish to Theirs"):
                await connection.request("Theirs", within_s=50)
            assert connection.up
        stranger = Connection(Address(servers=(url,), node="stranger"))
        await stranger.start()
        with pytest.raises(ClusterUnavailable, match="Authorization Violation"):
            await stranger.wait_up(0.4)
        await stranger.close()

    with NatsServer(tmp_path / "nats", more=users) as server:
        run(go(server.url))


def test_a_file_that_holds_no_key_is_refused_by_name_and_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "node.seed"
    with pytest.raises(Invalid, match="not there"):
        read_credentials(path)
    path.write_text("nothing")
    with pytest.raises(Invalid, match="no user's seed"):
        read_credentials(path)
    seed = new_seed(bytes(32))
    damaged = seed[:20] + ("A" if seed[20] != "A" else "B") + seed[21:]
    path.write_text(damaged)
    with pytest.raises(Invalid, match="damaged") as refusal:
        read_credentials(path)
    assert damaged not in str(refusal.value)


def test_a_credentials_file_has_a_token_and_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "node.creds"
    path.write_text(f"-----BEGIN NATS USER JWT-----\nabc.def.ghi\n------END NATS USER JWT------\n\n"
                    f"-----BEGIN USER NKEY SEED-----\n{new_seed(bytes(32))}\n------END USER NKEY SEED------\n")
    found = read_credentials(path)
    assert found.jwt == "abc.def.ghi" and found.public_name.startswith("U") and len(found.public_name) == 56
    assert path.stat().st_mode & 0o077 == 0, "it was closed to others"


@pytest.mark.parametrize("wrong", ["", "Upper", "a.b", "a*", "a>b", "-a", "x" * 64])
def test_a_name_that_does_not_fit_a_subject_is_refused(wrong: str) -> None:
    with pytest.raises(Invalid):
        Address(servers=("nats://127.0.0.1:4222",), node=wrong)


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(Invalid, match="nats://"):
        Address(servers=("http://127.0.0.1:1",), node="a")


def test_tls_is_checked_and_insisted_on(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)

    async def fails(url: str, ca: Path | None, why: str) -> None:
        connection = Connection(Address(servers=(url,), node="tests", ca=ca))
        await connection.start()
        with pytest.raises(ClusterUnavailable, match=why):
            await connection.wait_up(0.4)
        await connection.close()

    async def go(server: NatsServer, plain: NatsServer) -> None:
        url = server.url.replace("nats:", "tls:")
        async with connected(url, ca=cert) as connection:
            with pytest.raises(NodeAway):
                await connection.request("anything")
        await fails(url, None, "certificate verify failed|self-signed")
        await fails(plain.url.replace("nats:", "tls:"), cert, "offers no TLS")

    with NatsServer(tmp_path / "tls", more=f'tls {{ cert_file: "{cert}", key_file: "{key}" }}') as server, \
            NatsServer(tmp_path / "plain") as plain:
        run(go(server, plain))


def test_certificates_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot read the certificates"):
        run(Connection(Address(servers=("tls://127.0.0.1:1",), node="a", ca=tmp_path / "none")).start())
    (tmp_path / "junk").write_text("junk")
    with pytest.raises(Invalid, match="cannot read the certificates"):
        run(Connection(Address(servers=("tls://127.0.0.1:1",), node="a", ca=tmp_path / "junk")).start())


def test_a_hub_without_a_cluster_loads_nothing_of_it() -> None:
    code = ("from trunkline.cli.commands import serve\nimport trunkline.cli.hosting.hosting, trunkline.server.app, sys\n"
            "print(*[name for name in sys.modules if name.split('.')[0] == 'nats' or name.startswith('trunkline.cluster')])")
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split() == []


class Talker:
    """A server that says a lot and answers no ping but the first: what a thin line looks like."""

    def __init__(self) -> None:
        self.pings = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"x","version":"2.15.1","max_payload":1048576,"headers":true}\r\n')
        talking: asyncio.Task[None] | None = None
        while line := await reader.readline():
            self.pings += line == b"PING\r\n"
            if self.pings == 1 and talking is None:
                writer.write(b"PONG\r\n")
                talking = asyncio.create_task(self.talk(writer))
        if talking is not None:
            talking.cancel()
        writer.close()

    async def talk(self, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"MSG told 1 1\r\nx\r\n")
            await asyncio.sleep(0)


def test_a_server_that_sends_is_not_given_up_for_its_answer_to_a_ping_unless_that_never_comes(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.cluster.connection.PING_EVERY_S", 0.02)

    async def go() -> None:
        talker = Talker()
        server = await asyncio.start_server(talker.serve, "127.0.0.1")
        async with server, connected(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}") as connection:
            await eventually(lambda: not connection.up)
            assert talker.pings >= PINGS_MOST, "and the library's own bound is 2"

    run(go())
