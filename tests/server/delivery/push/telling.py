"""A served hub that pushes to a service on loopback, in time that passes at once."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.aio import loop_turns
from tests.server.site import Site, site
from tests.tooling.push_service import Browser, Pushed, PushService
from trunkline.hub import Session
from trunkline.server.delivery.following import Clock
from trunkline.server.delivery.push.pusher import Pusher
from trunkline.server.delivery.push.subscriptions import Subscription, Subscriptions

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


class QuickClock(Clock):
    """Time that passes at once, and is written down."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Let others work, and be done."""
        self.slept.append(seconds)
        await loop_turns()


class Told:
    """A served hub that pushes to a service on loopback, and who subscribed."""

    def __init__(self, hub: Site, service: PushService, clock: QuickClock) -> None:
        self.hub = hub
        self.service = service
        self.clock = clock
        self.key = ""
        self.forgotten = asyncio.Event()

    async def subscribe(self, name: str, scope: Any = "approve", **more: Any) -> tuple[Browser, str]:
        """A device with a browser; returns that and the token's id."""
        token, secret = self.hub.app.parts.tokens.mint(name, scope)
        browser = Browser(self.service, name)
        answer = await self.hub.ask("POST", "/push", json_body={**browser.subscription(), **more}, token=secret)
        assert answer.status == 201, answer.body
        self.key = (await self.hub.ask("GET", "/push", token=secret)).json()["publicKey"]
        return browser, token.id

    async def next(self) -> Pushed:
        """What came next."""
        return await asyncio.to_thread(self.service.next, 8)

    async def asked(self) -> tuple[Session, str]:
        """A session in which an approval waits."""
        session = await self.hub.session()
        answer = await self.hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/ask"})
        assert answer.status == 202, answer.body
        while not session.fold.approvals:
            await session.feed.wait(session.feed.last_seq)
        return session, next(iter(session.fold.approvals))


def hear_of_drops(subscriptions: Subscriptions, dropped: Callable[[Subscription], None]) -> None:
    """Hear of it when one is dropped."""
    vars(subscriptions)["drop_ended"] = dropped


@asynccontextmanager
async def telling(folder: Path) -> AsyncIterator[Told]:
    clock = QuickClock()
    with PushService() as service:
        async with site(folder, push_allow=LOOPBACK) as hub:
            parts = hub.app.parts
            pusher = Pusher(hub.hub, parts.subscriptions, parts.tokens.scope_of, clock=clock)
            told = Told(hub, service, clock)
            drop = parts.subscriptions.drop_ended

            def dropped(which: Subscription) -> None:
                drop(which)
                told.forgotten.set()

            hear_of_drops(parts.subscriptions, dropped)
            work = asyncio.create_task(pusher.run())
            try:
                yield told
            finally:
                work.cancel()
                await asyncio.wait([work])
