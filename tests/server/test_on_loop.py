"""Rule 1 at the server: what is asked for over HTTP makes no call on the loop that may wait for a disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.aio import run
from tests.server.site import site
from tests.tooling.on_loop import calls_on_loop
from tests.tooling.push_service import Browser, PushService
from trunkline.server.delivery.push.subscriptions import SUBSCRIPTIONS_FILE


def test_the_page_is_read_off_the_loop(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            with calls_on_loop() as calls:
                for path in ("/", "/sw.js", "/assets/docs.css", "/assets/nothing.js"):
                    await hub.ask("GET", path, token=None)
            assert calls == []

    run(check())


def test_tokens_devices_and_browsers_are_kept_off_the_loop_before_they_are_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            stored = tmp_path / "data" / "tokens.json"
            with calls_on_loop() as calls:
                made = (await hub.ask("POST", "/auth/tokens", json_body={"name": "phone", "scope": "view"})).json()["token"]
                was_kept = made["id"] in await asyncio.to_thread(stored.read_text)
                code = (await hub.ask("POST", "/auth/codes")).json()["code"]
                assert (await hub.ask("POST", "/auth/login", json_body={"code": code}, token=None)).status == 200
                assert (await hub.ask("DELETE", f"/auth/tokens/{made['id']}")).status == 204
                is_gone = made["id"] not in await asyncio.to_thread(stored.read_text)
            assert calls == [] and was_kept and is_gone

    run(check())


def test_subscriptions_are_kept_off_the_loop_before_they_are_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            with PushService() as service, calls_on_loop() as calls:
                wanted = {**Browser(service).subscription(), "endpoint": "https://push.example/x", "kinds": ["approval"]}
                assert (await hub.ask("POST", "/push", json_body=wanted)).status == 201
                was_kept = "push.example" in await asyncio.to_thread((tmp_path / "data" / SUBSCRIPTIONS_FILE).read_text)
            assert calls == [] and was_kept

    run(check())
