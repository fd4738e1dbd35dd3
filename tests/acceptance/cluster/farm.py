"""Hubs of one cluster as people start them: two that run sessions and may take over from each other, and a gateway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.nats import NatsServer
from tests.tooling.processes import eventually


class Farm:
    """The server, and its nodes by name."""

    def __init__(self, root: Path, server: NatsServer) -> None:
        self.root, self.server = root, server
        self.hubs: dict[str, HubProcess] = {}

    def __getitem__(self, name: str) -> HubProcess:
        return self.hubs[name]

    def add(self, name: str, *flags: str, **more: Any) -> HubProcess:
        """One more node, not started yet; every other node may act on it."""
        hub = HubProcess(self.root / name, "--cluster", self.server.url, "--node", name, "--gateways", "*", *flags, **more)
        self.hubs[name] = hub
        return hub

    def view(self, at: str) -> Any:
        """The cluster, as one of its nodes sees it."""
        return self[at].wire.get("/cluster")

    def node(self, at: str, name: str) -> Any:
        """A node, as another one sees it; empty where it does not know it."""
        return next((each for each in self.view(at)["nodes"] if each["node"] == name), {})

    def all_there(self, at: str, *names: str) -> None:
        """Wait until a node has heard of these."""
        eventually(lambda: all(self.node(at, name) and "away" not in self.node(at, name) for name in names), f"{at} sees {names}")

    def away(self, at: str, name: str) -> None:
        """Wait until a node knows that another is not there."""
        eventually(lambda: "away" in self.node(at, name), f"{at} knows that {name} is away")

    def owner(self, at: str, session: Session) -> str | None:
        """The node that a session is on, as a node knows it; None where that is not known."""
        answer = self[at].wire.ask("GET", session.path)
        return str(answer.json()["node"]) if answer.status == 200 else None

    def clear(self) -> None:
        """End all sessions, each at its node, and wait until every node knows it."""
        running = {name: hub for name, hub in self.hubs.items() if hub.runs}
        for name, hub in running.items():
            for session in hub.wire.get("/sessions")["sessions"]:
                if session["node"] == name:
                    hub.wire.ask("DELETE", f"/sessions/{session['id']}")
        eventually(lambda: not any(hub.wire.get("/sessions")["sessions"] for hub in running.values()), "no session is left")

    def known(self, at: str, session: Session, node: str) -> Session:
        """The session at another node, once that knows that it is on ``node``."""
        eventually(lambda: self.owner(at, session) == node, f"{at} knows that {session.id} is on {node}")
        return Session(self[at], session.id, session.folder)


@contextmanager
def farm(root: Path, *, gateway: bool = True, flags: tuple[str, ...] = ()) -> Iterator[Farm]:
    """``box`` and ``den`` of the pool ``farm``, and the gateway ``web``."""
    with NatsServer(root / "nats") as server, ExitStack() as stack:
        run(set_up(server.url))
        made = Farm(root, server)
        for name in ("box", "den"):
            stack.enter_context(made.add(name, "--pool", "farm", "--labels", f"disk={name}", *flags))
        if gateway:
            stack.enter_context(made.add("web", "--role", "gateway"))
            made.all_there("web", "box", "den")
        made.all_there("box", "den")
        made.all_there("den", "box")
        yield made
