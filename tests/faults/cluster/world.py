"""A cluster to be hurt: servers, hubs that own sessions and gateways that own none, each hub behind links of its own.

Rule 1: hubs are processes that were started as people start them; a hub that was killed comes back on its data.
Rule 2: a hub knows the servers by its links only, so its network can be cut and no other's.
Rule 3: ``wait_whole`` says when all is well again: every gateway answers for every owner's sessions.
Rule 4: servers know everybody by a key and let nobody do more than its role may, as with the configuration that people print.
        Without keys, on a loopback of one's own, everybody may do everything.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import SMALL
from tests.faults.cluster.keys import ADMIN, Keys
from tests.faults.cluster.net import Link, mend_all
from tests.faults.cluster.servers import LinkedServers
from tests.tooling.hub_process import HubProcess, Session
from tests.tooling.nats import NatsServer
from tests.tooling.processes import eventually, freeze
from tests.tooling.wire import Broken, Reply, Wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.roles import Role
from trunkline.cluster.streams import Sizes, configs, make_all
from trunkline.errors import ClusterUnavailable, NodeSilent

RUNNER: Final = "safe"
"""The owner that has a runner's key, where there are keys: it shows and reads nobody else's sessions."""
POOL: Final = "farm"
"""All owners are of one pool, so each may go on with what another began."""
WHOLE_S: Final = 90.0
"""For a machine that is busy with others; an election takes 5 to 7 s."""
ASK_S: Final = 5.0


class World:
    """One server or three, owners by name with how they commit, gateways by name."""

    def __init__(self, root: Path, replicas: int, owners: Mapping[str, str], gateways: Sequence[str], *, keyed: bool = True
                 ) -> None:
        self.root, self.replicas = root, replicas
        self.roles: dict[str, Role] = {name: "runner" if name == RUNNER and keyed else "hub" for name in owners}
        self.roles |= dict.fromkeys(gateways, "gateway")
        self.keys = Keys(root / "keys", self.roles, POOL) if keyed else None
        config = self.keys.config if self.keys is not None else ""
        self.linked = LinkedServers(root / "nats", config) if replicas == 3 else None
        self.servers = self.linked.servers if self.linked is not None else [NatsServer(root / "nats", more=config)]
        self.links: dict[str, list[Link]] = {}
        self.commits = dict(owners)
        self.owners = {name: self._hub(name, commit) for name, commit in owners.items()}
        self.gateways = {name: self._hub(name, "local") for name in gateways}
        self.sessions: dict[str, str] = {}
        """The owner of each session."""
        self.unasked: set[str] = set()
        """Hubs that people keep away from: they know that it is dead or frozen."""
        self._stack = ExitStack()

    @property
    def hubs(self) -> dict[str, HubProcess]:
        return self.owners | self.gateways

    @property
    def urls(self) -> tuple[str, ...]:
        """The servers' true addresses."""
        return tuple(server.url for server in self.servers)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for link in (link for links in self.links.values() for link in links):
                stack.callback(link.close)
            if self.linked is not None:
                stack.callback(self.linked.close_links)
                stack.enter_context(self.linked)
            else:
                stack.enter_context(self.servers[0])
            eventually(self._set_up, "the streams are made", WHOLE_S)
            for hub in self.hubs.values():
                stack.callback(self._end, hub)
                hub.start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.mend_links()
        self._stack.__exit__(kind, error, trace)

    def new_session(self, owner: str) -> Session:
        """A session whose agent does what its prompts say."""
        session = self.owners[owner].new_session("puppet", node=owner)
        self.sessions[session.id] = owner
        return session

    def owner_of(self, session_id: str) -> HubProcess:
        return self.owners[self.sessions[session_id]]

    def locate(self) -> None:
        """Learn from a gateway which owner has each session now."""
        gateway = next(iter(self.gateways))
        for session_id in self.sessions:
            self.sessions[session_id] = self.wire(gateway).get(f"/sessions/{session_id}")["node"]

    def move(self, session_id: str, to: str, wait_s: float) -> Reply:
        """Ask a gateway to have another owner go on with a session."""
        gateway = next(iter(self.gateways))
        return self.wire(gateway).ask("POST", f"/sessions/{session_id}/move", {"node": to, "force": True}, wait_s=wait_s)

    def shows(self, name: str, session_id: str) -> bool:
        """Whether people can ask a hub about a session: a runner speaks of its own only, and may have handed that over by now."""
        return self.roles[name] != "runner" or self.sessions[session_id] == name

    def wire(self, name: str) -> Wire:
        """A client of a hub, with that hub's own token."""
        return self.hubs[name].wire

    def freeze(self, name: str) -> None:
        freeze(self.hubs[name].pid)

    def thaw(self, name: str) -> None:
        os.kill(self.hubs[name].pid, signal.SIGCONT)

    def mend_links(self) -> None:
        """Let everything pass, everywhere."""
        for links in self.links.values():
            mend_all(links)
        if self.linked is not None:
            mend_all(self.linked.links.values())

    def wait_whole(self) -> None:
        """Wait until every gateway answers for the sessions of every owner."""
        for server in self.servers:
            server.wait_ready()
        newest = {owner: session_id for session_id, owner in self.sessions.items()}
        for gateway in self.hubs:
            for session_id in (each for each in newest.values() if self.shows(gateway, each)):
                eventually(lambda gateway=gateway, session_id=session_id: self._answers(gateway, session_id),  # type: ignore[misc]
                           f"{gateway} answers for {session_id}\n{self.hubs[gateway].log()}", WHOLE_S)

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Connection]:
        """Who may do everything, at the servers' true addresses."""
        key = self.keys.file(ADMIN) if self.keys is not None else None
        async with connected(*self.urls, node=ADMIN, credentials=key) as admin:
            yield admin

    async def make_streams(self, sizes: Sizes) -> None:
        """Make them, or make them as large as that."""
        async with self.admin() as admin:
            await make_all(admin, configs(self.replicas, sizes))

    def _set_up(self) -> bool:
        """Make the streams; servers that have just met may not know yet that they are three, or have much to do."""
        try:
            run(self.make_streams(SMALL), timeout_s=WHOLE_S)
        except (ClusterUnavailable, NodeSilent):
            return False
        return True

    def _answers(self, name: str, session_id: str) -> bool:
        try:
            return self.wire(name).ask("GET", f"/sessions/{session_id}/queue", wait_s=ASK_S).status == 200
        except (OSError, Broken):
            return False

    def _hub(self, name: str, commit: str) -> HubProcess:
        self.links[name] = [Link(server.port) for server in self.servers]
        addresses = [word for link in self.links[name] for word in ("--cluster", f"nats://127.0.0.1:{link.port}")]
        key = ["--cluster-credentials", str(self.keys.file(name))] if self.keys is not None else []
        return HubProcess(self.root / name, *addresses, *key, "--node", name, "--role", self.roles[name], "--pool", POOL,
                          "--commit", commit, "--gateways", "*", env={"TRUNKLINE_DEBUG_LOOP": "false"},
                          may_hold=True)  # what is frozen holds it

    def _end(self, hub: HubProcess) -> None:
        if hub.runs:
            os.kill(hub.pid, signal.SIGCONT)
        hub.close()
