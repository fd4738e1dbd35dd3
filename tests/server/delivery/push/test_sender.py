"""Messages to a push service: where none goes, when it is tried again, how many wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.server.delivery.push.telling import LOOPBACK, QuickClock, telling
from tests.tooling.push_service import Browser, PushService
from trunkline.server.delivery.push.notes import (
    PushNote,
)
from trunkline.server.delivery.push.sender import LIMITS, PushSender
from trunkline.server.delivery.push.subscriptions import KINDS, Subscriptions


def test_a_name_that_leads_into_a_private_network_gets_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        subscriptions = Subscriptions(tmp_path, lambda _: True)
        with PushService() as service:
            keys = Browser(service).subscription()["keys"]
        made = subscriptions.keep("t", "https://push.example/x", keys["p256dh"], keys["auth"], KINDS)
        asked: list[str] = []

        async def look_up(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["10.0.0.1", "127.0.0.1"]

        sender = PushSender(subscriptions, lookup=look_up, clock=QuickClock())
        sender.send(made, PushNote(kind="finished", session_id="s"), b"{}", lambda: True)
        await sender.settled()
        assert asked == ["push.example"]  # refused for good: no second try

    run(check())


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_the_service_knows_no_more_is_forgotten(tmp_path: Path, status: int) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            await told.subscribe("phone")
            told.service.answers = [status]
            session = await told.hub.session()
            await told.hub.turn(session, "/echo one")
            await told.next()
            await told.forgotten.wait()
            await told.hub.turn(session, "/echo two")
            assert told.service.is_quiet()

    run(check())


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_is_busy_is_tried_again_with_growing_pauses(tmp_path: Path, status: int) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["finished"])
            told.service.answers = [status, status]
            session = await told.hub.session()
            await told.hub.turn(session, "/echo one")
            tries = [await told.next() for _ in range(3)]
            assert [phone.read(each, told.key)["kind"] for each in tries] == ["finished"] * 3
            assert len({each.body for each in tries}) == 3  # a new key and salt for each
            assert told.clock.slept == list(LIMITS.backoff_s[:2])

    run(check())


def test_there_is_room_for_so_many_messages_and_sending_never_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        with PushService() as service:
            subscriptions = Subscriptions(tmp_path, lambda _: True, allow=LOOPBACK)
            keys = Browser(service, "x").subscription()["keys"]
            made = subscriptions.keep("t", service.url + "/x", keys["p256dh"], keys["auth"], KINDS)
            sender = PushSender(subscriptions, clock=QuickClock())
            for _ in range(LIMITS.room + 5):
                sender.send(made, PushNote(kind="finished", session_id="s"), b"{}", lambda: True)
            await sender.settled()
            for _ in range(LIMITS.room):
                service.next(0.1)
            assert service.is_quiet()
        assert caplog.text.count("one is dropped") == 5
        assert "/x" not in caplog.text

    run(check())
    assert LIMITS.at_once < LIMITS.room
