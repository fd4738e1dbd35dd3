"""What a served hub does besides answering."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.delivery.receiver import receiver
from tests.server.site import Site, site
from trunkline.server.ops import chores


@asynccontextmanager
async def at_work(hub: Site) -> AsyncIterator[None]:
    """The chores of a hub are being done."""
    task = asyncio.create_task(chores.chores(hub.app.parts))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


def test_webhooks_of_the_settings_are_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with receiver() as there, site(tmp_path, webhooks=(there.hook(),), public_url="https://hub.example") as hub:
            async with at_work(hub):
                session = await hub.session()
                sent = await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/echo x"})
                assert sent.status == 202
                assert (await there.got()).json()["data"]["link"] == f"https://hub.example/#/sessions/{session.id}"

    run(check())


def test_the_index_is_kept_up_while_the_hub_is_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores, "INDEX_S", 0.0)

    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.ask("GET", "/search?q=x")
            await hub.turn(session, "/echo a heronry")
            async with at_work(hub):
                while await hub.hub.index._run(lambda store: store.find('"heronry"*', 5)) == []:
                    pass  # it is looked for without reading up: only the chore can have done that

    run(check())


def test_what_was_opened_with_a_token_ends_when_the_token_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores, "EXPIRED_S", 0.01)

    async def check() -> None:
        async with site(tmp_path) as hub, at_work(hub):
            tokens = hub.app.parts.tokens
            _, secret = tokens.mint("phone", "view", lifetime_s=1000)
            reader = hub.open("GET", "/events", token=secret)
            await reader.start()
            assert await reader.piece()
            monkeypatch.setattr(tokens, "_clock", lambda: time.time() + 2000)
            assert await reader.piece() is None

    run(check())


def test_a_chore_that_fails_is_told_and_ends_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        raise ValueError("broken")

    with caplog.at_level(logging.ERROR):
        run(chores._minded("the chore", fails()))
    assert "the chore: stopped by a failure" in caplog.text and "broken" in caplog.text
