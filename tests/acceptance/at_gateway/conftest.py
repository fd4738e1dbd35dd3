"""Gateways in place of hubs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.conftest import AGENTS
from tests.tooling.gateway_pair import GatewayPair
from tests.tooling.hub_process import HubProcess

STAYS = "it is the gateway that stops or starts: the owner and its agents stay"
FOLDER = "it looks into the gateway's folder, and what it looks for is in the owner's"
OTHERWISE = {
    "test_a_preview_needs_only_its_address_and_runs_as_nobody": "a preview's key names its node",
    "test_a_started_session_says_what_it_is": "deleting answers with what became of it in the cluster",
    "test_a_cursor_that_makes_no_sense_is_refused": "a cursor beyond the end gets a gap: it may come from an owner before",
    "test_the_catalog_says_what_is_installed_and_what_each_can_do": "what an agent can do is learned where it ran",
    "test_readyz_says_whether_the_hub_is_busy": "the owner is busy, not the gateway",
    "test_metrics_are_in_the_text_format_and_count": "what runs is counted at the owner",
    "test_a_proper_stop_ends_a_running_turn_with_one_error_and_tells_its_readers": STAYS,
    "test_how_an_agent_came_back_is_said": STAYS,
    "test_what_agents_started_ends_with_the_hub": STAYS,
    "test_what_a_stopping_hub_left_unanswered_is_taken_back_by_the_next": STAYS,
    "test_what_was_said_after_a_turn_is_whole_after_a_restart": FOLDER,
    "test_variables_that_came_with_a_session_are_never_journaled": FOLDER,
    "test_no_session_reaches_the_hubs_own_files": FOLDER,
    "test_no_session_begins_in_the_hubs_own_folder_but_in_the_playground": FOLDER,
    "test_what_a_webhook_could_not_be_told_is_told_once_after_a_restart": FOLDER,
    "test_nothing_of_the_hubs_own_reaches_an_agent": "the agent's home is the owner's",
    "test_two_hubs_on_one_host_leave_each_others_cookies_alone": "cookies are the cluster's",
    "test_a_phone_is_told_of_an_approval_answers_it_and_others_are_told_that_it_did": "who decided is named with the node",
    "test_an_approval_that_nobody_watches_reaches_the_webhook_and_its_link_opens_nothing_by_itself":
        "a list is half a second behind the webhook",
}
"""Tests that ask for what is so at a hub alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these are slow: each pair is three processes, and the same tests run against a hub in ``make test``."""
    for item in items:
        if "at_gateway" in item.nodeid:
            item.add_marker(pytest.mark.slow)
            if (why := OTHERWISE.get(item.name.partition("[")[0])) is not None:
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
