"""What a server says of itself, what encrypts the way to it, and its clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import SMALL
from tests.tooling.certificates import certificate
from tests.tooling.nats import MAX_PAYLOAD, NatsServer
from trunkline.cluster.streams import configs, make_all
from trunkline.cluster.survey.server import Server, certificate_of, clock_of, seconds_of, server_of


def test_a_server_is_told_with_its_version_and_its_clock(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            server = server_of(connection)
            assert (server.url, server.name, server.max_payload) == (nats.url, "n1", MAX_PAYLOAD)
            assert server.is_new_enough and server.has_jetstream and not server.asks_for_key and not server.cluster
            assert certificate_of(connection) is None
            assert await clock_of(connection) is None, "without the streams nobody tells the time"
            await make_all(connection, configs(1, SMALL))
            clock = await clock_of(connection)
            assert clock is not None and abs(clock.ahead_s) <= clock.round_trip_s

    run(go())


def test_the_end_of_its_certificate_is_known(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)

    async def go(url: str) -> None:
        async with connected(url, ca=cert) as connection:
            found = certificate_of(connection)
            assert found is not None and found.protocol.startswith("TLSv1.") and found.until == seconds_of("2099-01-01T00:00:00Z")

    with NatsServer(tmp_path / "tls", more=f'tls {{ cert_file: "{cert}", key_file: "{key}" }}') as server:
        run(go(server.url.replace("nats:", "tls:")))


@pytest.mark.parametrize(("version", "enough"), [
    ("2.15.1", True), ("2.12.0-beta.1", True), ("2.11.9", False), ("3.0.0", True), ("", False)])
def test_a_version_is_compared_by_its_numbers(version: str, enough: bool) -> None:
    server = Server(url="", name="", version=version, has_jetstream=True, asks_for_key=False, max_payload=1)
    assert server.is_new_enough is enough


def test_a_time_with_nine_digits_is_read() -> None:
    assert seconds_of("1970-01-01T00:00:01.123456789Z") == pytest.approx(1.123456789)
    assert seconds_of("1970-01-01T00:01:00Z") == 60
