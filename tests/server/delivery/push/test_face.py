"""Subscriptions over HTTP: whose they are, and what is refused."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.delivery.push.telling import LOOPBACK
from tests.server.site import site
from tests.tooling.push_service import Browser, PushService
from trunkline.server.delivery.push.subscriptions import KINDS


def test_a_subscription_belongs_to_who_made_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path, push_allow=LOOPBACK) as hub:
            with PushService() as service:
                _, secret = hub.app.parts.tokens.mint("phone", "view")
                info = (await hub.ask("GET", "/push", token=secret)).json()
                assert (info["kinds"], info["subscription"]) == (list(KINDS), None)
                body = {**Browser(service).subscription(), "kinds": ["failed", "approval"]}
                made = (await hub.ask("POST", "/push", json_body=body, token=secret)).json()
                assert made["kinds"] == ["approval", "failed"]
                assert (await hub.ask("GET", "/push", token=secret)).json()["subscription"] == made
                assert (await hub.ask("GET", "/push")).json()["subscription"] is None
                assert stat.S_IMODE((tmp_path / "data" / "push.json").stat().st_mode) == 0o600
                assert (await hub.ask("DELETE", "/push")).status == 204
                assert len(hub.app.parts.subscriptions) == 1
                await hub.ask("POST", "/push", json_body=body)  # the same browser under another token
                assert (await hub.ask("GET", "/push", token=secret)).json()["subscription"] is None
                assert (await hub.ask("DELETE", "/push")).status == 204
                assert not len(hub.app.parts.subscriptions)

    run(check())


@pytest.mark.parametrize(("field", "change"), [
    ("endpoint", {"endpoint": "http://127.0.0.1/x"}), ("keys.p256dh", {"keys": {"p256dh": "AAAA", "auth": "A" * 22}}),
    ("keys.auth", {"keys": {"auth": "AAAA"}}), ("kinds", {"kinds": []}),
])
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, field: str, change: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            with PushService() as service:
                body = {**Browser(service).subscription(), "endpoint": "https://push.example/x"}
                keys = {**body["keys"], **change.get("keys", {})}
                answer = await hub.ask("POST", "/push", json_body={**body, **change, "keys": keys})
                assert (answer.status, answer.json()["details"]) == (400, {"field": field})

    run(check())
