"""Two gateways of one cluster for tests: hubs that are served, each with a main token of its own, and the tables they share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.cluster.connecting import connected
from tests.cluster.tables.world import following, make_tables
from tests.server.site import Answer, Site, browser, site
from tests.tooling.nats import NatsServer
from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.server.auth.joining import SharedAuth

OWN = {"origin": "http://localhost:7420"}


class Gateway:
    """One node, and its main token."""

    def __init__(self, hub: Site, main: str, shared: SharedAuth, connection: Connection) -> None:
        self.site, self.main, self.shared, self.connection = hub, main, shared, connection
        self.tokens = hub.app.parts.tokens

    async def ask(self, method: str, path: str, *, own: bool = True, **more: Any) -> Answer:
        """A request with the main token, unless another credential is given."""
        return await self.site.ask(method, path, token=self.main if own else None, **more)

    async def code(self, **wanted: Any) -> str:
        answer = await self.ask("POST", "/pair", json_body=wanted)
        assert answer.status == 201, answer.body
        return str(answer.json()["code"])

    async def claim(self, code: str) -> Answer:
        return await self.ask("POST", "/pair/claim", own=False, json_body={"code": code}, headers=OWN)

    async def paired(self, **wanted: Any) -> tuple[str, dict[str, str]]:
        """A new device: its id, and the headers that its browser sends."""
        answer = await self.claim(await self.code(**wanted))
        assert answer.status == 201, answer.body
        return answer.json()["deviceId"], browser(answer)

    async def lets_in(self, credential: str | dict[str, str]) -> bool:
        """Whether a bearer token or a browser's headers count here."""
        if isinstance(credential, str):
            answer = await self.site.ask("GET", "/sessions", token=credential)
        else:
            answer = await self.site.ask("GET", "/sessions", token=None, headers=credential)
        assert answer.status in (200, 401), answer.body
        return answer.status == 200


@asynccontextmanager
async def gateway(url: str, folder: Path, name: str, clock: Callable[[], float], every_s: float = 0.2, main: str = ""
                  ) -> AsyncIterator[Gateway]:
    """A node that serves. ``every_s``: how often its copies are held against the leader."""
    main = main or f"the main token of {name}"
    async with connected(url, node=name) as connection:
        await make_tables(connection)
        async with (following(connection, subjects.AUTH, clock, every_s) as auth,
                    following(connection, subjects.PUSH, clock, every_s) as push, site(folder, token=main) as hub):
            shared = SharedAuth(hub.app.parts, name, auth, push)
            try:
                yield Gateway(hub, main, shared, connection)
            finally:
                await shared.close()


@asynccontextmanager
async def two_gateways(nats: NatsServer, folder: Path, clock: Callable[[], float], every_s: float = 0.2
                       ) -> AsyncIterator[tuple[Gateway, Gateway]]:
    async with (gateway(nats.url, folder / "one", "one", clock, every_s) as one,
                gateway(nats.url, folder / "two", "two", clock, every_s) as two):
        yield one, two
