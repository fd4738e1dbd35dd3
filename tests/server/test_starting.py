"""A session that is started under a key is started once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import TOKEN, Answer, Site, site
from trunkline.hub import Hub, HubOptions
from trunkline.server.app import build_app
from trunkline.server.options import ServerOptions


async def start(hub: Site, key: str | None, token: str = TOKEN, **more: Any) -> Answer:
    body = {"agent": "demo", "cwd": str(hub.folder), **more}
    return await hub.ask("POST", "/sessions", json_body=body, token=token, headers={"idempotency-key": key})


async def listed(hub: Site) -> list[str]:
    return [each["id"] for each in (await hub.ask("GET", "/sessions")).json()["sessions"]]


def test_the_same_key_is_the_same_session_also_while_it_is_being_started(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            at_once = await asyncio.gather(*(start(hub, "k") for _ in range(3)))
            later = await start(hub, "k")
            assert {each.status for each in (*at_once, later)} == {201}
            assert {each.json()["id"] for each in (*at_once, later)} == set(await listed(hub))
            assert len(await listed(hub)) == 1

    run(check())


@pytest.mark.parametrize("other", [
    {"title": "another"}, {"agent": "other"}, {"prompt": "/echo meant for elsewhere"}, {"cwd": "/"}, {"env": {"A": "b"}}])
def test_the_same_key_for_something_else_is_refused_and_nothing_is_started_or_sent(tmp_path: Path, other: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            first = await start(hub, "k")
            refused = await start(hub, "k", **other)
            assert (refused.status, refused.json()["code"]) == (409, "key_reused")
            assert "Idempotency-Key" in refused.json()["message"]
            session = await hub.hub.session(first.json()["id"])
            assert await listed(hub) == [session.id]
            assert (session.fold.turns, session.fold.turn, len(session.fold.queue)) == (0, None, 0)
            assert (await start(hub, "k")).json()["id"] == session.id

    run(check())


def test_the_same_key_for_something_else_is_refused_while_the_first_is_being_started(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            answers = await asyncio.gather(start(hub, "k", title="one"), start(hub, "k", title="two"))
            assert sorted(each.status for each in answers) == [201, 409]
            assert len(await listed(hub)) == 1

    run(check())


def test_another_key_another_caller_and_no_key_are_other_sessions(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            _, secret = hub.app.parts.tokens.mint("program", "control")
            answers = [await start(hub, "k"), await start(hub, "l"), await start(hub, "k", secret), await start(hub, None),
                       await start(hub, None)]
            assert len({each.json()["id"] for each in answers}) == 5
            assert (await start(hub, "x" * 256)).status == 400

    run(check())


def test_a_prompt_that_comes_with_it_is_sent_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            for _ in range(2):
                made = await start(hub, "k", prompt="/echo hello")
            session = await hub.hub.session(made.json()["id"])
            while session.fold.turns < 1 or session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            await start(hub, "k", prompt="/echo hello")
            assert (session.fold.turns, session.fold.turn, len(session.fold.queue)) == (1, None, 0)

    run(check())


def test_what_could_not_be_started_or_was_deleted_is_started_anew(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            assert (await start(hub, "k", cwd=str(tmp_path / "none"))).status == 400
            first = (await start(hub, "k")).json()["id"]
            await hub.ask("DELETE", f"/sessions/{first}")
            second = await start(hub, "k")
            assert second.status == 201 and second.json()["id"] != first

    run(check())


def test_a_key_outlives_a_restart(tmp_path: Path) -> None:
    async def check() -> None:
        work, data = tmp_path / "work", tmp_path / "data"
        work.mkdir()
        found = []
        for _ in range(2):
            async with Hub(HubOptions(data=data)) as hub:
                served = Site(hub, build_app(hub, ServerOptions(data=data, port=7420, token=TOKEN)), work)
                found.append((await start(served, "k")).json()["id"])
                assert (await start(served, "k", title="another")).status == 409
        assert found[0] == found[1]

    run(check())
