"""What devices are told, by a hub and a push service on loopback that decrypts what it gets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.delivery.push.telling import telling
from trunkline.hub import Decision
from trunkline.server.delivery.push.sender import LIMITS


def test_an_approval_reaches_the_device_and_is_taken_back_when_somebody_else_answers(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval"])
            session, request_id = await told.asked()
            pushed = await told.next()
            said = phone.read(pushed, told.key)
            assert (said["kind"], said["sessionId"], said["requestId"]) == ("approval", session.id, request_id)
            assert said["actions"] == ["approve", "deny"]
            assert pushed.headers["urgency"] == "high" and 500 < int(pushed.headers["ttl"]) <= 600
            await told.hub.ask("POST", f"/sessions/{session.id}/permissions/{request_id}", json_body={"decision": "deny"})
            taken_back = await told.next()
            assert phone.read(taken_back, told.key) == {
                "kind": "resolved", "sessionId": session.id, "title": said["title"], "body": "", "tag": said["tag"],
                "requestId": request_id, "outcome": "denied", "by": "main"}
            assert taken_back.headers["topic"] == pushed.headers["topic"]

    run(check())


def test_who_answered_is_not_told_that_it_was_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            browser, token_id = await told.subscribe("phone", kinds=["approval", "finished"])
            session, request_id = await told.asked()
            assert browser.read(await told.next(), told.key)["kind"] == "approval"
            await session.approvals.decide(request_id, Decision(decision="deny"), by=f"phone ({token_id})")
            assert browser.read(await told.next(), told.key)["kind"] == "finished"

    run(check())


def test_only_a_device_that_was_told_of_an_ask_is_told_that_it_was_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval", "finished"])
            session, request_id = await told.asked()
            assert phone.read(await told.next(), told.key)["kind"] == "approval"
            late, _ = await told.subscribe("late", kinds=["approval", "finished"])
            await session.approvals.decide(request_id, Decision(decision="allow"), by=f"laptop ({'0' * 12})")
            pushed = [await told.next() for _ in range(3)]
            heard = [late.read(each, told.key) for each in pushed if each.path == late.path]
            assert [each["kind"] for each in heard] == ["finished"]
            ended = next(said for each in pushed if each.path == phone.path
                         if (said := phone.read(each, told.key))["kind"] == "resolved")
            assert (ended["outcome"], ended["by"]) == ("approved", "laptop")
            assert ended["title"], "there is something to show"

    run(check())


def test_each_is_told_only_what_it_wants_and_what_it_may_do(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            asks, _ = await told.subscribe("asks", kinds=["approval"])
            watches, _ = await told.subscribe("watches", scope="view", kinds=["finished", "approval"])
            await told.asked()
            pushed = {each.path: each for each in (await told.next(), await told.next())}
            assert asks.read(pushed[asks.path], told.key)["actions"] == ["approve", "deny"]
            assert "actions" not in watches.read(pushed[watches.path], told.key)
            session = await told.hub.session()
            await told.hub.turn(session, "/echo done")
            said = watches.read(await told.next(), told.key)
            assert (said["kind"], said["sessionId"]) == ("finished", session.id) and "done" in said["body"]
            assert told.service.is_quiet()

    run(check())


def test_a_question_and_a_failed_turn_reach_the_device(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["question", "failed"])
            session = await told.hub.session()
            await told.hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": "/question"})
            asked = phone.read(await told.next(), told.key)
            assert asked["kind"] == "question" and "actions" not in asked and asked["body"]
            path = f"/sessions/{session.id}/questions/{asked['requestId']}"
            assert (await told.hub.ask("POST", path, json_body={"action": "decline"})).status == 200
            assert phone.read(await told.next(), told.key)["tag"] == asked["tag"]
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            await told.hub.turn(session, "/error")
            failed = phone.read(await told.next(), told.key)
            assert (failed["kind"], failed["body"]) == ("failed", "The demo failed, as /error asks")
            assert told.service.is_quiet()

    run(check())


def test_a_revoked_device_gets_no_push(tmp_path: Path) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            _, gone = await told.subscribe("gone")
            stays, _ = await told.subscribe("stays")
            told.hub.app.parts.tokens.revoke(gone)
            assert len(told.hub.app.parts.subscriptions) == 1
            await told.asked()
            stays.read(await told.next(), told.key)
            assert told.service.is_quiet()

    run(check())


def test_an_approval_that_was_answered_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with telling(tmp_path) as told:
            phone, _ = await told.subscribe("phone", kinds=["approval"])
            session, request_id = await told.asked()
            told.service.answers = [503]
            answered = asyncio.Event()

            async def sleep(seconds: float) -> None:
                if seconds == LIMITS.backoff_s[0]:
                    await told.hub.ask("POST", f"/sessions/{session.id}/permissions/{request_id}", json_body={"decision": "deny"})
                    answered.set()

            monkeypatch.setattr(told.clock, "sleep", sleep)
            assert phone.read(await told.next(), told.key)["kind"] == "approval"
            await answered.wait()
            assert phone.read(await told.next(), told.key)["kind"] == "resolved"

    run(check())
