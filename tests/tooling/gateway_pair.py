"""A hub as somebody sees it who is connected to another one: all sessions are the owner's, and the gateway has none.

A ``GatewayPair`` is used as a ``HubProcess``: what a test asks, it asks the gateway; what runs, runs at the owner. So the tests
of a hub's faces are tests of a gateway's.

Rule: whatever a test does to the pair's process (kill, restart) it does to the gateway.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.aio import run
from tests.cluster.shipping.owner import set_up
from tests.tooling.hub_process import HubProcess
from tests.tooling.nats import NatsServer, until

OWNER, GATEWAY = "box", "web"
OF_FOLDERS = ("audit", "journal")


class GatewayPair(HubProcess):
    """A server of NATS, a hub that runs sessions, and a gateway in front of it."""

    def __init__(self, root: Path, *flags: str, agents: Mapping[str, str] | None = None, env: Mapping[str, str] | None = None,
                 **more: Any) -> None:
        self._nats = NatsServer(root / "nats")
        joined = ("--cluster", self._nats.url)
        self.owner = HubProcess(root / OWNER, *flags, *joined, "--node", OWNER, "--gateways", GATEWAY, agents=agents, env=env,
                                **{**more, "port": 0})
        super().__init__(root / GATEWAY, *flags, *joined, "--node", GATEWAY, "--role", "gateway", agents=agents, env=env, **more)

    def start(self) -> None:
        """Start all that does not run, and wait until the gateway knows the owner."""
        if not self.owner.runs:
            self._nats.start()
            self._nats.wait_ready()
            run(set_up(self._nats.url))
            self.owner.start()
        super().start()
        until(self._sees_owner, "the owner is not in sight")

    def close(self) -> None:
        """End all of it, and assert that nothing is left."""
        try:
            super().close()
        finally:
            if self.owner.runs:
                self.owner.close()
            self._nats.close()

    def left(self) -> list[Any]:
        """Processes of either; those of the owner itself are its own to end."""
        owner = [each for each in self.owner.left() if not self.owner.runs] if self.runs else []
        return [*super().left(), *owner]

    def command(self, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a command: one that looks into a hub's folder is run at the owner's."""
        return self.owner.command(*words, **more) if words[0] in OF_FOLDERS else super().command(*words, **more)

    def holds(self) -> list[str]:
        """What held the loop of either."""
        return [*super().holds(), *self.owner.holds()]

    def _sees_owner(self) -> bool:
        """Whether a new session would be placed there."""
        return any(each["node"] == OWNER and "away" not in each for each in self.wire.get("/cluster")["nodes"])
