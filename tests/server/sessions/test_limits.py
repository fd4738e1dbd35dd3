"""Limits of a session over HTTP."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import site


def test_caps_and_waits_are_set_one_without_the_other_and_lifted(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            path = f"/sessions/{session.id}/limits"
            answer = await hub.ask("POST", path, json_body={"caps": {"tokens": 1000, "cost": 2.5}})
            assert answer.status == 200, answer.body
            assert answer.json()["caps"] == {"tokens": 1000, "cost": 2.5}
            answer = await hub.ask("POST", path, json_body={"waits": {"approvalS": 30, "onTimeout": "cancel"}})
            assert answer.json()["caps"] == {"tokens": 1000, "cost": 2.5}
            assert answer.json()["waits"] == {"approvalS": 30.0, "onTimeout": "cancel"}
            assert (await hub.ask("GET", f"/sessions/{session.id}")).json()["caps"] == {"tokens": 1000, "cost": 2.5}
            assert (await hub.ask("POST", path, json_body={"caps": {"turns": 3}})).json()["caps"] == {"turns": 3}
            assert not (await hub.ask("POST", path, json_body={"caps": {}})).json()["caps"]

    run(check())


def test_a_wait_stays_where_it_is_not_named_and_null_is_as_the_hub_is_set(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            path = f"/sessions/{session.id}/limits"
            for waits, expected in (
                ({"approvalS": 30, "onTimeout": "cancel"}, {"approvalS": 30.0, "onTimeout": "cancel"}),
                ({"onTimeout": "reject"}, {"approvalS": 30.0}),
                ({"approvalS": 60}, {"approvalS": 60.0}),
                ({"onTimeout": "cancel"}, {"approvalS": 60.0, "onTimeout": "cancel"}),
                ({"approvalS": None}, {"onTimeout": "cancel"}),
                ({"onTimeout": None}, {}),
            ):
                answer = await hub.ask("POST", path, json_body={"waits": waits})
                assert answer.json()["waits"] == expected, waits
            await hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/ask"})
            while not session.fold.approvals:
                await session.feed.wait(session.feed.last_seq)
            asked = next(iter(session.fold.approvals.values()))
            left = datetime.fromisoformat(str(asked.expires_at)).timestamp() - time.time()
            assert 500 < left <= 600, "the hub's own wait"

    run(check())


def test_a_cap_that_is_reached_holds_the_session_and_asks(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            await hub.turn(session, "/echo one")
            await hub.ask("POST", f"/sessions/{session.id}/limits", json_body={"caps": {"turns": 1}})
            while not (waits := (await hub.ask("GET", "/approvals")).json()["pending"]):
                await session.feed.wait(session.feed.last_seq)
            assert waits[0]["sessionId"] == session.id and "question" in waits[0]
            assert session.view().status == "paused" or session.fold.paused is not None

    run(check())


@pytest.mark.parametrize("body", [
    {}, {"caps": {"tokens": 0}}, {"caps": {"cost": -1}}, {"caps": {"tokens": "many"}}, {"caps": {"hours": 1}}, {"cap": {}},
    {"waits": {"approvalS": 0}}, {"waits": {"approvalS": 10_000_000}}, {"waits": {"onTimeout": "allow"}},
    {"waits": {"approval": 3}},
])
def test_limits_that_make_no_sense_are_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub:
            session = await hub.session()
            answer = await hub.ask("POST", f"/sessions/{session.id}/limits", json_body=body)
            assert (answer.status, answer.json()["code"]) == (400, "invalid"), answer.body
            assert session.view().caps is None

    run(check())
