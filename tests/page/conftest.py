"""One browser for all tests of the page, a fresh profile for each person, hubs with the demo and with recorded agents."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from scripts.browser import FLAGS, recorded
from tests.page.person import Person
from tests.page.stage import Stage
from tests.tooling.hub_process import PYTHON, HubProcess
from tests.tooling.transcripts import AGENTS, FOLDER

DESK: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True,
                         "device_scale_factor": 2}
SIZES = {"desk": DESK, "phone": PHONE}

REPLAY = f"{PYTHON} {shlex.quote(str(FOLDER.parents[1] / 'tooling' / 'replay_agent.py'))}"
RECORDED = {f"{agent}-{run}": f"{REPLAY} {shlex.quote(str(FOLDER / f'{agent}.jsonl'))} {run}"
            for agent in AGENTS for run in ("allow", "reject", "bare")}

QUICK = ("test_coming_in.py", "test_a_message_is_github_flavoured_markdown", "test_terminal_output_has_its_colours",
         "test_a_diff_has_true_line_numbers", "test_a_click_approves_once", "test_an_empty_home_says_how_to_begin",
         "test_a_search_finds_titles_and_contents", "test_the_copy_of_a_message_is_the_journals_text")
"""What every run of the fast tests looks at: that people get in, and that each main view shows what it must. The rest is slow."""

expect.set_options(timeout=15_000)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser takes seconds for what other tests do in milliseconds: most of them are for ``make test-all``."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not any(name in item.nodeid for name in QUICK):
            item.add_marker(pytest.mark.slow)


MakePerson = Callable[..., Person]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium. Its scope ends before tests elsewhere run: while it lives, this thread has a running loop."""
    found = recorded()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found.path, args=list(FLAGS), env=dict(found.environment()))
        yield started
        started.close()


@pytest.fixture(scope="package")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """A hub that tests share; each makes sessions of its own."""
    with HubProcess(tmp_path_factory.mktemp("hub"), agents=RECORDED) as started:
        yield started


@pytest.fixture
def make_person(browser: Browser) -> Iterator[MakePerson]:
    """Makes people at browsers; after the test, none of them may have seen anything that must never happen."""
    people: list[Person] = []

    def make(url: str, size: str = "desk", **more: Any) -> Person:
        context = browser.new_context(**{**SIZES[size], "locale": "en-US", "timezone_id": "UTC", **more})
        people.append(Person(context, url))
        return people[-1]

    yield make
    for person in people:
        person.context.close()
    for person in people:
        person.assert_no_faults()


@pytest.fixture
def person(make_person: MakePerson, hub: HubProcess) -> Person:
    """Somebody at a desk, at the shared hub."""
    return make_person(hub.url)


@pytest.fixture(params=sorted(SIZES))
def anybody(request: pytest.FixtureRequest, make_person: MakePerson, hub: HubProcess) -> Person:
    """Somebody at a desk, and somebody with a phone."""
    return make_person(hub.url, request.param)


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub of the test's own, on a port that it keeps over restarts."""
    with HubProcess(tmp_path / "hub", port=free_port()) as started:
        yield started


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub of the test's own with the stage's agent."""
    made = Stage(tmp_path, port=free_port())
    with made.hub:
        yield made


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
