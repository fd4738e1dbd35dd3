"""Several machines in one cluster: some that run sessions, and the gateway ``web``, where people look. For tests and pictures."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.acceptance.cluster.farm import Farm
from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.page.journal import tell
from tests.page.stage import plays
from tests.tooling.hub_process import PUPPET, Session
from tests.tooling.nats import NatsServer

PROJECT = "webshop"


class Machines:
    """Machines by name, of one pool. Sessions are as people at the gateway see them."""

    def __init__(self, root: Path, server: NatsServer, names: Iterable[str]) -> None:
        self.farm = Farm(root, server)
        for name in names:
            project = root / name / "home" / PROJECT
            project.mkdir(parents=True)
            script = root / f"{name}.json"
            script.write_text(json.dumps(plays(str(project))))
            actor = f"{PUPPET} --plays {shlex.quote(str(script))}"
            self.farm.add(name, "--pool", "desk", agents={"actor": actor})
        self.web = self.farm.add("web", "--role", "gateway", port=_free_port())
        self.sessions: dict[str, Session] = {}
        """One of each, where somebody put it."""

    def talk(self, name: str, title: str) -> Session:
        """A session in which something was said."""
        session = self._begin(name, title=title)
        session.say(json.dumps([["say", f"I work on {name}."]]))
        return self.farm.known("web", session, name)

    def act(self, name: str, prompt: str) -> Session:
        """A session whose agent plays what it is told, as on the tests' stage."""
        session = self._begin(name)
        tell(session, prompt)
        return self.farm.known("web", session, name)

    def _begin(self, name: str, **more: str) -> Session:
        hub = self.farm[name]
        return hub.new_session("actor", hub.home / PROJECT, node=name, **more)

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """While this lasts a node is not there."""
        self.farm[name].stop()
        try:
            self.farm.away("web", name)
            yield
        finally:
            self.farm[name].start()
            self.farm.all_there("web", name)


@contextmanager
def machines_of(root: Path, *names: str) -> Iterator[Machines]:
    """Machines that run, and have heard of each other."""
    with NatsServer(root / "nats") as server, ExitStack() as stack:
        with ThreadPoolExecutor(1) as beside:  # while a browser lives, this thread has a running loop
            beside.submit(run, set_up(server.url)).result()
        made = Machines(root, server, names)
        for hub in made.farm.hubs.values():
            stack.enter_context(hub)
        made.farm.all_there("web", *names)
        yield made


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
