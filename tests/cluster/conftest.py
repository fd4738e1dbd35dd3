"""Servers for the tests of the cluster: one of its own for each test, or one or three that the tests here share.

Those that are shared end before tests elsewhere run, which would pay for their heartbeats; a module elsewhere that imports such a
fixture has a server of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tooling.nats import NatsCluster, NatsServer


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer(tmp_path / "nats") as server:
        yield server


@pytest.fixture(scope="package")
def shared_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """For tests that make streams of their own and leave the server as it is."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(scope="package")
def shared_three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsCluster]:
    """Three, for tests that make streams of their own and leave the servers as they are."""
    with NatsCluster(tmp_path_factory.mktemp("three")) as servers:
        yield servers


@pytest.fixture
def three(tmp_path: Path) -> Iterator[NatsCluster]:
    """Three of the test's own, to be killed and frozen."""
    with NatsCluster(tmp_path / "three") as servers:
        yield servers
