"""Gateways in place of hubs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.conftest import AGENTS
from tests.tooling.gateway_pair import GatewayPair
from tests.tooling.hub_process import HubProcess

OTHERWISE = {
    "test_a_preview_needs_only_its_address_and_runs_as_nobody": "a preview's key names its node",
}
"""Tests that ask for what is so at a hub alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these are slow: each pair is three processes, and the same tests run against a hub in ``make test``."""
    for item in items:
        if "at_gateway" in item.nodeid:
            item.add_marker(pytest.mark.slow)
            if (why := OTHERWISE.get(item.name)) is not None:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="package")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """The gateway that most tests share."""
    with GatewayPair(tmp_path_factory.mktemp("pair"), agents=AGENTS) as pair:
        yield pair


@pytest.fixture
def new_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., HubProcess]]:
    """Starts pairs for one test."""
    started: list[HubProcess] = []

    def start(*flags: str, **more: object) -> HubProcess:
        pair = GatewayPair(tmp_path_factory.mktemp("pair"), *flags, **more)  # type: ignore[arg-type]
        started.append(pair)
        pair.start()
        return pair

    yield start
    for pair in started:
        pair.close()


@pytest.fixture
def some_hub(new_hub: Callable[..., HubProcess]) -> Callable[..., HubProcess]:
    """The same: a pair is not kept from test to test."""
    return new_hub
