"""One browser for all tests of the page, a fresh profile for each person, hubs with the demo and with recorded agents."""

from __future__ import annotations

import re
import shlex
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from scripts.browser import FLAGS, recorded
from tests.page.hostile import ALL
from tests.page.person import Person
from tests.page.profiles import SIZES, Profiles
from tests.page.stage import Stage
from tests.tooling.hub_process import FAST_DEMO, PYTHON, HubProcess
from tests.tooling.transcripts import AGENTS, FOLDER

REPLAY = f"{PYTHON} {shlex.quote(str(FOLDER.parents[1] / 'tooling' / 'replay_agent.py'))}"
RECORDED = {f"{agent}-{run}": f"{REPLAY} {shlex.quote(str(FOLDER / f'{agent}.jsonl'))} {run}"
            for agent in AGENTS for run in ("allow", "reject", "bare")}

THEIRS = Path(__file__).parents[2] / "web" / "test" / "text" / "hostile.ts"

QUICK = (
    "test_coming_in.py", "test_approvals.py", "test_drafts_are_gone", "test_who_cannot_be_logged_out",
    "test_an_empty_home_says_how_to_begin", "test_a_new_session_is_begun",
    "test_a_message_is_github_flavoured_markdown",
    "test_an_approval_waits_in_the_conversation",
    "test_a_prompt_is_sent_by_the_button", "test_a_turn_is_stopped",
    "test_links_are_marked", "test_notifications", "test_hostile_places.py::test_the_policy", "test_names_of_files",
    "test_an_artifact_reaches_nothing",
    "test_a_phone_is_paired", "test_a_revoked_device", "printed[carriage returns]", "said[a large table]",
)
"""What every run of the fast tests looks at: that people get in and out, that each main view shows what it must and does what it
is told, and that what is hostile is not obeyed. The rest is slow: a browser takes a second or two of a core for each."""

NOT_QUICK = (
    "test_what_one_browser_decides_the_other_sees_at_once", "test_on_a_short_screen_an_ask_comes_with_its_beginning",
    "test_a_question_is_a_form", "test_what_is_filled_into_a_question",
)
"""Of files that are quick: what another test there shows as well, or what decides nothing."""

ON_PHONES_TOO = ("test_a_press_that_was_meant",)
"""What decides, where a phone is pressed otherwise: of these the fast tests look at every size. That nothing is approved on a
phone that was not shown has a test of its own, and of the rest the desk is enough for them."""


expect.set_options(timeout=60_000)  # what comes at all comes long before: it is for a machine that is busy with others


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser takes seconds for what other tests do in milliseconds: most of them are for ``make test-all``."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not is_quick(item.nodeid):
            item.add_marker(pytest.mark.slow)


def is_quick(test: str) -> bool:
    """Whether the fast tests have it."""
    is_of_phones_again = test.endswith("[phone]") and not any(name in test for name in ON_PHONES_TOO)
    is_quick = any(name in test for name in QUICK) and not any(name in test for name in NOT_QUICK)
    return is_quick and not is_of_phones_again


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
def profiles(browser: Browser) -> Profiles:
    """The browser's profiles."""
    return Profiles(browser)


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage that tests share; each makes sessions of its own, and sees those of others."""
    made = Stage(tmp_path_factory.mktemp("shared"), agents=RECORDED)
    with made.hub:
        yield made


@pytest.fixture(scope="package")
def hub(shared: Stage) -> HubProcess:
    """A hub that tests share; each makes sessions of its own."""
    return shared.hub


@pytest.fixture(scope="package")
def cleared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """What ``stage`` is made of."""
    made = Stage(tmp_path_factory.mktemp("cleared"))
    with made.hub:
        yield made


@pytest.fixture
def stage(cleared: Stage) -> Stage:
    """A stage on which nothing stands."""
    cleared.clear()
    return cleared


@pytest.fixture
def clear_hub(stage: Stage) -> HubProcess:
    """A hub without sessions, with the first policy. What it remembers besides (devices, folders) may be of others."""
    return stage.hub


@pytest.fixture
def make_person(profiles: Profiles) -> Iterator[MakePerson]:
    """Makes people at browsers; after the test, none of them may have seen anything that must never happen."""
    people: list[tuple[Person, str, bool]] = []

    def make(url: str, size: str = "desk", *, alone: bool = False, **wishes: Any) -> Person:
        """``alone``: in a profile that nobody else gets, for what cannot be taken back, such as a clock that stands."""
        person = Person(profiles.take(size, alone, **wishes), url)
        people.append((person, size, not wishes and not alone))
        return person

    yield make
    for person, size, usual in people:
        if usual:
            person.leave()
            profiles.give_back(person.context, size, person.url)
        else:
            person.context.close()
    for person, _, _ in people:
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
def trusting(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub that lets the demo run whatever it wants."""
    with HubProcess(tmp_path / "trusting", agents={"trusted": FAST_DEMO}) as started:
        yield started


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="package")
def corpus(browser: Browser) -> list[str]:
    """What hostile agents say: our own texts and those that the page's own tests use; a browser reads these, as they are written
    in its language."""
    source = re.sub(r"export const (\w+): readonly string\[\] =", r"found.\1 =", THEIRS.read_text())
    page = browser.new_page()
    try:
        theirs = page.evaluate(f"() => {{ const found = {{}}; {source}; return Object.values(found).flat() }}")
    finally:
        page.close()
    assert len(theirs) > 50
    # Half a character is no text that a line of JSON can carry.
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in (*ALL, *theirs)]
