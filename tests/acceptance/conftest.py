"""One hub for all tests that leave it as they found it; a hub of its own for each that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tooling.hub_process import DEMO, PUPPET, HubProcess, Session
from tests.tooling.kept_hubs import KeptHubs

AGENTS = {
    "exits": f"{DEMO} --fault exit",
    "other-version": f"{DEMO} --fault version",
    "logs-in": f"{DEMO} --fast --fault auth",
    "locked": f"{DEMO} --fault locked",
    "wants-login": f"{PUPPET} --new -32000 'Run puppet-login first'",
    "refuses": f"{PUPPET} --new -32603 'No room'",
    "missing": "no-such-agent-command --acp",
}


@pytest.fixture(scope="package")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """The hub that most tests share; at the end nothing of it may be left. It ends before tests elsewhere run, which would pay
    for its guard (kept_hubs.py)."""
    with HubProcess(tmp_path_factory.mktemp("hub"), agents=AGENTS) as hub:
        yield hub


@pytest.fixture
def session(hub: HubProcess) -> Iterator[Session]:
    """A session with the demo agent, at full speed."""
    session = hub.new_session()
    yield session
    session.delete()


@pytest.fixture
def puppet(hub: HubProcess) -> Iterator[Session]:
    """A session with the agent that does exactly what it is told."""
    session = hub.new_session("puppet")
    yield session
    session.delete()


@pytest.fixture
def new_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., HubProcess]]:
    """Starts hubs for one test: ``new_hub(*flags, agents=…, env=…)``."""
    started: list[HubProcess] = []

    def start(*flags: str, root: Path | None = None, **more: object) -> HubProcess:
        hub = HubProcess(root or tmp_path_factory.mktemp("hub"), *flags, **more)  # type: ignore[arg-type]
        started.append(hub)
        hub.start()
        return hub

    yield start
    for hub in started:
        hub.close()


@pytest.fixture(scope="module")
def kept_hubs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptHubs]:
    """What ``some_hub`` gives from."""
    hubs = KeptHubs(tmp_path_factory.mktemp)
    yield hubs
    hubs.close()


@pytest.fixture
def some_hub(kept_hubs: KeptHubs) -> Iterator[Callable[..., HubProcess]]:
    """Gives hubs without sessions, for tests that need no hub of their own: ``some_hub(*flags, agents=…, env=…)``."""
    yield kept_hubs.take
    kept_hubs.give_back()
