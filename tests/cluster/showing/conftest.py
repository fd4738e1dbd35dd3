"""A server with the cluster's streams, for the tests of one module: each has sessions of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.nats import NatsServer


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server
