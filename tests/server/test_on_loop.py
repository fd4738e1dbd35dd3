"""Rule 1 at the server: what is asked for over HTTP makes no call on the loop that may wait for a disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.site import site
from tests.tooling.on_loop import calls_on_loop
from tests.tooling.push_service import Browser, PushService
from trunkline.disk import private_file
from trunkline.disk.private_file import PrivateFile
from trunkline.errors import StorageError
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


def test_what_cannot_be_written_is_told_to_who_waits_and_is_written_when_it_can_be(tmp_path: Path) -> None:
    async def check() -> None:
        folder = tmp_path / "folder"
        file = PrivateFile(folder / "file", lambda: b"all of it")
        file.save_soon()
        with pytest.raises(StorageError, match="cannot write"):
            await file.saved()
        folder.mkdir()
        await file.saved()
        assert (folder / "file").read_bytes() == b"all of it"

    run(check())


def test_changes_while_one_is_written_are_one_write_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents: list[bytes] = []
    monkeypatch.setattr(private_file, "write_private", lambda path, content: contents.append(content))

    async def check() -> None:
        count = 0
        file = PrivateFile(tmp_path / "file", lambda: b"%d" % count)
        for count in range(100):  # noqa: B007  # it is what the file is to hold
            file.save_soon()
        await file.saved()
        assert contents[-1] == b"99" and len(contents) <= 2

    run(check())
