"""Tokens, devices and codes of a cluster: good at every node, out at every node, and not taken on trust for long."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.cluster.auth.world import OWN, Gateway, gateway, two_gateways
from tests.cluster.tables.world import Clock, following
from tests.server.site import STREAM, browser
from tests.tooling.nats import NatsServer
from trunkline.cluster import subjects
from trunkline.server.auth import shared_tokens
from trunkline.server.auth.pairings import LETTERS, NAME_LETTERS, WRONG_MOST, Offer
from trunkline.server.auth.shared_pairings import SharedCodes
from trunkline.server.shared_rows import ALONE_S

NEVER_S = 3_600.0
"""With this the copies are not held against the leader: what is seen was heard."""


async def made(at: Gateway, name: str = "script", scope: str = "admin", token: str | None = None) -> tuple[str, str]:
    """A new bearer token: its id and its secret."""
    answer = await at.site.ask("POST", "/auth/tokens", json_body={"name": name, "scope": scope}, token=token or at.main)
    assert answer.status == 201, answer.body
    return answer.json()["token"]["id"], answer.json()["secret"]


async def status(at: Gateway, method: str, path: str, **more: Any) -> int:
    return (await at.ask(method, path, **more)).status


def test_a_phone_paired_at_one_gateway_is_let_in_by_the_other(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            device, phone = await one.paired(name="Ada's phone", scope="approve")
            await eventually(lambda: two.tokens.is_live(device))
            assert await two.lets_in(phone) and await one.lets_in(phone)
            assert not await two.lets_in(one.main)  # a main token stays its node's own
            secret = phone["cookie"].partition("=")[2]
            assert secret and not nats.bytes_on_disk(secret.encode())
            devices = (await two.ask("GET", "/devices")).json()["devices"]
            assert [(each["id"], each["name"], each["scope"]) for each in devices] == [(device, "Ada's phone", "approve")]

    run(go())


def test_a_code_that_two_gateways_are_asked_for_at_once_lets_one_device_in(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            for number in range(10):
                one.site.client = two.site.client = f"10.0.0.{number}"  # who was wrong too often has to wait
                code = await one.code()
                answers = await asyncio.gather(*(at.claim(code) for at in (one, two)))
                assert sorted(answer.status for answer in answers) == [201, 401]
            assert len((await one.ask("GET", "/devices")).json()["devices"]) == 10

    run(go())


def test_wrong_tries_at_one_gateway_count_at_the_other(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            code, spared = await one.code(), await one.code()
            wrong = code[:-1] + ("2" if code[-1] != "2" else "3")
            for number in range(WRONG_MOST):
                assert (await (one, two)[number % 2].claim(wrong)).status == 401
            two.site.client = one.site.client = "10.0.0.2"
            assert (await two.claim(code)).status == 401
            assert (await two.claim(spared)).status == 201

    run(go())


def test_revoking_at_one_gateway_ends_the_streams_of_the_other_at_once(nats: NatsServer, tmp_path: Path) -> None:
    """By what is heard alone: nothing is asked for within an hour."""
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock(), NEVER_S) as (one, two):
            session = await two.site.session_as(two.main)
            device, phone = await one.paired()
            await eventually(lambda: two.tokens.is_live(device))
            stream = two.site.open("GET", f"/sessions/{session.id}/events", token=None, headers={**phone, **STREAM})
            await stream.start()
            await stream.piece()
            assert await status(one, "DELETE", f"/devices/{device}") == 204
            while await stream.piece() is not None:
                pass
            assert not await two.lets_in(phone) and not await one.lets_in(phone)
            way_in = await two.ask("GET", "/auth/login", own=False, headers=phone)
            assert way_in.json()["revoked"] is True

    run(go())


def test_what_a_token_let_in_and_made_elsewhere_ends_with_it(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            token, secret = await made(one)
            await eventually(lambda: two.tokens.is_live(token))
            _, further = await made(two, token=secret)
            login = await two.ask("POST", "/auth/login", own=False, json_body={"token": secret}, headers=OWN)
            page = browser(login)
            await eventually(lambda: len(one.tokens.listed()) == 4)
            assert await one.lets_in(further) and await one.lets_in(page)
            assert await status(two, "DELETE", f"/auth/tokens/{token}") == 204
            await eventually(lambda: len(one.tokens.listed()) == 1)
            for at in (one, two):
                assert not any([await at.lets_in(each) for each in (secret, further, page)])
            await eventually(lambda: not one.shared.tokens.all() and not two.shared.tokens.all())

    run(go())


def test_a_node_without_its_cluster_takes_its_own_tokens_only_after_half_a_minute(nats: NatsServer, tmp_path: Path) -> None:
    clock = Clock()

    async def go() -> None:
        async with two_gateways(nats, tmp_path, clock) as (one, two):
            session = await two.site.session_as(two.main)
            device, phone = await one.paired()
            await eventually(lambda: two.tokens.is_live(device))
            path = f"/sessions/{session.id}/events"
            stream = two.site.open("GET", path, token=None, headers={**phone, **STREAM})
            await stream.start()
            nats.kill()
            await eventually(lambda: not two.connection.up)
            clock.now += ALONE_S - 1
            assert await two.lets_in(phone)
            clock.now += 1
            assert not await two.lets_in(phone) and await two.lets_in(two.main)
            while await stream.piece() is not None:
                pass
            assert (await two.ask("POST", "/pair", json_body={})).json()["code"] == "cluster_unavailable"
            login = await two.ask("POST", "/auth/login", own=False, json_body={"token": two.main}, headers=OWN)
            assert login.status == 200 and await two.lets_in(browser(login))  # this node's alone
            nats.start()
            await eventually(lambda: two.tokens.is_live(device))
            assert await two.lets_in(phone)

    run(go())


def test_a_token_that_the_cluster_did_not_take_is_not_handed_out(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, _):
            nats.kill()
            await eventually(lambda: not one.connection.up)
            refused = await one.ask("POST", "/auth/tokens", json_body={"name": "script", "scope": "view"})
            assert (refused.status, refused.json()["code"]) == (503, "cluster_unavailable")
            assert [token.name for token in one.tokens.listed()] == ["main"]
            login = await one.ask("POST", "/auth/login", own=False, json_body={"token": one.main}, headers=OWN)
            assert login.status == 200 and await one.lets_in(browser(login))  # at this node alone

    run(go())


def test_what_is_revoked_without_the_cluster_is_owed_over_a_restart(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        clock = Clock()
        async with gateway(nats.url, tmp_path / "one", "one", clock) as one:
            device, phone = await one.paired()
            nats.kill()
            await eventually(lambda: not one.connection.up)
            answer = await one.ask("DELETE", f"/devices/{device}")
            assert (answer.status, answer.json()["code"]) == (503, "cluster_unavailable")
            assert "it ends at this node" in answer.json()["message"]
            assert not await one.lets_in(phone)
        nats.start()
        nats.wait_ready()
        async with two_gateways(nats, tmp_path, clock) as (one, two):
            assert not await one.lets_in(phone)
            await eventually(lambda: not two.tokens.is_live(device) and not two.shared.tokens.all())
            assert not await two.lets_in(phone)

    run(go())


def test_with_another_main_token_what_the_old_one_let_in_is_out_everywhere(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        clock = Clock()
        async with gateway(nats.url, tmp_path / "two", "two", clock) as two:
            async with gateway(nats.url, tmp_path / "one", "one", clock) as one:
                device, phone = await one.paired()
                _, script = await made(one)
                await eventually(lambda: len(two.tokens.listed()) == 3)
            assert await two.lets_in(phone) and await two.lets_in(script)
            async with gateway(nats.url, tmp_path / "one", "one", clock, main="another main token"):
                await eventually(lambda: not two.tokens.is_live(device))
                assert not await two.lets_in(phone)
                assert await two.lets_in(script)  # what the main token makes stands for itself

    run(go())


def test_a_code_ends_with_the_token_of_another_node_that_made_it(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            token, secret = await made(one)
            await eventually(lambda: two.tokens.is_live(token))
            code = (await one.site.ask("POST", "/pair", json_body={}, token=secret)).json()["code"]
            assert await status(two, "DELETE", f"/auth/tokens/{token}") == 204
            assert (await two.claim(code)).status == 401

    run(go())


def test_a_code_that_cannot_be_read_stands_in_no_others_way(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with gateway(nats.url, tmp_path, "one", Clock()) as one, following(one.connection, subjects.AUTH, Clock()) as table:
            odd, code = LETTERS[0] * NAME_LETTERS, LETTERS[1] * NAME_LETTERS
            await table.create(f"pair.{odd}", b'{"offer":{},"until":1e400}')
            assert (await one.claim(LETTERS[0] * len(await one.code()))).status == 401
            codes = SharedCodes(table)
            assert await codes.add(code, Offer(secret="x", parent="gone", scope="view", node="one"))
            await codes.drop_dead("one", lambda parent: False)
            assert await codes.look(code) is None

    run(go())


def test_noting_when_a_device_was_seen_brings_no_revoked_one_back(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            device, phone = await one.paired()
            await eventually(lambda: two.tokens.is_live(device))
            seen = two.shared.tokens.get(device)
            assert seen is not None
            assert await status(one, "DELETE", f"/devices/{device}") == 204
            two.shared.tokens.note(seen)  # before it is heard of
            await two.shared.tokens.written()
            await eventually(lambda: not two.shared.tokens.all() and not one.shared.tokens.all())
            assert not await two.lets_in(phone)

    run(go())


def test_gateways_have_one_push_key_and_know_each_others_devices(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, two):
            keys = await asyncio.gather(*(at.site.app.parts.subscriptions.key() for at in (one, two)))
            assert keys[0].public == keys[1].public and keys[0].private == keys[1].private
            device, phone = await one.paired()
            subscription = {"endpoint": "https://push.example/1", "keys": {"p256dh": keys[0].public, "auth": "A" * 22}}
            answer = await one.ask("POST", "/push", own=False, json_body=subscription, headers={**phone, **OWN})
            assert answer.status == 201, answer.body
            await eventually(lambda: [each.token_id for each in two.site.app.parts.subscriptions.wanting("approval")] == [device])
            again = {**subscription, "endpoint": "https://push.example/2"}
            assert (await two.ask("POST", "/push", own=False, json_body=again, headers={**phone, **OWN})).status == 201
            await eventually(lambda: [each.endpoint for each in one.site.app.parts.subscriptions.wanting("approval")] == [
                "https://push.example/2"])
            assert await status(two, "DELETE", f"/devices/{device}") == 204
            await eventually(lambda: not len(one.site.app.parts.subscriptions) and not len(two.site.app.parts.subscriptions))

    run(go())


def test_a_cluster_remembers_so_many_browsers(nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tokens, "BROWSERS_MOST", 2)

    async def go() -> None:
        async with two_gateways(nats, tmp_path, Clock()) as (one, _):
            pages = [browser(await one.ask("POST", "/auth/login", own=False, json_body={"token": one.main}, headers=OWN))
                     for _ in range(3)]
            assert [await one.lets_in(page) for page in pages] == [False, True, True]

    run(go())
