"""Worlds for the tests of a cluster's faults: one with one server and one with three, shared by the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.cluster.world import World

OWNERS = {"box": "local", "safe": "all"}
GATEWAYS = ("web", "door")


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two owners, of which one commits locally and one everywhere, two gateways, one server."""
    with World(tmp_path_factory.mktemp("one"), 1, OWNERS, GATEWAYS) as world:
        yield world


@pytest.fixture(scope="module")
def three_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same on three servers."""
    with World(tmp_path_factory.mktemp("three"), 3, OWNERS, GATEWAYS) as world:
        yield world
